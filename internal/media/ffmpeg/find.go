// Package ffmpeg finds the ffmpeg binary, asks it what it can do, and reads
// what it writes: its version, its listings, its progress and its last words.
// ffprobe is not needed. What is encoded, and with which arguments, is not
// decided here.
package ffmpeg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/install"
)

// EnvPath is the environment variable that names the binary instead of PATH.
const EnvPath = "PROOFREEL_FFMPEG"

// probeTimeout bounds one question to the binary. An answer takes about 0.1 s;
// the bound is for a binary that hangs.
const probeTimeout = 30 * time.Second

// NotFoundError says that there is no ffmpeg. It unwraps to a *fault.Error.
type NotFoundError struct {
	Looked string // where it was looked for
	Hint   string // how to install it here
	Err    error
}

func (e *NotFoundError) Error() string { return e.fault().Message }

func (e *NotFoundError) Unwrap() []error { return []error{e.fault(), e.Err} }

func (e *NotFoundError) fault() *fault.Error {
	return fault.New(fault.MissingTool, e.Hint, "ffmpeg was not found in %s", e.Looked)
}

// BrokenError says that the binary does not answer as ffmpeg does. It unwraps
// to a *fault.Error.
type BrokenError struct {
	Path string
	Hint string
	Tail string // the last lines that it wrote
	Err  error
}

func (e *BrokenError) Error() string { return e.fault().Message }

func (e *BrokenError) Unwrap() []error { return []error{e.fault(), e.Err} }

func (e *BrokenError) fault() *fault.Error {
	said := ""
	if e.Tail != "" {
		said = ": " + e.Tail
	}
	return fault.New(fault.MissingTool, e.Hint, "%s does not work: %v%s", e.Path, e.Err, said)
}

// Find gives the absolute path of the ffmpeg binary: what PROOFREEL_FFMPEG
// names, else the first in PATH. The error is a *NotFoundError.
func Find() (string, error) {
	name, looked := "ffmpeg", "PATH"
	if v := os.Getenv(EnvPath); v != "" {
		name, looked = v, EnvPath+"="+v
	}
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", &NotFoundError{Looked: looked, Hint: install.Detect().Hint(install.FFmpeg), Err: err}
	}
	return path, nil
}

// ask runs the binary for one answer on stdout.
func ask(parent context.Context, path string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(parent, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe open
	var out bytes.Buffer
	tail := NewTail(5)
	cmd.Stdout, cmd.Stderr = &out, tail
	err := cmd.Run()
	if cause := parent.Err(); err != nil && cause != nil {
		return nil, fmt.Errorf("ask %s %v: %w", path, args, cause)
	}
	if cause := ctx.Err(); err != nil && cause != nil {
		err = fmt.Errorf("no answer to %v: %w", args, cause)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, &BrokenError{Path: path, Hint: install.Detect().Hint(install.FFmpeg), Tail: tail.String(), Err: err}
	}
	return out.Bytes(), nil
}
