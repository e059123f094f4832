package recorder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/record/capture"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine plays a script: one function for each time it is run.
type engine struct {
	name string
	runs []func(context.Context, capture.Config, capture.Sink) error
	n    atomic.Int64
}

func (e *engine) Name() string         { return e.name }
func (e *engine) How() string          { return "by a script" }
func (e *engine) Stats() capture.Stats { return capture.Stats{} }
func (e *engine) Run(ctx context.Context, cfg capture.Config, sink capture.Sink) error {
	i := int(e.n.Add(1)) - 1
	if i >= len(e.runs) {
		<-ctx.Done()
		return nil
	}
	return e.runs[i](ctx, cfg, sink)
}

type stream struct {
	track  mp4.Track
	frames []segment.Frame
}

// play hands a stretch of frames over and then behaves as then says.
func (s stream) play(from, to int, then error) func(context.Context, capture.Config, capture.Sink) error {
	return func(ctx context.Context, _ capture.Config, sink capture.Sink) error {
		if err := sink.Header(s.track.SPS, s.track.PPS); err != nil {
			return err
		}
		for _, f := range s.frames[from:to] {
			f.Tick += 100 // the engine's count does not begin with the film's
			if err := sink.Frame(f); err != nil {
				return err
			}
		}
		if then == nil {
			<-ctx.Done()
		}
		return then
	}
}

func config(t *testing.T, s stream, engines ...capture.Engine) Config {
	t.Helper()
	dir, err := recording.Create(t.TempDir(), recording.Manifest{FormatVersion: recording.FormatVersion, ID: uuid.NewString(), Phase: recording.PhaseStarting})
	if err != nil {
		t.Fatal(err)
	}
	spawn := proc.NewSpawner()
	t.Cleanup(spawn.Close)
	log := slog.New(slog.DiscardHandler)
	return Config{
		Dir: dir, Engines: engines, Log: log,
		Capture: capture.Config{
			Target: capture.Target{Width: s.track.Width, Height: s.track.Height}, FPS: s.track.FPS,
			FFmpeg: mediatest.FFmpeg(t), Spawn: spawn, Log: log,
		},
	}
}

func newStream(t *testing.T, frames int) stream {
	t.Helper()
	track, list := mediatest.Stream(t, 320, 200, 30, frames)
	return stream{track, list}
}

func finish(t *testing.T, r *Recorder, at time.Duration) Captured {
	t.Helper()
	r.EndAt(at)
	c, err := r.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Bad) > 0 {
		t.Fatalf("bad segments: %v", c.Bad)
	}
	return c
}

func count(c Captured) (n int) {
	for _, s := range c.Segments {
		n += len(s.Frames)
	}
	return n
}

// The film begins with the first frame: its tick is 0 whatever the engine
// counted before.
func TestFirstFrameIsTickZero(t *testing.T) {
	s := newStream(t, 60)
	r, err := Start(context.Background(), config(t, s, &engine{name: "a", runs: []func(context.Context, capture.Config, capture.Sink) error{s.play(0, 60, nil)}}))
	if err != nil {
		t.Fatal(err)
	}
	c := finish(t, r, 2*time.Second)
	if c.Segments[0].First() != 0 || count(c) != 60 || c.End != 60 {
		t.Errorf("first %d, %d frames, end %d", c.Segments[0].First(), count(c), c.End)
	}
}

// An engine that can't begin gives way to the next, and the answer says why.
func TestFallsBackToTheNextEngine(t *testing.T) {
	s := newStream(t, 5)
	broken := &engine{name: "broken", runs: []func(context.Context, capture.Config, capture.Sink) error{
		func(context.Context, capture.Config, capture.Sink) error { return errors.New("no DAMAGE here") },
	}}
	good := &engine{name: "good", runs: []func(context.Context, capture.Config, capture.Sink) error{s.play(0, 5, nil)}}
	r, err := Start(context.Background(), config(t, s, broken, good))
	if err != nil {
		t.Fatal(err)
	}
	if name, why := r.Engine(); name != "good" || why != "by a script; broken: no DAMAGE here" {
		t.Errorf("engine %s, why %q", name, why)
	}
	finish(t, r, time.Second)

	_, err = Start(context.Background(), config(t, s, &engine{name: "x", runs: []func(context.Context, capture.Config, capture.Sink) error{
		func(context.Context, capture.Config, capture.Sink) error { return errors.New("nothing to see") },
	}}))
	if err == nil || !strings.Contains(err.Error(), "nothing to see") {
		t.Errorf("start without any frame: %v", err)
	}
}

