package renderer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/renderer/stage"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// Studio is what drawing needs of this machine.
type Studio struct {
	FFmpeg  string           // the program's path
	Browser chromium.Program // what draws
	Spawn   *proc.Spawner
	// State keeps unfinished films until the same render goes on; Cache keeps
	// the fonts, unpacked. Both are made when they are missing.
	State, Cache string
	// Scratch is where a browser's profile lies while it runs, with the frames on
	// their way; empty: in memory when there is room, else among the temporary
	// files.
	Scratch string
	Log     *slog.Logger
}

// Source is a scene and how it is drawn; every call takes one.
type Source struct {
	Scene string // the scene's file, or the folder that holds its scene.js
	Style string // in place of the style that the scene names; empty: that one
	// Workers is how many frames are drawn side by side; 0: as many as the
	// processors and Memory allow. No pixel depends on it.
	Workers int
	// FrameTimeout bounds one frame; 0: 10 s. Loading and setup get twice that,
	// and 5 s at least.
	FrameTimeout time.Duration
	// Memory is the most that the browser may take, in bytes; 0: 4 GiB, or half
	// of the machine's memory when that is less.
	Memory int64
}

const (
	defaultMemory = 4 << 30
	workerMemory  = 250 << 20       // what a worker takes at 1080p, with its share of the browser
	leastLoad     = 5 * time.Second // a browser that is slow to start must not fail for a short frame timeout
)

// machineMemory is the memory of this machine, in bytes.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return defaultMemory
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// complete fills in what was left out.
func (s Source) complete(processors int, memory int64) Source {
	if s.Memory == 0 {
		s.Memory = min(defaultMemory, memory/2)
	}
	if s.Workers == 0 {
		s.Workers = max(1, min(processors, int(s.Memory/workerMemory)))
	}
	if s.FrameTimeout == 0 {
		s.FrameTimeout = stage.DefaultFrameTimeout
	}
	return s
}

// open starts the browser and the scene in it. Close what it gives. Targets are
// the files that are going to be made, as far as their names are known: none of
// them may be a file of the scene. Which assets it has is known only once it
// runs.
func (s *Studio) open(ctx context.Context, src Source, b *scene.Bundle, targets ...target) (*stage.Stage, error) {
	if err := checkInputs(b, scene.Meta{}, targets...); err != nil {
		return nil, err
	}
	src = src.complete(runtime.GOMAXPROCS(0), machineMemory())
	fonts, err := scene.Fonts(s.Cache)
	if err != nil {
		return nil, fontsFault(err, s.Cache)
	}
	st, err := stage.Open(ctx, stage.Config{
		Bundle: b, Fonts: fonts, Style: src.Style, Workers: src.Workers,
		FrameTimeout: src.FrameTimeout, LoadTimeout: max(2*src.FrameTimeout, leastLoad),
		Memory: src.Memory, Program: s.Browser, Scratch: s.Scratch, Log: s.Log,
	})
	if err != nil {
		return nil, openFault(err)
	}
	if err := checkInputs(b, st.Meta(), targets...); err != nil {
		_ = st.Close()
		return nil, err
	}
	return st, nil
}

// Open loads a scene and opens it: for those who want its frames and none of
// what this package makes of them. Close what it gives.
func (s *Studio) Open(ctx context.Context, src Source) (*stage.Stage, error) {
	b, err := scene.Load(src.Scene)
	if err != nil {
		return nil, err //nolint:wrapcheck // it is the user's error already
	}
	return s.open(ctx, src, b)
}

// limited bounds a context; 0 is no bound.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// baseName is what a scene's results are called: its file's name, or that of
// its folder where all files have the same.
func baseName(b *scene.Bundle) string {
	name := strings.TrimSuffix(b.File, filepath.Ext(b.File))
	if name == "scene" || name == "index" {
		name = filepath.Base(b.Dir)
	}
	return name
}

// outFault explains an error of writing a result.
func outFault(err error, path string) error {
	if err == nil {
		return nil
	}
	if full(err) {
		return fault.Wrap(err, fault.DiskFull, "Free some space.", "%s can't be written", path)
	}
	return fault.Wrap(err, fault.OutUnwritable, "Name a file in a folder that you may write.", "%s can't be written", path)
}

// full tells whether err says that a disk, or this user's part of it, is full.
func full(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// fontsFault explains an error of unpacking the fonts.
func fontsFault(err error, cache string) error {
	var system unix.Errno
	switch {
	case full(err):
		return fault.Wrap(err, fault.DiskFull, "Free some space, or name another folder in XDG_CACHE_HOME.", "the fonts can't be unpacked in %s", cache)
	case errors.As(err, &system):
		return fault.Wrap(err, fault.StateUnwritable, "Make it writable, or name another folder in XDG_CACHE_HOME.", "the fonts can't be unpacked in %s", cache)
	default:
		return fmt.Errorf("unpack the fonts: %w", err)
	}
}

// openFault explains an error of starting the browser: it needs a folder.
func openFault(err error) error {
	if full(err) && fault.As(err).Code != fault.DiskFull {
		return fault.Wrap(err, fault.DiskFull, "Free some space where temporary files are kept (TMPDIR), or in /dev/shm.", "there is no space for the browser's files")
	}
	return err
}

// writeFile puts a whole file in place, or none.
func writeFile(path string, raw []byte) error {
	return outFault(renameio.WriteFile(path, raw, 0o644, renameio.WithTempDir(filepath.Dir(path))), path)
}

// frameAt is the frame that is shown at a time of a film.
func frameAt(m scene.Meta, seconds float64) (int, error) {
	n := int(seconds*float64(m.FPS) + 1e-6) // 1.4 s at 30 fps is frame 42, though 1.4*30 is less
	if last := m.Frames() - 1; n == last+1 && seconds <= m.Duration {
		n = last // the end of the film
	}
	if n < 0 || n >= m.Frames() {
		return 0, fault.New(fault.InvalidValue, fmt.Sprintf("Take 0 to %g.", m.Duration), "there is no frame at %g s: the film has %g s", seconds, m.Duration)
	}
	return n, nil
}
