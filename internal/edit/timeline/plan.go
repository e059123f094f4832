package timeline

import (
	"time"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// Plan is a clip before it is rendered. Times of the clip are frames of its
// grid (Options.FPS); [Plan.Time] gives their time.
type Plan struct {
	Options      Options       `json:"options"`
	RecordingFPS int           `json:"recordingFps"`
	Recording    time.Duration `json:"recordingNs"` // length of the recording
	Start        time.Time     `json:"start"`       // wall clock at its first frame
	Frames       int64         `json:"frames"`      // length of the clip, at least 1
	LastTick     int64         `json:"lastTick"`    // of the recording's grid: the last one that is shown
	CutTotal     time.Duration `json:"cutNs"`       // what was left out

	Runs     []Run     `json:"runs"`
	Cuts     []Cut     `json:"cuts"`
	Pills    []Pill    `json:"pills"`
	Marks    []Mark    `json:"marks"`
	Chapters []Chapter `json:"chapters"`
}

// Run is a stretch of clip frames: the Frames from Frame on show the recording
// from tick From to tick To (not included), evenly. A hold shows From alone;
// its To is the same. Runs follow upon each other without a break.
type Run struct {
	Frame  int64 `json:"frame"`
	Frames int64 `json:"frames"` // at least 1
	From   int64 `json:"from"`   // ticks of the recording's grid
	To     int64 `json:"to"`
	Hold   bool  `json:"hold,omitempty"`
}

// Cut is a stretch of the recording that the clip leaves out.
type Cut struct {
	Span
	Frame int64 `json:"frame"`         // the clip frame after it; Plan.Frames for one at the end
	Gap   bool  `json:"gap,omitempty"` // nothing was recorded there
}

// Pill is a caption: it is up from frame In to frame Out, not included.
type Pill struct {
	Kind recording.EventKind `json:"kind"`
	Text string              `json:"text"`
	Step int                 `json:"step"`           // number of the step it belongs to
	Pass *bool               `json:"pass,omitempty"` // of a result
	In   int64               `json:"in"`
	Out  int64               `json:"out"`
	At   time.Duration       `json:"atNs"` // when it happened, in the recording
}

// Mark is a small pill in the corner away from the captions.
type Mark struct {
	Kind MarkKind `json:"kind"`
	Text string   `json:"text"` // without the ▶▶ that leads a skip mark
	In   int64    `json:"in"`
	Out  int64    `json:"out"`
}

// MarkKind tells marks apart.
type MarkKind string

// The kinds of marks.
const (
	MarkSkip  MarkKind = "skip"  // a cut was made just before: "18 s later"
	MarkGap   MarkKind = "gap"   // nothing was recorded just before: "18 s not recorded"
	MarkSpeed MarkKind = "speed" // the clip runs faster: "2x"
)

// Chapter is a step of the clip, from frame In to frame Out, not included.
type Chapter struct {
	Step    int           `json:"step"`
	Title   string        `json:"title"`
	In      int64         `json:"in"`
	Out     int64         `json:"out"`
	At      time.Duration `json:"atNs"` // in the recording
	UTC     time.Time     `json:"utc"`
	Results []Result      `json:"results"` // in the order shown; the last one holds
}

// Result is how a chapter's step ended.
type Result struct {
	Pass bool          `json:"pass"`
	Text string        `json:"text"`
	In   int64         `json:"in"`   // the clip frame in which it comes
	At   time.Duration `json:"atNs"` // in the recording
	UTC  time.Time     `json:"utc"`
}