// An encoder that dies is started again, and the incident is told.
func TestEncoderThatDiesIsStartedAgain(t *testing.T) {
	s := newStream(t, 60)
	key := 0
	for i, f := range s.frames {
		if f.Key {
			key = i // the second run begins with a keyframe, as a new encoder does
		}
	}
	died := &capture.EncoderError{Err: errors.New("killed")}
	e := &engine{name: "a", runs: []func(context.Context, capture.Config, capture.Sink) error{s.play(0, 10, died), s.play(key, 60, nil)}}
	r, err := Start(context.Background(), config(t, s, e))
	if err != nil {
		t.Fatal(err)
	}
	for r.Live().Captured < int64(10+60-key) {
		time.Sleep(5 * time.Millisecond)
	}
	c := finish(t, r, 2*time.Second)
	if count(c) != 10+60-key {
		t.Errorf("%d frames, want %d", count(c), 10+60-key)
	}
	if len(c.Incidents) != 1 || !c.Incidents[0].Salvaged {
		t.Errorf("incidents: %+v", c.Incidents)
	}
}

// A capture that dies again and again is given up, with what there is.
func TestHopelessCaptureIsGivenUp(t *testing.T) {
	s := newStream(t, 10)
	died := &capture.EncoderError{Err: errors.New("killed")}
	e := &engine{name: "a", runs: []func(context.Context, capture.Config, capture.Sink) error{s.play(0, 10, died)}}
	for range attempts {
		e.runs = append(e.runs, func(context.Context, capture.Config, capture.Sink) error { return died })
	}
	r, err := Start(context.Background(), config(t, s, e))
	if err != nil {
		t.Fatal(err)
	}
	if stop := r.Ended(); stop == nil || stop.Reason != recording.ReasonCaptureLost {
		t.Errorf("ended: %+v", stop)
	}
	c, err := r.Finish()
	if err != nil || count(c) != 10 {
		t.Errorf("%d frames, %v", count(c), err)
	}
}

// A display that is gone ends the run at once.
func TestLostDisplayEndsTheRun(t *testing.T) {
	s := newStream(t, 10)
	cfg := config(t, s, &engine{name: "a", runs: []func(context.Context, capture.Config, capture.Sink) error{
		s.play(0, 10, &capture.DisplayLostError{Display: ":9", Err: errors.New("gone")}),
	}})
	cfg.DisplayAlive = func() bool { return false }
	r, err := Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if stop := r.Ended(); stop == nil || stop.Reason != recording.ReasonDisplayLost {
		t.Errorf("ended: %+v", stop)
	}
	if c, err := r.Finish(); err != nil || count(c) != 10 {
		t.Errorf("%d frames, %v", count(c), err)
	}
}

// A stretch without frames or holds is told as a gap; one with holds is not.
func TestGapsAreTold(t *testing.T) {
	s := newStream(t, 2)
	for _, holds := range []bool{true, false} {
		t.Run(fmt.Sprint("holds ", holds), func(t *testing.T) {
			run := func(ctx context.Context, _ capture.Config, sink capture.Sink) error {
				if err := sink.Header(s.track.SPS, s.track.PPS); err != nil {
					return err
				}
				if err := sink.Frame(segment.Frame{Tick: 0, Key: true, Data: s.frames[0].Data}); err != nil {
					return err
				}
				for tick := int64(30); holds && tick < 300; tick += 30 {
					if err := sink.Hold(tick); err != nil {
						return err
					}
				}
				if err := sink.Frame(segment.Frame{Tick: 300, Key: true, Data: s.frames[0].Data}); err != nil {
					return err
				}
				<-ctx.Done()
				return nil
			}
			r, err := Start(context.Background(), config(t, s, &engine{name: "a", runs: []func(context.Context, capture.Config, capture.Sink) error{run}}))
			if err != nil {
				t.Fatal(err)
			}
			for r.Live().Captured < 2 {
				time.Sleep(5 * time.Millisecond)
			}
			c := finish(t, r, 11*time.Second)
			if gaps := len(c.Incidents); (gaps == 0) != holds {
				t.Errorf("incidents: %+v", c.Incidents)
			}
			if holds && len(c.Segments) < 10 {
				t.Errorf("%d segments: a still screen must reach the disk every second", len(c.Segments))
			}
		})
	}
}

// A start that is called off leaves nothing running (goleak looks).
func TestStartCalledOff(t *testing.T) {
	s := newStream(t, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, config(t, s, &engine{name: "mute"})); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("start: %v", err)
	}
}
