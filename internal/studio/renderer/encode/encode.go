// Package encode makes a verified MP4 of frames that somebody draws.
//
// A film is cut into stretches by a rule that looks at the film alone. Each is
// encoded by an ffmpeg of its own with one thread, several side by side, and
// lies in a folder until all are there; then they are joined without encoding.
// So the film's bytes depend neither on the machine nor on what was interrupted
// meanwhile, all processors are used, and what a crash costs are the stretches
// in the making.
//
// What lives here: scheduling, the encoders, stretches on disk, the join, the
// choice of the poster. What does not: browsers and scenes (frames come from a
// Source), boxes and bitstreams (media/film, media/mp4, media/h264), how a film
// is judged (media/verify).
package encode

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/profile"
)

// Frame is one drawn picture.
type Frame struct {
	// Pix holds rows of B, G, R and an unused byte for each pixel, full range
	// R'G'B', Stride bytes apart. It is valid during the call that hands it over.
	Pix           []byte
	Stride        int
	Width, Height int // pixels
}

// Source draws frames.
type Source interface {
	// Workers is how many calls of Frames may run at a time, 1 or more.
	Workers() int
	// Frames draws the frames from (inclusive) to (exclusive) and hands each to
	// use, in order, in the caller's goroutine or in another, one at a time. An
	// error of use ends it. worker is 0 to Workers()-1; two calls at a time have
	// two numbers. The same frame has the same pixels whoever draws it.
	Frames(ctx context.Context, worker, from, to int, use func(frame int, f Frame) error) error
}

// Limits of a film.
const (
	MinSide   = 16
	MaxSide   = 8192
	MaxFPS    = 240
	MaxFrames = 1 << 20
)

// Options say what film is made, and how.
type Options struct {
	// Width and Height are even, MinSide to MaxSide pixels; FPS is in whole
	// frames a second, 1 to MaxFPS; Frames is the length, 1 to MaxFrames.
	Width, Height, FPS, Frames int

	// Quality is empty for profile.Standard. Preset and CRF (1 to 51) replace
	// the quality's own where they are not zero: for measurements against others.
	Quality profile.Quality
	Preset  string
	CRF     int

	// Key names the pixels: a hash of the scene and all that changes what it
	// draws. Two films with one Key and the same settings are the same film.
	Key string
	// Work is the directory in which unfinished films are kept, each in a folder
	// of its own below it. It is made when it is missing.
	Work string
	// Out is the film's path. What is there is replaced at the very end, when
	// the new film is verified. Poster is the path of its JPEG, another than Out;
	// empty: none.
	Out, Poster string

	// Parallel is how many encoders run at a time; 0: one for each processor.
	Parallel int
	// FFmpeg is the binary's path. Spawn starts it.
	FFmpeg string
	Spawn  *proc.Spawner
	// Patience is for how long an encoder may show no movement at all before it
	// is given up; 0: 30 s.
	Patience time.Duration

	// Progress is told how many of all frames went into encoders so far, those
	// of reused stretches included. It is called from several goroutines, one at
	// a time, and done never falls. It may be nil.
	Progress func(done, total int)
	Log      *slog.Logger // nil: none
}

// Result is what was made.
type Result struct {
	Frames    int
	Repeats   int // of the frames, those that equal the one before and were not encoded
	Stretches int
	Reused    int // of the stretches, those that an interrupted render had left
	Size      int64
	SHA256    string // of the film, in hexadecimal
	// PosterFrame is the frame that was chosen to stand for the film.
	PosterFrame int
}

// Film draws, encodes, joins, verifies and installs a film.
//
// On error nothing was changed at Out, no process is left, and finished
// stretches lie in Work, from which the next call with the same options goes on.
// The error is the Source's own, wrapped, when that failed; an *EncoderError
// when an encoder died, hung or gave something else than was asked; else, but
// for the context's end and programming errors, it has a fault's code:
// invalid_value, render_busy, disk_full, out_unwritable, state_unwritable,
// encode_failed (the check of the film was killed), verify_failed.
func Film(ctx context.Context, o Options, src Source) (Result, error) {
	o, err := o.complete()
	if err != nil {
		return Result{}, err
	}
	if err := writable(o.Out, o.Poster); err != nil {
		return Result{}, err
	}
	w, err := openWork(o)
	if err != nil {
		return Result{}, err
	}
	defer w.close()

	f := newFilm(o, w, src)
	if err := f.encode(ctx); err != nil {
		return Result{}, err
	}
	res, err := f.install(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := w.remove(); err != nil {
		o.Log.Warn("the folder of finished stretches could not be removed", "err", err)
	}
	return res, nil
}

// complete fills in what was left out and checks the rest.
func (o Options) complete() (Options, error) {
	if o.Parallel == 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Quality == "" {
		o.Quality = profile.Standard
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if _, ok := profile.Render(o.Quality); !ok {
		return o, invalid("quality", "%q is none of %v", o.Quality, profile.Qualities())
	}
	side := func(n int) bool { return n >= MinSide && n <= MaxSide && n%2 == 0 }
	switch {
	case !side(o.Width) || !side(o.Height):
		return o, invalid("size", "%dx%d: both sides must be even, %d to %d pixels", o.Width, o.Height, MinSide, MaxSide)
	case o.FPS < 1 || o.FPS > MaxFPS:
		return o, invalid("frame rate", "%d frames a second: it must be 1 to %d", o.FPS, MaxFPS)
	case o.Frames < 1 || o.Frames > MaxFrames:
		return o, invalid("length", "%d frames: it must be 1 to %d", o.Frames, MaxFrames)
	case o.CRF < 0 || o.CRF > 51:
		return o, invalid("CRF", "%d: it must be 1 to 51", o.CRF)
	case o.Parallel < 0:
		return o, invalid("number of encoders", "%d", o.Parallel)
	case o.Key == "" || o.Work == "" || o.Out == "" || o.FFmpeg == "" || o.Spawn == nil:
		return o, fmt.Errorf("encode: Key, Work, Out, FFmpeg and Spawn must be given: %+v", o)
	}
	return o, nil
}

func invalid(what, format string, args ...any) error {
	return fault.New(fault.InvalidValue, "", "The film's "+what+" is not allowed: "+format, args...)
}

// profile is what the encoders are told.
func (o Options) profile() profile.Film {
	p, _ := profile.Render(o.Quality) // checked in complete
	if o.Preset != "" {
		p.Preset = o.Preset
	}
	if o.CRF != 0 {
		p.CRF = o.CRF
	}
	return p
}
