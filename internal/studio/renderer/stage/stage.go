// Package stage draws the frames of a scene in a browser of its own and hands
// their pixels to the host.
//
// A scene of kind 2d or webgl is drawn by workers, each in a realm of its own,
// onto an OffscreenCanvas; the pixels come through a file in the browser's
// profile that both sides have open (ring.go), so no frame is encoded,
// compressed or sent as a message on its way. A scene of kind dom is drawn in
// pages. What becomes of the frames is not known here.
package stage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// Defaults of Config.
const (
	DefaultFrameTimeout = 10 * time.Second
	DefaultLoadTimeout  = 20 * time.Second
	// slots is how many frames a worker may be ahead of the host.
	slots = 3
)

// Config says which scene is drawn, and by what. Bundle is needed.
type Config struct {
	Bundle *scene.Bundle
	// Fonts are the only fonts that the scene sees.
	Fonts scene.FontSet
	// Style takes the place of meta's; "" leaves it. It must be one of
	// scene.StyleNames.
	Style string
	// Workers is how many frames are drawn at a time; 0 is one. A sequential
	// scene has one worker whatever is asked for.
	Workers int
	// FrameTimeout is the longest that one frame may take, LoadTimeout the
	// longest that the scene may take to load and set up; 0 is the default.
	FrameTimeout, LoadTimeout time.Duration
	// Memory is the most that the browser may take, in bytes; 0 is no limit.
	// The frames on their way are not in it: see Scratch.
	Memory int64
	// Program is the browser; zero: the one that chromium.Find finds.
	Program chromium.Program
	// Scratch is the folder in which the browser's profile and with it the
	// frames on their way are kept, about 3 frames for each worker; "": one in
	// memory when there is room, else the system's for temporary files.
	Scratch string
	Log     *slog.Logger // nil: nothing is logged

	way way // for tests: the slower ways for pixels
}

// Frame is the pixels of one frame: BGRX rows from the top, Stride bytes apart.
// The fourth byte of a pixel has no meaning. Pix is valid only until the
// callback returns and must not be changed.
type Frame struct {
	Pix                   []byte
	Stride, Width, Height int
	// Cost is how long the worker took to draw the frame and copy its pixels,
	// by the clock on the wall.
	Cost time.Duration
}

// Stage is an opened scene. Its methods may be called from several goroutines.
type Stage struct {
	cfg     Config
	log     *slog.Logger
	folder  *folder
	dir     string // its path: the browser's profile
	spawn   *proc.Spawner
	browser *chromium.Browser
	page    *chromium.Session
	meta    scene.Meta
	lanes   []*worker
	locks   []sync.Mutex // one for each lane

	mu    sync.Mutex
	notes []scene.Note
	noted map[scene.Note]bool
	told  map[failed]bool // mistakes that are errors, and so no notes

	closing sync.Once
}

