package scene

import (
	"fmt"

	"github.com/proofreel/proofreel/internal/fault"
)

// Place is a position in one of the author's files: the path relative to the
// scene's folder, with slashes; line and column count from 1. The zero Place
// means that the position isn't known.
type Place struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// Known tells whether the place names a line.
func (p Place) Known() bool { return p.File != "" && p.Line > 0 }

// String gives file:line:column, the form that editors make a link of.
func (p Place) String() string {
	if !p.Known() {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// NoFrame is the Frame of what happened outside of any frame: while the scene
// was read, evaluated or set up.
const NoFrame = -1

// Note is something that the author should know and that stops nothing.
type Note struct {
	Code  string `json:"code"` // as a fault's, or "font_fallback", "text_newline", "console"
	Text  string `json:"text"`
	Frame int    `json:"frame"` // NoFrame outside of frames
	Place Place  `json:"place"`
}

// Failure is the cause that a scene's fault.Error wraps: the same as data, for
// callers that show the place themselves.
//
//nolint:errname // it is the cause, as data; the error that callers see is fault.Error
type Failure struct {
	Code  fault.Code
	Text  string
	Frame int // NoFrame outside of frames
	Place Place
	Hint  string
}

func (f *Failure) Error() string {
	text := f.Text
	if f.Place.File != "" {
		text = f.Place.String() + ": " + text
	}
	if f.Frame >= 0 {
		text = fmt.Sprintf("frame %d: %s", f.Frame, text)
	}
	return text
}

// Fault gives the failure as an error for the user.
func (f *Failure) Fault() *fault.Error {
	return &fault.Error{Code: f.Code, Message: f.Error(), Hint: f.Hint, Err: f}
}
