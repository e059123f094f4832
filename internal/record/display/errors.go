package display

import (
	"fmt"
	"strings"
)

// Part names what failed.
type Part string

// The parts of a display.
const (
	PartXvfb    Part = "Xvfb"
	PartOpenbox Part = "openbox"
	PartFiles   Part = "files"   // the cookie or the window manager's settings could not be written
	PartConnect Part = "connect" // the server runs and does not answer as it should
)

// StartError says which part of an own display did not start.
type StartError struct {
	Part Part
	Hint string // how to mend it; may be empty
	Tail string // the last lines that the part wrote to stderr
	Err  error
}

func (e *StartError) Error() string {
	s := fmt.Sprintf("start %s: %v", e.Part, e.Err)
	if tail := strings.TrimSpace(e.Tail); tail != "" {
		s += ": " + tail
	}
	return s
}

func (e *StartError) Unwrap() error { return e.Err }

// OpenReason is why a display can't be filmed.
type OpenReason string

// The reasons.
const (
	NoDisplay   OpenReason = "no display"          // nothing listens there, or the name is none
	Refused     OpenReason = "access refused"      // the server wants a cookie that we do not have
	Depth       OpenReason = "unsupported depth"   // the root window is not 24 bits deep
	Unanswered  OpenReason = "no answer"           // the server accepted and then said nothing
	WaylandOnly OpenReason = "wayland"             // a Wayland session without X11
	Unset       OpenReason = "no display is set"   // neither DISPLAY nor WAYLAND_DISPLAY
	NotLocal    OpenReason = "not on this machine" // a display reached over TCP
)

// OpenError says why a display that should be there can't be used.
type OpenError struct {
	Display string
	Reason  OpenReason
	Hint    string
	Err     error
}

func (e *OpenError) Error() string {
	s := string(e.Reason)
	if e.Display != "" {
		s = "display " + e.Display + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *OpenError) Unwrap() error { return e.Err }
