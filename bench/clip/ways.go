package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// cost is what one way of making a clip takes.
type cost struct {
	CPUSeconds  float64 `json:"cpuSeconds"`
	WallSeconds float64 `json:"wallSeconds"`
	PeakMB      float64 `json:"peakMB"` // of the largest process
	ClipSeconds float64 `json:"clipSeconds"`
	ClipBytes   int64   `json:"clipBytes"`
}

type bench struct {
	ctx     context.Context //nolint:containedctx // of one run of the command
	ffmpeg  string
	dir     string
	repeats int
}

// least measures a way several times and gives the run with the least CPU.
func (b bench) least(way func(out string) (cost, error)) (best cost, err error) {
	for n := range b.repeats {
		out := filepath.Join(b.dir, "out")
		if err := os.MkdirAll(out, 0o755); err != nil {
			return cost{}, fmt.Errorf("make a folder: %w", err)
		}
		c, err := way(out)
		if err != nil {
			return cost{}, err
		}
		if n == 0 || c.CPUSeconds < best.CPUSeconds {
			best = c
		}
		if err := os.RemoveAll(out); err != nil {
			return cost{}, fmt.Errorf("empty the folder: %w", err)
		}
	}
	return best, nil
}

// makeOne is the process that ours measures.
func makeOne(ctx context.Context, o options) error {
	path, err := ffmpeg.Find()
	if err != nil {
		return fmt.Errorf("find ffmpeg: %w", err)
	}
	spawn := proc.NewSpawner()
	defer spawn.Close()
	res, err := clip.Make(ctx, clip.Options{Dir: recording.At(o.one), Out: o.out, Deps: clip.Deps{FFmpeg: path, Spawn: spawn}})
	if err != nil {
		return fmt.Errorf("make the clip: %w", err)
	}
	fmt.Println(res.Path)
	return nil
}

// ours makes the clip in a process of its own, so that all it takes is counted.
func (b bench) ours(dir *recording.Dir, out string) (cost, error) {
	exe, err := os.Executable()
	if err != nil {
		return cost{}, fmt.Errorf("find this program: %w", err)
	}
	var path bytes.Buffer
	c, err := measure(exec.CommandContext(b.ctx, exe, "-one", dir.Path(), "-out", out), &path, nil)
	if err != nil {
		return cost{}, fmt.Errorf("make a clip: %w", err)
	}
	return c.of(strings.TrimSpace(path.String()))
}

// naive makes a clip as it is usually done with ffmpeg alone.
func (b bench) naive(dir *recording.Dir, out string) (cost, error) {
	var log bytes.Buffer
	first, err := measure(exec.CommandContext(b.ctx, b.ffmpeg, "-hide_banner", "-nostats", "-i", dir.FilmPath(),
		"-vf", "freezedetect=n=-60dB:d=1", "-f", "null", "-"), nil, &log)
	if err != nil {
		return cost{}, fmt.Errorf("look for stillness: %w: %s", err, log.String())
	}
	evs, err := dir.Events()
	if err != nil {
		return cost{}, fmt.Errorf("read the events: %w", err)
	}
	path := filepath.Join(out, "naive.mp4")
	second, err := measure(exec.CommandContext(b.ctx, b.ffmpeg, "-hide_banner", "-nostats", "-v", "error", "-i", dir.FilmPath(),
		"-filter_complex", graph(kept(log.String()), evs), "-map", "[out]",
		"-c:v", "libx264", "-preset", "veryfast", "-crf", "28", "-pix_fmt", "yuv420p", "-movflags", "+faststart", path), nil, &log)
	if err != nil {
		return cost{}, fmt.Errorf("cut and caption: %w: %s", err, log.String())
	}
	return first.and(second).of(path)
}

// kept reads freezedetect's words: the stretches that are not frozen, and half
// a second of each that is.
func kept(log string) (list [][2]float64) {
	at := 0.0
	for _, m := range regexp.MustCompile(`freeze_(start|end): ([0-9.]+)`).FindAllStringSubmatch(log, -1) {
		t, _ := strconv.ParseFloat(m[2], 64) // digits
		if m[1] == "start" {
			list = append(list, [2]float64{at, t + 0.5})
		}
		at = t
	}
	return list
}

// graph cuts, scales and captions.
func graph(list [][2]float64, evs []recording.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[0:v]split=%d", len(list))
	for i := range list {
		fmt.Fprintf(&b, "[s%d]", i)
	}
	for i, k := range list {
		fmt.Fprintf(&b, ";[s%d]trim=%.3f:%.3f,setpts=PTS-STARTPTS[p%d]", i, k[0], k[1], i)
	}
	b.WriteString(";")
	for i := range list {
		fmt.Fprintf(&b, "[p%d]", i)
	}
	fmt.Fprintf(&b, "concat=n=%d,fps=15,scale=1280:-2", len(list))
	for i, e := range evs {
		from := shown(list, e.At.Seconds())
		fmt.Fprintf(&b, ",drawtext=text='%s':x=(w-text_w)/2:y=%d:fontsize=22:fontcolor=white:box=1:boxcolor=black@0.8:boxborderw=8:enable='between(t,%.2f,%.2f)'",
			e.Text, 20+40*(i%2), from, from+3)
	}
	return b.String() + "[out]"
}

// shown is where in the cut film a time of the recording comes.
func shown(list [][2]float64, at float64) float64 {
	sum := 0.0
	for _, k := range list {
		if at < k[1] {
			return sum + max(at-k[0], 0)
		}
		sum += k[1] - k[0]
	}
	return sum
}

// measure runs a command and counts what it and its children took.
func measure(cmd *exec.Cmd, out, errs io.Writer) (cost, error) {
	cmd.Stdout, cmd.Stderr = out, errs
	if errs == nil {
		cmd.Stderr = os.Stderr
	}
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("run %s: %w", filepath.Base(cmd.Path), err)
	}
	use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return cost{}, errors.New("this system does not count what a process takes")
	}
	return cost{
		CPUSeconds:  (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		WallSeconds: time.Since(began).Seconds(), PeakMB: float64(use.Maxrss) / 1024,
	}, nil
}

func (c cost) and(o cost) cost {
	c.CPUSeconds += o.CPUSeconds
	c.WallSeconds += o.WallSeconds
	c.PeakMB = max(c.PeakMB, o.PeakMB)
	return c
}

// of adds what the finished file says.
func (c cost) of(path string) (cost, error) {
	info, err := mp4.Inspect(path)
	if err != nil {
		return c, fmt.Errorf("look at the clip: %w", err)
	}
	st, err := os.Stat(path)
	if err != nil {
		return c, fmt.Errorf("look at the clip: %w", err)
	}
	c.ClipSeconds, c.ClipBytes = info.Duration.Seconds(), st.Size()
	return c, nil
}
