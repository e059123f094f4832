// Package contract is what every surface shares on the wire: the envelope,
// its schema version and the progress events. It holds no logic.
package contract

import "github.com/proofreel/proofreel/internal/fault"

// SchemaVersion is the version of the envelope and of everything in it.
const SchemaVersion = 1

// Envelope is the one JSON object that a command answers with: Data on
// success, Error on failure.
type Envelope struct {
	SchemaVersion int    `json:"schemaVersion"`
	OK            bool   `json:"ok"`
	Data          any    `json:"data,omitempty"`
	Error         *Error `json:"error,omitempty"`
	Meta          Meta   `json:"meta"`
}

// Error is how an error looks on the wire.
type Error struct {
	Code      fault.Code `json:"code"`
	Message   string     `json:"message"`
	Hint      string     `json:"hint"`
	Retryable bool       `json:"retryable"`
	Artifact  string     `json:"artifact,omitempty"`
}

// Meta says which program answered, to what, and what it changed.
type Meta struct {
	Version string       `json:"version"`
	Command string       `json:"command"`
	Effect  fault.Effect `json:"effect"`
}

// Success makes the envelope of a success.
func Success(version, command string, effect fault.Effect, data any) Envelope {
	return Envelope{SchemaVersion: SchemaVersion, OK: true, Data: data, Meta: Meta{version, command, effect}}
}

// Failure makes the envelope of a failure.
func Failure(version, command string, err error) Envelope {
	e := fault.As(err)
	effect := e.Effect
	if effect == "" {
		effect = fault.EffectNone
	}
	return Envelope{
		SchemaVersion: SchemaVersion,
		Error: &Error{
			Code: e.Code, Message: e.Message, Hint: e.Hint,
			Retryable: fault.Lookup(e.Code).Retryable, Artifact: e.Artifact,
		},
		Meta: Meta{version, command, effect},
	}
}

// Progress is one line of newline-delimited JSON on stderr while a command
// works.
type Progress struct {
	SchemaVersion int    `json:"schemaVersion"`
	Event         string `json:"event"` // always "progress"
	Phase         string `json:"phase"` // closing_browser, stopping_capture, finalizing, publishing, cleaning_up; rendering; serving; of generate, a job's phases
	Step          int    `json:"step"`  // 1 to TotalSteps; of rendering, frames
	TotalSteps    int    `json:"totalSteps"`
	RecordingID   string `json:"recordingId,omitempty"` // of a recording
	Scene         string `json:"scene,omitempty"`       // of a scene
	URL           string `json:"url,omitempty"`         // of serving: where
	Percent       int    `json:"percent,omitempty"`     // of generate's rendering
	Turn          int    `json:"turn,omitempty"`        // of generate: calls to the author's model so far
}
