package recorder

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/record/capture"
)

// epoch is the time of stream's first frame by its engine's count.
const epoch = 100 * time.Second / 30

// types plays ten frames, with input before the first and after the last.
func types(s stream, before, after []capture.Input) (run func(context.Context, capture.Config, capture.Sink) error, all <-chan struct{}) {
	done := make(chan struct{})
	return func(ctx context.Context, cfg capture.Config, sink capture.Sink) error {
		in, ok := sink.(capture.InputSink)
		if !ok {
			return errors.New("the recorder takes no input")
		}
		for _, i := range before {
			in.Input(i)
		}
		failed := errors.New("the frames are played")
		if err := s.play(0, 10, failed)(ctx, cfg, sink); !errors.Is(err, failed) {
			return err
		}
		for _, i := range after {
			in.Input(i)
		}
		close(done)
		<-ctx.Done()
		return nil
	}, done
}

func at(ms int) time.Duration { return epoch + time.Duration(ms)*time.Millisecond }

// Guards the log's times and its borders: of what came before the film only
// the pointer's place is kept, at 0, and nothing of what came after its end.
func TestInputLog(t *testing.T) {
	s := newStream(t, 10)
	run, played := types(s, []capture.Input{
		{At: at(-9), Kind: capture.InputSource, Source: "a script"},
		{At: at(-8), Kind: capture.InputMove, X: 1, Y: 2},
		{At: at(-7), Kind: capture.InputDown, X: 3, Y: 4, Button: 1},
		{At: at(-6), Kind: capture.InputKey, Key: capture.Key{Class: capture.KeyText}},
	}, []capture.Input{
		{At: at(200), Kind: capture.InputUp, X: 3, Y: 4, Button: 1},
		{At: at(210), Kind: capture.InputWheel, X: 3, Y: 4, DY: 1},
		{At: at(220), Kind: capture.InputKey, Key: capture.Key{Class: capture.KeyCombo, Name: "S", Modifiers: []string{"Ctrl"}}},
	})
	cfg := config(t, s, &engine{name: "typist", runs: []func(context.Context, capture.Config, capture.Sink) error{run}})
	cfg.Capture.Keys = true
	r, err := Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	<-played
	r.EndAt(time.Second)
	r.take.Input(capture.Input{At: at(1001), Kind: capture.InputMove, X: 9, Y: 9})
	finish(t, r, time.Second)
	ms := time.Millisecond
	want := []recording.Input{
		{At: 0, Kind: recording.InputMove, X: 3, Y: 4},
		{At: 200 * ms, Kind: recording.InputUp, X: 3, Y: 4, Button: 1},
		{At: 210 * ms, Kind: recording.InputWheel, X: 3, Y: 4, DY: 1},
		{At: 220 * ms, Kind: recording.InputKey, Class: "combo", Name: "S", Modifiers: []string{"Ctrl"}},
	}
	sources, got, err := cfg.Dir.Inputs()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, log (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]recording.InputSource{{Text: "a script", Keys: true}}, sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}

// Guards the film against its input log: a log that can't be written is an
// incident, told once, and nothing more.
func TestInputLogFails(t *testing.T) {
	s := newStream(t, 10)
	run, played := types(s, []capture.Input{{At: at(-9), Kind: capture.InputSource, Source: "a script"}},
		[]capture.Input{{At: at(200), Kind: capture.InputMove}, {At: at(300), Kind: capture.InputMove}})
	cfg := config(t, s, &engine{name: "typist", runs: []func(context.Context, capture.Config, capture.Sink) error{run}})
	if err := os.Mkdir(cfg.Dir.InputPath(), 0o700); err != nil { // no file can be there
		t.Fatal(err)
	}
	r, err := Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	<-played
	c := finish(t, r, time.Second)
	if n := count(c); n < 10 {
		t.Errorf("%d frames", n)
	}
	var told int
	for _, i := range c.Incidents {
		if i.Kind == recording.IncidentInput {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times: %+v", told, c.Incidents)
	}
}
