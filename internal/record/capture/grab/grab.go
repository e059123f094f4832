// Package grab films a display with ffmpeg's own grabber (x11grab): the whole
// screen is copied and converted at every tick. It works wherever ffmpeg does
// and is the fallback of the damage engine.
package grab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/flv"
	"github.com/proofreel/proofreel/internal/media/h264"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/record/capture"
	"github.com/proofreel/proofreel/internal/record/display"
)

// Name is the engine's stable name.
const Name = "x11grab"

// niceness of the encoder: the work that is filmed comes first.
const niceness = 5

// patience is for how long a stopping ffmpeg may show no movement before it
// is killed.
const patience = 10 * time.Second

// stall is for how long no packet may come before ffmpeg is taken for hung.
// x11grab delivers every tick, also on a still screen.
const stall = 15 * time.Second

// Engine films by x11grab. The zero value is ready.
type Engine struct {
	captured atomic.Int64
	dropped  atomic.Int64
}

// Name implements capture.Engine.
func (*Engine) Name() string { return Name }

// How implements capture.Engine.
func (*Engine) How() string {
	return "ffmpeg's grabber: the whole screen is copied and converted at every tick"
}

// Stats implements capture.Engine. x11grab can't tell distinct frames.
func (e *Engine) Stats() capture.Stats {
	return capture.Stats{Captured: e.captured.Load(), Dropped: e.dropped.Load()}
}

// Run implements capture.Engine.
func (e *Engine) Run(ctx context.Context, cfg capture.Config, sink capture.Sink) error {
	watching, unwatch := context.WithCancel(ctx)
	gone, err := display.Watch(watching, cfg.Display, xauthority(cfg))
	if err != nil {
		unwatch()
		if ctx.Err() != nil {
			return nil
		}
		return &capture.DisplayLostError{Display: cfg.Display, Err: err}
	}
	defer func() { unwatch(); <-gone }()
	return e.film(ctx, cfg, sink, gone)
}

// film grabs until ctx ends or the display is gone. x11grab alone would not
// notice: without a pointer to draw it asks the server for nothing but the
// picture, and when that has ended it goes on with the last one (ffmpeg 5.1).
func (e *Engine) film(ctx context.Context, cfg capture.Config, sink capture.Sink, gone <-chan struct{}) error {
	out, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make the encoder's pipe: %w", err)
	}
	defer func() { _ = out.Close() }()
	tail := ffmpeg.NewTail(20)
	child, err := cfg.Spawn.Start(proc.Command{
		Role: "encoder", Path: cfg.FFmpeg, Args: args(cfg), Env: environ(cfg),
		Stdout: in, Stderr: tail, Nice: niceness,
	})
	_ = in.Close()
	if err != nil {
		return &capture.EncoderError{Err: err}
	}
	defer child.Kill()

	stopped := make(chan struct{})
	lost := false // valid when stopped is closed
	go func() {   // ends with ctx, with the display, or with the child
		defer close(stopped)
		select {
		case <-ctx.Done():
			_ = out.SetReadDeadline(time.Time{})
		case <-gone:
			lost = ctx.Err() == nil
		case <-child.Done():
			return
		}
		child.Stop(context.WithoutCancel(ctx), unix.SIGINT, patience, e.captured.Load)
	}()
	err = e.read(ctx, out, cfg, sink)
	if err != nil { // the reader gave up: nobody drains the pipe any more
		child.Kill()
	}
	<-child.Done()
	<-stopped
	if err != nil || ctx.Err() != nil {
		return err
	}
	if lost {
		return &capture.DisplayLostError{Display: cfg.Display, Err: errors.New("the X server closed the connection")}
	}
	return ended(cfg.Display, child.Err(), tail.String())
}

// ended tells why ffmpeg ended on its own. When its display dies while it draws
// the pointer, x11grab ends with exit status 0 and a whole file (measured), so
// the status is no verdict.
func ended(display string, err error, tail string) error {
	if err == nil || strings.Contains(tail, "Cannot get the image data") || strings.Contains(tail, "Cannot open display") {
		if err == nil {
			err = errors.New("the grabber ended by itself")
		}
		return &capture.DisplayLostError{Display: display, Err: fmt.Errorf("%w: %s", err, tail)}
	}
	return &capture.EncoderError{Err: err, Tail: tail}
}

// read hands packets to the sink until the stream ends.
func (e *Engine) read(ctx context.Context, out *os.File, cfg capture.Config, sink capture.Sink) error {
	r := flv.NewReader(out)
	line := newTimeline(cfg)
	for {
		if ctx.Err() == nil {
			_ = out.SetReadDeadline(time.Now().Add(stall))
		}
		p, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return &capture.EncoderError{Err: fmt.Errorf("no frame for %v", stall)}
		case err != nil:
			return &capture.EncoderError{Err: fmt.Errorf("read the encoder's stream: %w", err)}
		}
		if err := e.take(p, line, sink); err != nil {
			return err
		}
	}
}

func (e *Engine) take(p flv.Packet, line *timeline, sink capture.Sink) error {
	if p.Config != nil {
		set, err := h264.ParseConfig(p.Config)
		if err != nil {
			return &capture.EncoderError{Err: fmt.Errorf("read the parameter sets: %w", err)}
		}
		return sink.Header(set.SPS, set.PPS)
	}
	tick, missed := line.place(p.Time)
	e.captured.Add(1)
	e.dropped.Add(missed)
	return sink.Frame(segment.Frame{Tick: tick, Key: p.Key, Data: p.Data})
}

// args is ffmpeg's command line. -fps_mode vfr with -r puts the frames on the
// grid and leaves out the second of two that fall on one tick.
func args(cfg capture.Config) []string {
	a := []string{
		"-hide_banner", "-nostdin", "-v", "error",
		"-f", "x11grab", "-framerate", fmt.Sprint(cfg.FPS),
		"-video_size", fmt.Sprintf("%dx%d", cfg.Width, cfg.Height),
		"-draw_mouse", map[bool]string{true: "1", false: "0"}[cfg.Cursor],
		"-probesize", "32", "-analyzeduration", "0", // the format is known: no frame is spent on guessing
		"-i", cfg.Display,
		"-vf", profile.ToYUV(cfg.Width, cfg.Height),
		"-fps_mode", "vfr", "-r", fmt.Sprint(cfg.FPS),
	}
	a = append(a, cfg.Encode...)
	return append(a, "-flush_packets", "1", "-flvflags", "no_duration_filesize", "-f", "flv", "pipe:1")
}

// xauthority is the cookie file that ffmpeg will use.
func xauthority(cfg capture.Config) string {
	if cfg.Xauthority != "" {
		return cfg.Xauthority
	}
	return os.Getenv("XAUTHORITY")
}

func environ(cfg capture.Config) []string {
	env := os.Environ()
	if cfg.Xauthority != "" {
		env = append(env, "XAUTHORITY="+cfg.Xauthority)
	}
	return env
}
