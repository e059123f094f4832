// Package page writes what goes with a clip: the HTML page, WebVTT, the JSON
// transcript and the contact sheet, all from one description of the clip. It
// opens no file and decodes no film.
package page

import (
	"fmt"
	"time"

	"github.com/proofreel/proofreel/internal/media/typeset"
)

// Outcome is how a step ended.
type Outcome int

// The ends of a step.
const (
	Open   Outcome = iota // no result was given
	Passed                // as it should be
	Failed                // wrong
)

// Clip describes a clip.
type Clip struct {
	// Title stands at the top; the recording's name.
	Title string
	// Video, Poster, Transcript are names of files beside the page; without
	// folders. Poster and Transcript may be empty.
	Video, Poster, Transcript string
	// Width and Height of the video in pixels.
	Width, Height int
	// Size of the video in bytes; 0 when not known.
	Size int64
	// Length of the clip, of the recording, and how much of it was cut out.
	Length, Recording, Cut time.Duration
	// Speed is 1, 2 or 4.
	Speed int
	// Started is when the recording began.
	Started time.Time
	// Steps in the order of the clip.
	Steps []Step
}

// Step is a step with its result.
type Step struct {
	Name    string
	Result  string
	Outcome Outcome
	// From and To are the step's stretch of the clip.
	From, To time.Duration
	// ResultAt is the clip time of the result; meaningless when Open.
	ResultAt time.Duration
	// At is the step's time in the recording, ResultIn that of its result.
	At, ResultIn time.Duration
	// Changes are what changed on the screen during the step.
	Changes []Change
}

// Change is a stretch of the recording in which a part of the screen changed.
type Change struct {
	From, To time.Duration // in the recording
	// X, Y, Width, Height bound what changed, in pixels of the recording.
	X, Y, Width, Height int
}

// maxText is how many characters of a text are kept anywhere.
const maxText = 2000

// count returns how many steps passed and failed.
func (c Clip) count() (passed, failed int) {
	for _, s := range c.Steps {
		switch s.Outcome {
		case Passed:
			passed++
		case Failed:
			failed++
		case Open:
		}
	}
	return passed, failed
}

// clock writes a time as people read it: 0:07, 12:30, 1:02:03.
func clock(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

func plain(text string, limit int) string { return typeset.Plain(text, min(limit, maxText)) }
