package supervisor

import (
	"time"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// StartOptions is what start takes, validated for shape by the caller (the
// command line); Start checks what only this machine can tell.
type StartOptions struct {
	Name           string
	URL            string
	FPS            int    // 1 to 60; 0: auto
	Rate           string // cfr, vfr; empty: cfr for 30 and 60, else vfr
	Width, Height  int
	Display        string        // new, current, :N
	Browser        string        // auto, agent-browser, chromium, none
	Cursor         string        // auto, on, off
	Keys           bool          // name keys in the input log
	Engine         string        // auto, x11, x11grab
	MaxDuration    time.Duration // 0: 30 min on an own display, 5 min on one that is there
	MinFree        int64         // bytes
	Publish        string
	Workspace      string
	Stills         string
	Speed          int
	Position       string
	UntilPID       int // 0: none
	StartupTimeout time.Duration
}

// StartResult is the answer of start.
type StartResult struct {
	RecordingID         string        `json:"recordingId"`
	Name                string        `json:"name,omitempty"`
	Display             string        `json:"display"`
	Xauthority          string        `json:"xauthority,omitempty"`
	OwnDisplay          bool          `json:"ownDisplay"`
	Size                string        `json:"size"`      // of the screen, WIDTHxHEIGHT
	VideoSize           string        `json:"videoSize"` // of the film: padded to even
	FPS                 int           `json:"fps"`
	FPSAuto             bool          `json:"fpsAuto"`
	Rate                string        `json:"rate"`
	Capture             CaptureResult `json:"capture"`
	Browser             string        `json:"browser"`
	AgentBrowserCommand []string      `json:"agentBrowserCommand,omitempty"`
	EndsAt              time.Time     `json:"endsAt"` // when it ends by itself
	MaxDurationSeconds  float64       `json:"maxDurationSeconds"`
	Publish             string        `json:"publish"`
	Notes               []string      `json:"notes"` // what the caller should know: padding, the browser's sandbox is off
}

// CaptureResult says which engine films and why.
type CaptureResult struct {
	Engine string `json:"engine"`
	Why    string `json:"why"`
}

// StatusResult is the answer of status.
type StatusResult struct {
	RecordingID     string           `json:"recordingId"`
	Name            string           `json:"name,omitempty"`
	Phase           recording.Phase  `json:"phase"`
	SupervisorAlive bool             `json:"supervisorAlive"`
	FramesCaptured  int64            `json:"framesCaptured"`
	FramesDistinct  int64            `json:"framesDistinct"` // 0 when the engine can't tell
	FramesDropped   int64            `json:"framesDropped"`
	SecondsRecorded float64          `json:"secondsRecorded"`
	BytesOnDisk     int64            `json:"bytesOnDisk"`
	FPSAchieved     float64          `json:"fpsAchieved"` // captured frames a second over the last 5 s
	SecondsLeft     float64          `json:"secondsLeft"` // until it ends by itself; 0 when it has ended
	Steps           int              `json:"steps"`
	Display         string           `json:"display,omitempty"`
	Incidents       []IncidentResult `json:"incidents"`
}

// IncidentResult is an incident as answers show it.
type IncidentResult struct {
	Second float64 `json:"second"` // since the first frame
	Kind   string  `json:"kind"`
	Detail string  `json:"detail"`
}

// StopOptions says how stop waits.
type StopOptions struct {
	// Timeout is for how long nothing may move before stop gives up. It never
	// cuts off work that progresses.
	Timeout  time.Duration
	Progress func(contract.Progress)
}

// StopResult is the answer of stop. A repeated stop gives the same bytes.
type StopResult struct {
	RecordingID     string            `json:"recordingId"`
	Name            string            `json:"name,omitempty"`
	Path            string            `json:"path"` // the verified MP4 on this machine
	URL             string            `json:"url,omitempty"`
	Published       string            `json:"published"` // the target, or none
	Verdict         recording.Verdict `json:"verdict"`
	VerdictWhy      []string          `json:"verdictWhy"`
	EndedBy         string            `json:"endedBy"`
	DurationSeconds float64           `json:"durationSeconds"`
	Size            string            `json:"size"` // WIDTHxHEIGHT of the film
	FPS             int               `json:"fps"`
	Rate            string            `json:"rate"`
	Frames          int64             `json:"frames"`
	FramesCaptured  int64             `json:"framesCaptured"`
	FramesDropped   int64             `json:"framesDropped"`
	Bytes           int64             `json:"bytes"`
	SHA256          string            `json:"sha256"`
	StartedAt       time.Time         `json:"startedAt"`
	Steps           []StepResult      `json:"steps"`
	Incidents       []IncidentResult  `json:"incidents"`
}

// StepResult is a step with its result, at its time in the film.
type StepResult struct {
	Step    int       `json:"step"`
	Text    string    `json:"text"`
	Second  float64   `json:"second"` // since the first frame
	At      time.Time `json:"at"`
	Result  string    `json:"result,omitempty"`  // pass, fail or empty
	Comment string    `json:"comment,omitempty"` // the result's text
}

// EventResult is the answer of step and result.
type EventResult struct {
	RecordingID string  `json:"recordingId"`
	Step        int     `json:"step"`
	Second      float64 `json:"second"`           // since the first frame
	Result      string  `json:"result,omitempty"` // pass or fail
	Text        string  `json:"text"`
}

// ListResult is the answer of list, newest first.
type ListResult struct {
	Recordings []ListRow `json:"recordings"`
}

// ListRow is one recording of list. A recording whose state can't be read is
// listed with its Problem.
type ListRow struct {
	RecordingID     string            `json:"recordingId"`
	Name            string            `json:"name,omitempty"`
	Phase           recording.Phase   `json:"phase"`
	SupervisorAlive bool              `json:"supervisorAlive"`
	CreatedAt       time.Time         `json:"createdAt"`
	SecondsRecorded float64           `json:"secondsRecorded"`
	Bytes           int64             `json:"bytes"`
	Path            string            `json:"path,omitempty"`
	Verdict         recording.Verdict `json:"verdict,omitempty"`
	Problem         string            `json:"problem,omitempty"`
}

// DiscardResult is the answer of discard.
type DiscardResult struct {
	RecordingID string `json:"recordingId"`
	Bytes       int64  `json:"bytes"` // freed
}

// PruneResult is the answer of prune.
type PruneResult struct {
	Removed []DiscardResult `json:"removed"`
	Kept    int             `json:"kept"`
}
