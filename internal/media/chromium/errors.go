package chromium

import (
	"errors"
	"fmt"
	"strings"
)

// ErrClosed is the end of a browser that was closed.
var ErrClosed = errors.New("the browser was closed")

// ErrNotFound says that this machine has no Chromium.
var ErrNotFound = errors.New("no Chromium was found")

// StartError says why the browser did not start.
type StartError struct {
	Program string
	Err     error
	Tail    string // the end of what it had to say
}

func (e *StartError) Error() string {
	return withTail(fmt.Sprintf("start %s: %v", e.Program, e.Err), e.Tail)
}

func (e *StartError) Unwrap() error { return e.Err }

// DiedError says that the browser ended by itself, or was killed by another.
type DiedError struct {
	Exit error  // how; nil: with exit status 0
	Tail string // the end of what it had to say
}

func (e *DiedError) Error() string {
	how := "with exit status 0"
	if e.Exit != nil {
		how = e.Exit.Error()
	}
	return withTail("the browser died: "+how, e.Tail)
}

func (e *DiedError) Unwrap() error { return e.Exit }

// MemoryError says that the browser was ended because it took too much memory.
type MemoryError struct{ Used, Limit int64 } // bytes

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the browser took %d MB of memory, %d MB are allowed", e.Used>>20, e.Limit>>20)
}

// ProtocolError is the browser's refusal of a command.
type ProtocolError struct {
	Method  string
	Code    int
	Message string
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("%s: %s", e.Method, e.Message) }

// ScriptError is what a script threw.
type ScriptError struct {
	// Text is the stack, which begins with the message, when an Error was
	// thrown; else the thrown value in words.
	Text string
}

// Message is the first line.
func (e *ScriptError) Message() string {
	first, _, _ := strings.Cut(e.Text, "\n")
	return first
}

func (e *ScriptError) Error() string { return e.Message() }

func withTail(s, tail string) string {
	if tail == "" {
		return s
	}
	return s + ": " + strings.ToValidUTF8(tail, "?")
}
