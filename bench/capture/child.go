package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/proofreel/proofreel/internal/host/clock"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/film"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/record/capture"
	"github.com/proofreel/proofreel/internal/record/capture/x11"
)

// childCommand makes this program film with our engine until it is told to end.
const childCommand = "film"

func childFilm(dir string) string { return filepath.Join(dir, "film.mp4") }

// child films with an encode profile of choice, which the product does not offer:
// the comparison at x11grab's own settings, and CPU profiles of the engine alone.
func child(ctx context.Context, args []string) (err error) {
	set := flag.NewFlagSet(childCommand, flag.ExitOnError)
	var target capture.Target
	video := profile.Video{}
	var fps int
	var dimensions, dir, cpuProfile string
	set.StringVar(&target.Display, "display", "", "the display to film")
	set.StringVar(&dimensions, "size", "1920x1080", "its `size`")
	set.IntVar(&fps, "fps", fastFPS, "frames a second, at most")
	set.StringVar(&video.Preset, "preset", "veryfast", "x264's `preset`")
	set.IntVar(&video.CRF, "crf", 12, "x264's constant rate factor")
	set.Float64Var(&video.Key, "key", 2, "seconds between keyframes")
	set.StringVar(&dir, "dir", ".", "where the film goes")
	set.StringVar(&cpuProfile, "cpuprofile", "", "write a CPU profile of this process to `file`")
	_ = set.Parse(args) // it exits by itself
	if _, err := fmt.Sscanf(dimensions, "%dx%d", &target.Width, &target.Height); err != nil {
		return fmt.Errorf("size %q: %w", dimensions, err)
	}
	if cpuProfile != "" {
		f, err := os.Create(cpuProfile)
		if err != nil {
			return fmt.Errorf("make the CPU profile: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if err := pprof.StartCPUProfile(f); err != nil {
			return fmt.Errorf("begin the CPU profile: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	return engineFilm(ctx, target, fps, video, dir)
}

func engineFilm(ctx context.Context, target capture.Target, fps int, video profile.Video, dir string) error {
	path, err := ffmpeg.Find()
	if err != nil {
		return fmt.Errorf("find ffmpeg: %w", err)
	}
	spawn := proc.NewSpawner()
	defer spawn.Close()
	epoch := clock.Boottime()
	keep := &keeper{dir: dir, track: mp4.Track{Width: profile.Even(target.Width), Height: profile.Even(target.Height), FPS: fps}}
	cfg := capture.Config{
		Target: target, FPS: fps, Now: func() time.Duration { return clock.Boottime() - epoch },
		FFmpeg: path, Encode: video.Args(), Spawn: spawn, Log: slog.New(slog.DiscardHandler),
	}
	if err := x11.New().Run(ctx, cfg, keep); err != nil {
		return fmt.Errorf("film: %w", err)
	}
	return keep.finish(cfg.Tick(cfg.Now()) + 1)
}

// keeper is the least that makes a film: the frames in segments, nothing verified.
type keeper struct {
	dir   string
	track mp4.Track
	w     *segment.Writer
	segs  []segment.Segment
	last  int64
	begun bool
}

func (k *keeper) Header(sps, pps []byte) error {
	if k.w == nil {
		k.track.SPS, k.track.PPS = sps, pps
		k.w = segment.NewWriter(k.dir, k.track, 0, func(s segment.Segment) { k.segs = append(k.segs, s) })
	}
	return nil
}

func (k *keeper) Frame(f segment.Frame) error {
	k.last, k.begun = f.Tick, true
	return k.w.Write(f) //nolint:wrapcheck // it says what it was doing
}

func (k *keeper) Hold(tick int64) error {
	k.last = tick
	return k.w.Hold(tick) //nolint:wrapcheck // it says what it was doing
}

func (*keeper) Change(capture.Change) error { return nil }
func (*keeper) Event(capture.Event)         {}

// finish makes the film, which ends at tick end.
func (k *keeper) finish(end int64) error {
	if !k.begun {
		return errors.New("no frame came")
	}
	if err := k.w.Finish(); err != nil {
		return fmt.Errorf("finish the segments: %w", err)
	}
	plan, err := film.NewPlan(k.track, k.segs, max(end, k.last+1), film.VFR)
	if err != nil {
		return fmt.Errorf("plan the film: %w", err)
	}
	return plan.Write(context.Background(), childFilm(k.dir), "", time.Now()) //nolint:wrapcheck // it says what it was doing
}
