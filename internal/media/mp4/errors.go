package mp4

import "fmt"

// FormatError says that a file is no MP4 of the kind this package reads, and
// where that shows.
type FormatError struct {
	// Box is the type of the box at fault, empty for the file as a whole.
	Box string
	// Offset is where in the file that box begins, in bytes; inside the moov
	// box it is the offset of moov.
	Offset int64
	// Reason is the fault.
	Reason string
	// Err is the error below, if there is one.
	Err error
}

func (e *FormatError) Error() string {
	where := "file"
	if e.Box != "" {
		where = fmt.Sprintf("box %q at byte %d", e.Box, e.Offset)
	}
	if e.Err != nil {
		return fmt.Sprintf("mp4: %s: %s: %v", where, e.Reason, e.Err)
	}
	return fmt.Sprintf("mp4: %s: %s", where, e.Reason)
}

func (e *FormatError) Unwrap() error { return e.Err }

func badBox(typ string, format string, args ...any) *FormatError {
	return &FormatError{Box: typ, Reason: fmt.Sprintf(format, args...)}
}

// TruncatedError says that the end of a fragmented file is torn, as it is
// after a kill. What came with it is whole and usable.
type TruncatedError struct {
	// Offset is where the whole part ends, in bytes from the start of the file.
	Offset int64
	// Dropped is the number of bytes after it.
	Dropped int64
	// Err is what was wrong with them.
	Err error
}

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("mp4: torn after byte %d, %d bytes dropped: %v", e.Offset, e.Dropped, e.Err)
}

func (e *TruncatedError) Unwrap() error { return e.Err }

// SampleError says that a sample's bytes are not what the index says.
type SampleError struct {
	// Index counts samples from 0 in decoding order.
	Index  int
	Reason string
	Err    error
}

func (e *SampleError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("mp4: sample %d: %s: %v", e.Index, e.Reason, e.Err)
	}
	return fmt.Sprintf("mp4: sample %d: %s", e.Index, e.Reason)
}

func (e *SampleError) Unwrap() error { return e.Err }
