// Package recording is a recording on disk: its manifest, its segments, its
// events and its damage log. It is the seam between products: record writes
// it, edit reads it. docs/recording-format.md is its description. How frames
// come into being, and what is made of them, is not known here.
package recording

import (
	"encoding/json"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// FormatVersion is the version of everything in a recording's directory.
const FormatVersion = 1

// Phase is where a recording is in its life. It only moves forward.
type Phase string

// The phases, in their order.
const (
	PhaseStarting        Phase = "starting"
	PhaseRecording       Phase = "recording"
	PhaseClosingBrowser  Phase = "closing_browser"
	PhaseStoppingCapture Phase = "stopping_capture"
	PhaseFinalizing      Phase = "finalizing"
	PhasePublishing      Phase = "publishing"
	PhaseCleaningUp      Phase = "cleaning_up"
	PhaseDone            Phase = "done"   // the film is verified; Result says where it is
	PhaseFailed          Phase = "failed" // there is no film, or it is not where it should be; Failure says why
)

// Terminal says whether nothing more happens by itself.
func (p Phase) Terminal() bool { return p == PhaseDone || p == PhaseFailed }

// Stopping says whether the recording is on its way to its end.
func (p Phase) Stopping() bool {
	switch p {
	case PhaseClosingBrowser, PhaseStoppingCapture, PhaseFinalizing, PhasePublishing, PhaseCleaningUp:
		return true
	default:
		return false
	}
}

// Manifest is a recording's state: one JSON document, replaced atomically.
type Manifest struct {
	FormatVersion int       `json:"formatVersion"`
	ID            string    `json:"recordingId"` // UUID
	Name          string    `json:"name,omitempty"`
	CreatedAt     time.Time `json:"createdAt"`
	Phase         Phase     `json:"phase"`

	Options Options `json:"options"`

	Starter    proc.Identity `json:"starter"` // the process that called start
	Supervisor proc.Identity `json:"supervisor"`
	Owned      []Owned       `json:"owned,omitempty"` // processes to end with the recording

	Display Display  `json:"display"`
	Capture Capture  `json:"capture"`
	Browser *Browser `json:"browser,omitempty"`
	Clock   Clock    `json:"clock"`

	Stop      *Stop      `json:"stop,omitempty"`      // why and when the film ends
	Incidents []Incident `json:"incidents,omitempty"` // what the verdict must mention
	Film      *Film      `json:"film,omitempty"`      // the verified film, once installed
	Published *Published `json:"published,omitempty"`
	Failure   *Failure   `json:"failure,omitempty"`
	// Result is the terminal answer of stop, byte for byte: a repeated stop
	// gives these bytes again.
	Result json.RawMessage `json:"result,omitempty"`
}

// Launching says whether the recording's supervisor is yet to come: it is no
// recording whose supervisor has died.
func (m Manifest) Launching() bool {
	return m.Phase == PhaseStarting && m.Supervisor.PID == 0 && m.Starter.Alive()
}

// Options is what the caller asked for, after defaults.
type Options struct {
	URL            string        `json:"url,omitempty"`
	FPS            int           `json:"fps"`      // the grid, 1 to 60
	Adaptive       bool          `json:"adaptive"` // --fps auto
	Rate           string        `json:"rate"`     // cfr or vfr
	Width          int           `json:"width"`    // asked for, pixels
	Height         int           `json:"height"`
	Display        string        `json:"display"` // new, or the display's name
	Browser        string        `json:"browser"` // agent-browser, chromium or none
	Cursor         bool          `json:"cursor"`
	Keys           bool          `json:"keys"` // keys that type nothing, and shortcuts, are named in the input log
	MaxDuration    time.Duration `json:"maxDurationNs"`
	MinFree        int64         `json:"minFreeBytes"`
	Publish        string        `json:"publish"`
	Workspace      string        `json:"uploadsWorkspace,omitempty"`
	Stills         string        `json:"stills"`   // cut or keep: default of the clip
	Speed          int           `json:"speed"`    // 1, 2 or 4: default of the clip
	Position       string        `json:"position"` // top or bottom: default of the clip
	UntilPID       proc.Identity `json:"untilPid"` // the recording ends with this process; zero: none
	StartupTimeout time.Duration `json:"startupTimeoutNs"`
	CaptureEngine  string        `json:"captureEngine,omitempty"` // auto or an engine's name
}

// Owned is a process that belongs to the recording.
type Owned struct {
	Role string `json:"role"` // xvfb, openbox, browser, encoder, verifier
	proc.Identity
}

// Display is the screen that is filmed.
type Display struct {
	Name       string `json:"name,omitempty"` // ":7"
	Own        bool   `json:"own"`            // started for this recording
	Xauthority string `json:"xauthority,omitempty"`
	Width      int    `json:"width"` // pixels of the screen
	Height     int    `json:"height"`
}

// Capture says which engine films, and why that one.
type Capture struct {
	Engine string `json:"engine,omitempty"`
	Why    string `json:"why,omitempty"`
	Width  int    `json:"width"` // of the film: the screen's, padded to even
	Height int    `json:"height"`
}

// Browser is the browser on an own display.
type Browser struct {
	Kind    string   `json:"kind"`              // agent-browser or chromium
	Command []string `json:"command,omitempty"` // to put before every browser action
	Note    string   `json:"note,omitempty"`    // for instance that the browser's own sandbox is off
}

// Clock ties the recording's time to the machine's clocks.
type Clock struct {
	// Epoch is the reading of CLOCK_BOOTTIME at tick 0, in nanoseconds. That
	// clock never jumps and it counts the time a machine was suspended.
	Epoch int64     `json:"epochBoottimeNs"`
	Boot  string    `json:"boot"` // boot id: the epoch means nothing in another
	Wall  time.Time `json:"wall"` // wall clock at tick 0
}

// Stop says when and why the film ends. It is written once.
type Stop struct {
	At     time.Duration `json:"atNs"`   // since the epoch; the film's end
	Reason string        `json:"reason"` // see the Reason constants
	Detail string        `json:"detail,omitempty"`
}

// Why a recording ended.
const (
	ReasonStop        = "stop"         // somebody called stop
	ReasonMaxDuration = "max_duration" // --max-duration was reached
	ReasonDiskFloor   = "disk_floor"   // too little free space
	ReasonUntilPID    = "until_pid"    // the process of --until-pid went away
	ReasonDisplayLost = "display_lost" // the X server died
	ReasonCaptureLost = "capture_lost" // the capture died and could not be started again
	ReasonSupervisor  = "supervisor_lost"
)

// Incident is something that went wrong, or that a reader should know.
type Incident struct {
	At     time.Duration `json:"atNs"` // since the epoch
	Kind   string        `json:"kind"` // an Incident constant, an engine's kind, or the reason of a Stop
	Detail string        `json:"detail"`
	// Salvaged says that something died or was lost: the film holds what it left.
	Salvaged bool `json:"salvaged,omitempty"`
}

// Verdict is the judgement on a film.
type Verdict string

// The verdicts, from best to worst.
const (
	VerdictComplete Verdict = "complete" // all that was captured, and nothing was dropped
	VerdictDegraded Verdict = "degraded" // frames were dropped, or there is a gap
	VerdictSalvaged Verdict = "salvaged" // something died; all that it left is there
)

// Film is the verified film.
type Film struct {
	Path       string        `json:"path"`
	Bytes      int64         `json:"bytes"`
	SHA256     string        `json:"sha256"`
	Width      int           `json:"width"`
	Height     int           `json:"height"`
	FPS        int           `json:"fps"`
	Rate       string        `json:"rate"`
	Frames     int64         `json:"frames"`   // samples in the file
	Captured   int64         `json:"captured"` // of these, frames that were encoded; the rest repeat
	Duration   time.Duration `json:"durationNs"`
	Verdict    Verdict       `json:"verdict"`
	VerdictWhy []string      `json:"verdictWhy"`
	Dropped    int64         `json:"dropped"`
}

// Published says where the film went.
type Published struct {
	Target string    `json:"target"`
	URL    string    `json:"url,omitempty"`
	Path   string    `json:"path,omitempty"`
	At     time.Time `json:"at"`
}

// Failure is why a terminal recording has no film, or an unpublished one.
type Failure struct {
	Code     string `json:"code"` // a fault.Code
	Message  string `json:"message"`
	Hint     string `json:"hint"`
	Artifact string `json:"artifact,omitempty"`
}
