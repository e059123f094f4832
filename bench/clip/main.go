// Command clip compares what a clip costs with the naive way to make one from
// the same film: freezedetect over all of it, then trim, concat and drawtext in
// a second pass with the same encoder settings. It prints a table and writes
// the figures as JSON.
//
// Here live the recording that is made for it, the naive way and the table; the
// clip is the product's own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/proofreel/proofreel/bench/internal/gauge"
	"github.com/proofreel/proofreel/internal/edit/clip/cliptest"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
)

// most is the share of the naive way's CPU that a clip may cost.
const most = 0.5

// flat is by how much memory may grow from a recording to one five times as long.
const flat = 1.25

type options struct {
	jsonFile, one, out string
	minutes, repeats   int
}

func main() {
	var o options
	flag.StringVar(&o.jsonFile, "json", "bench/out/clip.json", "where the figures go as JSON; empty for nowhere")
	flag.IntVar(&o.minutes, "minutes", 5, "length of the recording, 5 to 60")
	flag.IntVar(&o.repeats, "repeats", 3, "times that each way is measured, 1 to 10; the least CPU time counts")
	flag.StringVar(&o.one, "one", "", "make the clip of the recording in this `directory` and do nothing else; the measured process")
	flag.StringVar(&o.out, "out", "", "where -one puts its files")
	flag.Parse()
	if flag.NArg() > 0 || o.minutes < 5 || o.minutes > 60 || o.repeats < 1 || o.repeats > 10 {
		flag.Usage()
		os.Exit(2)
	}
	do := run
	if o.one != "" {
		do = makeOne
	}
	gauge.Main("clip", func(ctx context.Context) error { return do(ctx, o) })
}

// figures are what is written as JSON.
type figures struct {
	RecordingSeconds float64 `json:"recordingSeconds"`
	Ours             cost    `json:"ours"`
	Naive            cost    `json:"naive"`
	Short            cost    `json:"oursShort"` // of a fifth of the recording
	CPURatio         float64 `json:"cpuRatio"`
	MemoryRatio      float64 `json:"memoryRatio"` // ours, long to short
	Met              bool    `json:"met"`
}

func run(ctx context.Context, o options) error {
	path, err := ffmpeg.Find()
	if err != nil {
		return fmt.Errorf("find ffmpeg: %w", err)
	}
	dir, err := os.MkdirTemp("", "bench-clip-")
	if err != nil {
		return fmt.Errorf("make a directory for the recordings: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	length := time.Duration(o.minutes) * time.Minute
	f := figures{RecordingSeconds: length.Seconds()}
	fmt.Fprintf(os.Stderr, "making a recording of %v and one of %v\n", length, length/5)
	long, err := cliptest.Build(ctx, path, filepath.Join(dir, "long"), mostlyStill(length))
	if err != nil {
		return fmt.Errorf("make the recording: %w", err)
	}
	short, err := cliptest.Build(ctx, path, filepath.Join(dir, "short"), mostlyStill(length/5))
	if err != nil {
		return fmt.Errorf("make the short recording: %w", err)
	}
	b := bench{ctx: ctx, ffmpeg: path, dir: dir, repeats: o.repeats}
	f.Ours, err = b.least(func(out string) (cost, error) { return b.ours(long, out) })
	var nerr, serr error
	f.Naive, nerr = b.least(func(out string) (cost, error) { return b.naive(long, out) })
	f.Short, serr = b.least(func(out string) (cost, error) { return b.ours(short, out) })
	if err := errors.Join(err, nerr, serr); err != nil {
		return err
	}
	f.CPURatio = f.Ours.CPUSeconds / f.Naive.CPUSeconds
	f.MemoryRatio = f.Ours.PeakMB / f.Short.PeakMB
	f.Met = f.CPURatio <= most && f.MemoryRatio <= flat
	table(os.Stdout, f)
	if err := gauge.Save(o.jsonFile, f); err != nil {
		return err
	}
	if !f.Met {
		return errors.New("a target is missed")
	}
	return nil
}