// Open starts a browser, loads the scene in it and sets it up. The errors are
// faults: those of the scene, browser_missing, browser_failed; or the
// context's cause. On error nothing is left.
func Open(ctx context.Context, cfg Config) (*Stage, error) {
	if cfg.FrameTimeout == 0 {
		cfg.FrameTimeout = DefaultFrameTimeout
	}
	if cfg.LoadTimeout == 0 {
		cfg.LoadTimeout = DefaultLoadTimeout
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Workers = max(cfg.Workers, 1)
	if cfg.Program.Path == "" {
		var err error
		if cfg.Program, err = chromium.Find(nil); err != nil {
			return nil, missing(err)
		}
	}
	kind := guessKind(cfg.Bundle.Code)
	s, err := open(ctx, cfg, kind)
	var other *otherKindError
	if errors.As(err, &other) {
		cfg.Log.Debug("the scene is of another kind than it looked", "looked", kind, "is", other.kind)
		s, err = open(ctx, cfg, other.kind)
	}
	return s, err
}

// open opens the scene in a browser for one kind.
func open(ctx context.Context, cfg Config, kind scene.Kind) (*Stage, error) {
	s := &Stage{cfg: cfg, log: cfg.Log, noted: map[scene.Note]bool{}, told: map[failed]bool{}}
	if err := s.start(ctx, kind); err != nil {
		_ = s.Close()
		return nil, s.explain(err, scene.NoFrame)
	}
	return s, nil
}

func (s *Stage) start(ctx context.Context, kind scene.Kind) error {
	var err error
	if s.folder, err = newFolder(scratch(s.cfg.Scratch)); err != nil {
		return err
	}
	s.dir = s.folder.path
	s.spawn = proc.NewSpawner()
	if err := s.launch(ctx, kind); err != nil {
		return err
	}
	return s.startWorkers(ctx, kind)
}

// Meta is what the scene says of itself.
func (s *Stage) Meta() scene.Meta { return s.meta }

// Workers is how many calls of Frames can draw at the same time.
func (s *Stage) Workers() int { return len(s.lanes) }

// Browser names the browser and its version.
func (s *Stage) Browser() (name, version string) {
	return s.cfg.Program.Name(), s.browser.Version()
}

// Frames has worker 0..Workers()-1 draw the frames from..to-1 and calls use for
// each, in order, while it draws ahead. It returns when all are used, with the
// error of use, the context's cause, or a fault that names the frame. After a
// fault of the kind scene_threw the worker can go on; after a hung frame, too
// much memory, or the browser's death, every later call gives the same fault.
func (s *Stage) Frames(ctx context.Context, worker, from, to int, use func(frame int, f Frame) error) error {
	if worker < 0 || worker >= len(s.lanes) {
		return fmt.Errorf("draw frames: there is no worker %d of %d", worker, len(s.lanes))
	}
	if from < 0 || to > s.meta.Frames() || from > to {
		return fmt.Errorf("draw frames: %d to %d are not in a film of %d", from, to, s.meta.Frames())
	}
	if from == to {
		return nil
	}
	s.locks[worker].Lock()
	defer s.locks[worker].Unlock()
	return s.lanes[worker].frames(ctx, from, to, use)
}

// Notes are what the author should know so far: what the scene wrote to the
// console, requests that were refused, and the like; each once.
func (s *Stage) Notes() []scene.Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]scene.Note(nil), s.notes...)
}

// mostNotes bounds what a scene that warns in every frame can make us keep.
const mostNotes = 200

func (s *Stage) note(n scene.Note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := n
	key.Frame = 0 // the same in many frames is one
	if s.noted[key] || s.told[failed{n.Code, n.Text}] || len(s.notes) >= mostNotes {
		return
	}
	s.noted[key] = true
	s.notes = append(s.notes, n)
}

// failed is a mistake by its code and its text.
type failed struct{ code, text string }

// tell takes a mistake out of the notes, where it stands so that a scene can't
// catch and forget it: now it is the error, and would be named twice.
func (s *Stage) tell(f failed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[f] = true
	s.notes = slices.DeleteFunc(s.notes, func(n scene.Note) bool { return failed{n.Code, n.Text} == f })
}

// Close ends the browser and removes all that was kept for it. It may be
// called again, and while Frames runs, which then gives an error; but not from
// within use, for whose return it waits.
func (s *Stage) Close() error {
	var err error
	s.closing.Do(func() {
		if s.browser != nil {
			err = s.browser.Close()
		}
		for i, l := range s.lanes {
			if i < len(s.locks) { // there are none when Open failed
				s.locks[i].Lock() // who still reads a frame has its time
				defer s.locks[i].Unlock()
			}
			l.close()
		}
		if s.spawn != nil {
			s.spawn.Close()
		}
		if s.folder != nil {
			if rm := s.folder.remove(); rm != nil {
				err = errors.Join(err, fault.Wrap(rm, fault.CleanupFailed, "Remove the folder "+s.dir+".", "the browser's folder is left"))
			}
		}
	})
	return err
}
