package contract

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
)

// The wire is what programs of others parse: a renamed, added or lost field
// breaks them, so every form is held byte for byte.
func TestWire(t *testing.T) {
	lost := fault.New(fault.PublishFailed, "Stop again.", "no network").WithArtifact("/film.mp4").WithEffect(fault.EffectFinalizePartial)
	cases := []struct {
		name string
		v    any
		want string
	}{
		{
			"success",
			Success("1.0", "start", fault.EffectRecordingStarted, map[string]int{"fps": 60}),
			`{"schemaVersion":1,"ok":true,"data":{"fps":60},"meta":{"version":"1.0","command":"start","effect":"recording-started"}}`,
		},
		{
			"failure",
			Failure("1.0", "step", fault.New(fault.NoStep, "Give the step first.", "no step")),
			`{"schemaVersion":1,"ok":false,"error":{"code":"no_step","message":"no step","hint":"Give the step first.","retryable":false},"meta":{"version":"1.0","command":"step","effect":"none"}}`,
		},
		{
			"failure that left something",
			Failure("1.0", "stop", fmt.Errorf("stop: %w", lost)),
			`{"schemaVersion":1,"ok":false,"error":{"code":"publish_failed","message":"no network","hint":"Stop again.","retryable":true,"artifact":"/film.mp4"},"meta":{"version":"1.0","command":"stop","effect":"finalize-partial"}}`,
		},
		{
			"progress",
			Progress{SchemaVersion: SchemaVersion, Event: "progress", Phase: "finalizing", Step: 2, TotalSteps: 3, RecordingID: "r"},
			`{"schemaVersion":1,"event":"progress","phase":"finalizing","step":2,"totalSteps":3,"recordingId":"r"}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			raw, err := json.Marshal(c.v)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(raw)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An error that nobody gave a code must still come with one, and with a hint.
func TestFailureOfAForeignError(t *testing.T) {
	e := Failure("1.0", "list", fs.ErrClosed)
	if e.OK || e.Error == nil || e.Error.Code != fault.Internal || e.Error.Hint == "" || e.Meta.Effect != fault.EffectNone {
		t.Errorf("%+v, error %+v", e, e.Error)
	}
}
