// Command box measures what a box costs: the time from the start to the job's
// program for every backend against the bare tool, and the frame rate of a
// browser inside against outside. It prints a table and writes the figures as
// JSON. Ways are measured in turns, so that a busy machine is busy for all.
//
// Here live the bare tools, the frames and the table; the boxes are the
// product's own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sort"
	"syscall"
	"time"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/bwrap"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/gvisor"
)

type options struct {
	jsonFile, exe, runsc string
	repeats, frames      int
}

func main() {
	var o options
	flag.StringVar(&o.jsonFile, "json", "bench/out/box.json", "where the figures go as JSON; empty for nowhere")
	flag.StringVar(&o.exe, "exe", "bin/proofreel", "the program that is the way into boxes")
	flag.StringVar(&o.runsc, "runsc", "runsc", "gVisor's program; as an ordinary user there is none")
	flag.IntVar(&o.repeats, "repeats", 20, "starts of each way, 3 to 200")
	flag.IntVar(&o.frames, "frames", 60, "frames of each way, 10 to 1000")
	inner := flag.Int("inner", 0, "draw so many frames and do nothing else; the measured process")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if *inner > 0 {
		exit(drawFrames(ctx, *inner))
	}
	if flag.NArg() > 0 || o.repeats < 3 || o.repeats > 200 || o.frames < 10 || o.frames > 1000 {
		flag.Usage()
		os.Exit(2)
	}
	exit(run(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "box:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Figures are what is written as JSON.
type Figures struct {
	Starts []Start `json:"starts"`
	Frames []Rate  `json:"frames"`
}

// Start is one way to start a program that does nothing.
type Start struct {
	Way    string  `json:"way"`
	Median float64 `json:"medianMs"`
	Best   float64 `json:"bestMs"`
	Ready  float64 `json:"readyMs,omitempty"` // median time to the job's program, for boxes
}

// Rate is one way to draw frames.
type Rate struct {
	Way       string  `json:"way"`
	PerSecond float64 `json:"framesPerSecond"`
	First     float64 `json:"firstMs"` // from the program's start to its first frame
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "bench-box")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	boxes, err := open(ctx, o, dir)
	if err != nil {
		return err
	}
	var f Figures
	f.Starts, err = starts(ctx, o, boxes)
	if err == nil {
		f.Frames, err = frames(ctx, o, boxes)
	}
	for _, b := range boxes {
		err = errors.Join(err, b.Close())
	}
	if err != nil {
		return err
	}
	show(f)
	if o.jsonFile == "" {
		return nil
	}
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(o.jsonFile), 0o755); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return os.WriteFile(o.jsonFile, append(raw, '\n'), 0o644)
}

// open opens the backends that this user can have.
func open(ctx context.Context, o options, dir string) ([]executor.Executor, error) {
	exe, err := filepath.Abs(o.exe)
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	c := cell.Config{Dir: filepath.Join(dir, "state"), Exe: exe}
	b, err := bwrap.Open(ctx, c, "")
	if err != nil {
		return nil, fmt.Errorf("bubblewrap: %w", err)
	}
	all := []executor.Executor{b}
	if os.Getuid() != 0 {
		return all, nil
	}
	runsc, err := exec.LookPath(o.runsc)
	if err == nil {
		runsc, err = filepath.Abs(runsc)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("gVisor (make install-box): %w", err), b.Close())
	}
	g, err := gvisor.Open(gvisor.Config{Config: c, Runsc: runsc})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("gVisor: %w", err), b.Close())
	}
	return append(all, g), nil
}

func show(f Figures) {
	fmt.Printf("%-34s %10s %10s %14s\n", "start of /bin/true, to its end", "median", "best", "until it runs")
	for _, s := range f.Starts {
		ready := ""
		if s.Ready > 0 {
			ready = fmt.Sprintf("%.0f ms", s.Ready)
		}
		fmt.Printf("%-34s %7.0f ms %7.0f ms %14s\n", s.Way, s.Median, s.Best, ready)
	}
	fmt.Printf("\n%-34s %10s %14s\n", "Chromium, 1280x720 PNG frames", "a second", "first after")
	for _, r := range f.Frames {
		fmt.Printf("%-34s %10.1f %11.0f ms\n", r.Way, r.PerSecond, r.First)
	}
}

func median(all []time.Duration) (mid, best float64) {
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return ms(all[len(all)/2]), ms(all[0])
}
