package h264

import (
	"errors"
	"fmt"
)

// ErrNoPicture is returned when a picture is to be repeated before there was one.
var ErrNoPicture = errors.New("h264: no picture to repeat")

// ErrNotStill is returned by [Sequencer.IDR] when pictures other than repeats
// came after the last IDR picture, so that showing it again would show the past.
var ErrNotStill = errors.New("h264: the picture is no longer that of the last IDR")

// UnsupportedError says that a stream is legal but uses a feature under which
// this package cannot prove its rewriting right.
type UnsupportedError struct {
	// Feature names the feature in the words of the standard.
	Feature string
}

func (e *UnsupportedError) Error() string { return "h264: unsupported: " + e.Feature }

func unsupported(format string, args ...any) error {
	return &UnsupportedError{Feature: fmt.Sprintf(format, args...)}
}

// SyntaxError says that bytes are not the H.264 structure they were taken for.
type SyntaxError struct {
	// What names the structure being read, Reason the fault found in it.
	What, Reason string
}

func (e *SyntaxError) Error() string { return "h264: bad " + e.What + ": " + e.Reason }

func malformed(what, format string, args ...any) error {
	return &SyntaxError{What: what, Reason: fmt.Sprintf(format, args...)}
}

// GapError says that a picture's frame_num does not follow the one before it:
// a picture of the source is missing or came out of order.
type GapError struct {
	Got, Want uint32
}

func (e *GapError) Error() string {
	return fmt.Sprintf("h264: frame_num %d where %d was due: a picture is missing", e.Got, e.Want)
}
