// Package capture turns a display into encoded frames on the fps grid.
//
// An [Engine] films one display until its context ends and hands every
// encoded picture to a [Sink]. Engines live in the packages below this one:
// grab (ffmpeg's own grabbers) and x11 (damage and shared memory). What
// happens to the frames afterwards (segments, verification, the film) is not
// decided here, and no engine knows where its frames are kept.
package capture

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/segment"
)

// Target is the part of a display that is filmed.
type Target struct {
	Display    string // X11 display name, for instance ":7"
	Xauthority string // path of the cookie file; empty: the environment's
	Width      int    // pixels, as the display has them; may be odd
	Height     int
}

// Config is everything that an engine needs for one run.
type Config struct {
	Target
	FPS      int  // rate of the grid, 1 to 60; tick n is the time n/FPS after the epoch
	Adaptive bool // the engine may skip ticks when the machine is short of CPU
	Cursor   bool // draw the pointer into the picture
	Keys     bool // name keys that type nothing, and shortcuts, to an InputSink

	// Now is the time since the recording's epoch. It never jumps with the
	// wall clock and it counts the time that the machine was suspended.
	Now func() time.Duration

	FFmpeg string   // path of the ffmpeg binary
	Encode []string // ffmpeg's encoder arguments for this profile (profile.Video.Args)

	Spawn *proc.Spawner // starts every child of the engine
	Log   *slog.Logger
}

// Tick is the grid position of the time t since the epoch: the last tick that
// is not after t.
func (c Config) Tick(t time.Duration) int64 {
	return int64(t) * int64(c.FPS) / int64(time.Second)
}

// Sink takes what an engine makes. Calls come from one goroutine at a time;
// ticks rise strictly over all calls of Frame. An error ends the run.
type Sink interface {
	// Header gives the parameter sets, before the first frame and again
	// whenever the encoder was started anew.
	Header(sps, pps []byte) error
	// Frame takes one encoded picture. Its Data is the sink's to keep.
	Frame(segment.Frame) error
	// Hold says that the screen has not changed since the last frame, which
	// was a keyframe, up to and including tick. It comes about once a second
	// while the screen is still, so that what is on disk reaches as far as
	// the film does.
	Hold(tick int64) error
	// Change logs which parts of the screen changed, as the engine learned it.
	Change(Change) error
	// Event reports something that the verdict must mention: a lowered rate,
	// a fallback, a changed geometry.
	Event(Event)
}

// Change is one entry of the damage log: at At, the rectangles changed.
type Change struct {
	At    time.Duration // since the epoch
	Rects []Rect
}

// Rect is a rectangle of the display in pixels.
type Rect struct{ X, Y, W, H int }

// Event is something that happened to the capture and that a reader of the
// verdict should know.
type Event struct {
	At     time.Duration // since the epoch
	Kind   EventKind
	Detail string
}

// EventKind names what happened.
type EventKind string

// The kinds of events.
const (
	EventDropped  EventKind = "dropped"  // frames were dropped because the encoder was behind
	EventRate     EventKind = "rate"     // the rate was lowered or raised (adaptive)
	EventGeometry EventKind = "geometry" // the display changed its size
	EventFallback EventKind = "fallback" // a slower way of capture was taken
)

// Stats are an engine's counters. They only rise.
type Stats struct {
	Captured int64 // frames handed to the encoder
	Distinct int64 // of these, frames whose pixels differ from the one before (0: the engine can't tell)
	Dropped  int64 // frames that were due and were dropped
}

// Engine films one display.
type Engine interface {
	// Name is the engine's stable name, for instance "x11-damage" or "x11grab".
	Name() string
	// How says in words by which means the engine films, for instance "X DAMAGE
	// with pixels through MIT-SHM". Once the first frame has reached the sink it
	// is what this run really does. It may be called from any goroutine.
	How() string
	// Run films until ctx ends, then drains the encoder so that every frame
	// taken before has reached the sink, and returns nil. It returns early
	// with *DisplayLostError when the display is gone, with *EncoderError
	// when the encoder died, or with the sink's error. All children and
	// goroutines have ended when it returns. Run may be called again after it
	// returned.
	Run(ctx context.Context, cfg Config, sink Sink) error
	// Stats may be called at any time, from any goroutine.
	Stats() Stats
}

// DisplayLostError says that the display went away.
type DisplayLostError struct {
	Display string
	Err     error
}

func (e *DisplayLostError) Error() string {
	return fmt.Sprintf("display %s was lost: %v", e.Display, e.Err)
}

func (e *DisplayLostError) Unwrap() error { return e.Err }

// EncoderError says that the encoder process ended or failed on its own.
type EncoderError struct {
	Err  error
	Tail string // the last lines that the encoder wrote to stderr
}

func (e *EncoderError) Error() string {
	if e.Tail == "" {
		return fmt.Sprintf("the encoder ended: %v", e.Err)
	}
	return fmt.Sprintf("the encoder ended: %v: %s", e.Err, e.Tail)
}

func (e *EncoderError) Unwrap() error { return e.Err }
