package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/proofreel/proofreel/bench/internal/gauge"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/web/rig/beacon"
)

// row is one run of one case.
type row struct {
	benchCase
	Run      int     `json:"run"`
	Seconds  float64 `json:"seconds"`  // of the measured window
	CPU      float64 `json:"cpu"`      // CPU seconds a recorded second: all processes of the recorder
	Verifier float64 `json:"verifier"` // of these, the process that verifies
	Whole    float64 `json:"whole"`    // the same over its whole life, start and stop included
	XServer  float64 `json:"xserver"`  // CPU seconds a second of the X server, which the recorder and the browser use
	Peak     int64   `json:"peak"`     // bytes of resident memory at their most, all processes but the verifier
	PeakAll  int64   `json:"peakAll"`  // with it
	PageFPS  float64 `json:"pageFPS"`  // frames that the page painted a second
	Others   float64 `json:"others"`   // cores at work on what is neither page, X server, recorder nor this program
	StopMS   float64 `json:"stopMS"`   // from the wish to stop to the finished film
	Bytes    int64   `json:"bytes"`    // of the film
	Painted  int     `json:"painted"`  // pictures that were to be seen in the window, the first included
	Present  int     `json:"present"`  // of these, in the film
	Repeated int     `json:"repeated"` // frames of the film in the window that show the picture before
	Torn     int     `json:"torn"`
	Bad      int     `json:"bad"` // frames of the whole film whose number can't be read
}

const (
	settling = 500 * time.Millisecond  // after the mode was set
	warmUp   = 1600 * time.Millisecond // after the recorder has begun: our verifier begins with the first whole segment
	trailing = 200 * time.Millisecond  // for the last picture's way to the screen and into the film
)

// keep copies a film into dir, unless that is empty.
func keep(film, dir string, r row) error {
	if dir == "" {
		return nil
	}
	raw, err := os.ReadFile(film)
	if err != nil {
		return fmt.Errorf("keep the film: %w", err)
	}
	name := strings.NewReplacer("/", "-", " ", "-").Replace(fmt.Sprintf("%s-%d.mp4", r.name(), r.Run+1))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep the film: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, name), raw, 0o644) //nolint:gosec,wrapcheck // the directory that the user named; it names the file
}

// window is what was read at one end of the measured time.
type window struct {
	at       time.Time
	page     pageState
	recorder map[int]use
	scene    map[int]use // browser and this program
	xserver  time.Duration
	busy     time.Duration
}

func (b *stage) look(ctx context.Context, rec recorder) (w window, err error) {
	if w.page, err = b.remote.ask(ctx, ""); err != nil {
		return w, err
	}
	w.at = time.Now()
	w.recorder = usage(rec.processes())
	self, err := proc.Self()
	if err != nil {
		return w, err //nolint:wrapcheck // it says what it is
	}
	w.scene = usage(append(proc.Descendants(b.browser.Roots()...), append(b.browser.Roots(), self)...))
	if w.xserver, err = cpuOf(b.screen.Xvfb.PID); err != nil {
		return w, err
	}
	w.busy, err = gauge.Busy()
	return w, err
}

// measure runs one case once.
func (b *stage) measure(ctx context.Context, c benchCase, n int, o options) (row, error) {
	r := row{benchCase: c, Run: n}
	if _, err := b.remote.ask(ctx, "idle"); err != nil {
		return r, err
	}
	if _, err := b.remote.ask(ctx, c.Workload); err != nil {
		return r, err
	}
	if err := wait(ctx, settling); err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return r, fmt.Errorf("make a directory for the film: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	rec, err := b.start(ctx, c, dir, o)
	if err != nil {
		return r, fmt.Errorf("start: %w", err)
	}
	first, last, err := b.watch(ctx, rec, time.Duration(o.seconds)*time.Second)
	began := time.Now()
	ended, stopErr := rec.stop(context.WithoutCancel(ctx))
	if err == nil {
		err = stopErr
	}
	if err != nil {
		return r, fmt.Errorf("record: %w", err)
	}
	r.StopMS = float64(time.Since(began).Microseconds()) / 1e3
	r.fill(first, last)
	if ended.film == "" {
		return r, nil
	}
	r.Whole = ended.cpu.Seconds() / ended.lasted.Seconds()
	if err := keep(ended.film, o.films, r); err != nil {
		return r, err
	}
	if _, err := b.remote.ask(ctx, "idle"); err != nil { // reading the film takes the machine anyway
		return r, err
	}
	return r, b.judge(ctx, &r, ended.film, first.page.Painted, last.page.Painted)
}

// watch reads both ends of the window. The recorder goes on a little behind it.
func (b *stage) watch(ctx context.Context, rec recorder, d time.Duration) (first, last window, err error) {
	if err = wait(ctx, warmUp); err != nil {
		return
	}
	if first, err = b.look(ctx, rec); err != nil {
		return
	}
	if err = wait(ctx, d); err != nil {
		return
	}
	if last, err = b.look(ctx, rec); err != nil {
		return
	}
	return first, last, wait(ctx, trailing)
}

// fill computes what was used in the window.
func (r *row) fill(first, last window) {
	all := func(string) bool { return true }
	verifier := func(role string) bool { return role == verifierRole }
	wall := last.at.Sub(first.at)
	perSecond := func(d time.Duration) float64 { return d.Seconds() / wall.Seconds() }
	r.Seconds = wall.Seconds()
	own := spent(first.recorder, last.recorder, all)
	r.CPU = perSecond(own)
	r.Verifier = perSecond(spent(first.recorder, last.recorder, verifier))
	r.XServer = perSecond(last.xserver - first.xserver)
	for _, u := range last.recorder {
		r.PeakAll += u.peak
		if u.role != verifierRole {
			r.Peak += u.peak
		}
	}
	r.PageFPS = float64(last.page.Painted-first.page.Painted) / (last.page.Now - first.page.Now) * 1000
	known := own + spent(first.scene, last.scene, all) + last.xserver - first.xserver
	r.Others = max(0, perSecond(last.busy-first.busy-known))
}

// judge reads the film: which of the pictures from number from to number to it
// holds.
func (b *stage) judge(ctx context.Context, r *row, film string, from, to uint32) error {
	info, err := os.Stat(film)
	if err != nil {
		return fmt.Errorf("the film: %w", err)
	}
	r.Bytes = info.Size()
	report, err := beacon.Scan(ctx, b.ffmpeg, filepath.Clean(film))
	if err != nil {
		return fmt.Errorf("read the film: %w", err)
	}
	r.count(report, from, to)
	return nil
}

// perPicture is the CPU time spent on each picture that is in the film, in
// milliseconds: where the machine is short, CPU a second says little alone.
func (r row) perPicture() float64 { return r.CPU * r.Seconds * 1000 / float64(max(r.Present, 1)) }

// count sums up what a film says of the pictures from from to to.
func (r *row) count(report beacon.Report, from, to uint32) {
	r.Painted = int(to-from) + 1
	r.Bad = report.Unreadable
	seen := map[uint32]bool{}
	for _, s := range report.Frames {
		if s.Fault != "" || s.Number < from || s.Number > to {
			continue
		}
		if s.Torn {
			r.Torn++
		}
		if seen[s.Number] {
			r.Repeated++
		}
		seen[s.Number] = true
	}
	r.Present = len(seen)
}
