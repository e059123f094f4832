package supervisor

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/film"
	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/record/capture"
	"github.com/proofreel/proofreel/internal/record/recorder"
)

// fast is an engine that hands over a recording of any length as fast as the
// disk takes it: the same seconds of real footage over and over. Everything
// behind the engine is the product's own.
type fast struct {
	track   mp4.Track
	frames  []segment.Frame // one second
	seconds int
	done    chan struct{}
}

func (*fast) Name() string         { return "fast" }
func (*fast) How() string          { return "" }
func (*fast) Stats() capture.Stats { return capture.Stats{} }
func (e *fast) Run(ctx context.Context, _ capture.Config, sink capture.Sink) error {
	if err := sink.Header(e.track.SPS, e.track.PPS); err != nil {
		return err
	}
	for s := range e.seconds {
		for _, f := range e.frames {
			f.Tick += int64(s * e.track.FPS)
			if err := sink.Frame(f); err != nil {
				return err
			}
		}
	}
	close(e.done)
	<-ctx.Done()
	return nil
}

// stopAfter records so many seconds, lets the verification catch up as it does
// in real time, and measures what stop does then.
func stopAfter(t *testing.T, seconds int) (took time.Duration, size int64) {
	t.Helper()
	track, frames := mediatest.Stream(t, 640, 360, 30, 27) // a keyframe comes every 0.9 s
	man := recording.Manifest{
		FormatVersion: recording.FormatVersion, ID: uuid.NewString(), Phase: recording.PhaseRecording,
		Options: recording.Options{FPS: 30, Rate: film.CFR, Width: 640, Height: 360, Display: "new", Publish: "none"},
	}
	dir, err := recording.Create(t.TempDir(), man)
	if err != nil {
		t.Fatal(err)
	}
	spawn := proc.NewSpawner()
	defer spawn.Close()
	log := slog.New(slog.DiscardHandler)
	e := &fast{track: track, frames: frames, seconds: seconds, done: make(chan struct{})}
	rec, err := recorder.Start(context.Background(), recorder.Config{
		Dir: dir, Engines: []capture.Engine{e}, Log: log,
		Capture: capture.Config{
			Target: capture.Target{Width: 640, Height: 360}, FPS: 30, FFmpeg: mediatest.FFmpeg(t), Spawn: spawn, Log: log,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	<-e.done
	whole := int64(seconds * len(frames))
	// The decoder reports only while frames come, so the end of a burst shows
	// by its silence.
	for last := int64(-1); last != rec.Live().Verified; {
		last = rec.Live().Verified
		time.Sleep(2 * time.Second)
	}
	s := &session{dir: dir, log: log, spawn: spawn, man: man, rec: rec}
	began := time.Now()
	rec.EndAt(time.Duration(seconds) * time.Second)
	if err := s.finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	took = time.Since(began)
	if got := s.man.Film; got.Duration != time.Duration(seconds)*time.Second || got.Verdict != recording.VerdictComplete || got.Captured != whole {
		t.Fatalf("film: %+v", got)
	}
	return took, s.man.Film.Bytes
}

// Stop of a recording of 10 minutes takes at most 1.5 times what it takes for
// 10 seconds, beside the time to read and write the bytes. The 10 minutes are
// fed through the pipeline faster than real time.
func TestStopTakesNoLongerForALongRecording(t *testing.T) {
	var best, copied time.Duration
	var short time.Duration
	for try := range 3 { // a busy neighbour can spoil one pair of measurements
		s, _ := stopAfter(t, 10)
		long, size := stopAfter(t, 600)
		c := copyTime(t, size, 600)
		t.Logf("try %d: stop of 10 s took %v, of 600 s %v; copying its %d MB takes %v", try, s, long, size>>20, c)
		if best == 0 || long-c < best-copied {
			best, copied, short = long, c, s
		}
		if best-copied <= short*3/2 {
			return
		}
	}
	t.Errorf("stop of 600 s took %v, of 10 s %v, copying the bytes %v", best, short, copied)
}

// copyTime is how long it takes to bring so many bytes from so many files into
// one, as plainly as it can be done: read, write, sync, read once more for the
// checksum, and remove what was copied.
func copyTime(t *testing.T, size int64, files int) time.Duration {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	if err := os.Mkdir(src, 0o700); err != nil {
		t.Fatal(err)
	}
	chunk := make([]byte, size/int64(files))
	for i := range files {
		if err := os.WriteFile(filepath.Join(src, strconv.Itoa(i)), chunk, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dst := filepath.Join(dir, "dst")
	began := time.Now()
	out, err := os.Create(dst)
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		raw, err := os.ReadFile(filepath.Join(src, strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := film.Hash(dst); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(src); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}
