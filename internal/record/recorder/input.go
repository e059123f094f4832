package recorder

import (
	"fmt"

	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/record/capture"
)

// inputLog keeps what is done with pointer and keys. It never ends a film:
// what can't be written is an incident, and ends the log.
type inputLog struct {
	log    *recording.InputLog
	names  bool // keys are named where that gives nothing away
	failed bool

	// What came before the first frame, whose time is not known yet: the last
	// source and the last place of the pointer.
	source, place *capture.Input
}

// Input implements capture.InputSink.
func (t *take) Input(in capture.Input) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun {
		t.logInput(in)
		return
	}
	switch in.Kind {
	case capture.InputSource:
		t.input.source = &in
	case capture.InputKey:
	default:
		in.Kind, in.Button, in.DX, in.DY = capture.InputMove, 0, 0, 0
		t.input.place = &in
	}
}

// inputs logs what came before the film, at its beginning; mu is held.
func (t *take) inputs() {
	for _, in := range []*capture.Input{t.input.source, t.input.place} {
		if in != nil {
			t.logInput(*in)
		}
	}
}

// logInput writes an entry; mu is held.
func (t *take) logInput(in capture.Input) {
	at := max(in.At-segment.Length(t.base, t.fps), 0)
	if t.input.failed || t.end >= 0 && at >= segment.Length(t.end, t.fps) {
		return
	}
	var err error
	if in.Kind == capture.InputSource {
		err = t.input.log.Source(recording.InputSource{At: at, Text: in.Source, Keys: t.input.names})
	} else {
		err = t.input.log.Add(recording.Input{
			At: at, Kind: recording.InputKind(in.Kind), X: in.X, Y: in.Y, Button: in.Button, DX: in.DX, DY: in.DY,
			Class: string(in.Key.Class), Name: in.Key.Name, Modifiers: in.Key.Modifiers,
		})
	}
	if err == nil {
		return
	}
	t.input.failed = true
	t.log.Warn("the input log ends", "err", err)
	t.incidents = append(t.incidents, recording.Incident{
		At: at, Kind: recording.IncidentInput, Detail: fmt.Sprintf("pointer and keys are not logged from here: %v", err),
	})
}

// close ends the log.
func (l *inputLog) close() error { return l.log.Close() }
