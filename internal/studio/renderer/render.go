package renderer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/studio/renderer/encode"
	"github.com/proofreel/proofreel/internal/studio/renderer/stage"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// RenderOptions say what film is made of which scene.
type RenderOptions struct {
	Source
	// Out is the film's path, which ends in .mp4, Poster that of its JPEG, which
	// ends in .jpg or .jpeg. An empty Out is the scene's name with .mp4 in the
	// working directory; an empty Poster is none. What is there is replaced,
	// unless the scene is made of it: that is an error (invalid_value).
	Out, Poster string
	// Quality is empty for profile.Standard. Preset and CRF replace its own
	// where they are not zero: for measurements against others.
	Quality profile.Quality
	Preset  string
	CRF     int
	// Timeout is for all of it; 0: no limit.
	Timeout time.Duration
	// Progress is told how many of all frames are in encoders. It may be nil.
	Progress func(done, total int)
}

// RenderResult is the answer of render.
type RenderResult struct {
	Scene       string            `json:"scene"`
	Path        string            `json:"path"`
	Width       int               `json:"width"`
	Height      int               `json:"height"`
	FPS         int               `json:"fps"`
	Frames      int               `json:"frames"`
	Seconds     float64           `json:"seconds"`
	Bytes       int64             `json:"bytes"`
	SHA256      string            `json:"sha256"`
	Quality     profile.Quality   `json:"quality"`
	Poster      string            `json:"poster,omitempty"`
	PosterFrame int               `json:"posterFrame"`
	Stretches   int               `json:"stretches"` // parts in which it was encoded
	Reused      int               `json:"reused"`    // of them, those that an interrupted render had left
	Repeats     int               `json:"repeats"`   // frames that equal the one before
	Workers     int               `json:"workers"`
	Took        float64           `json:"took"`     // seconds
	Restarts    int               `json:"restarts"` // times that the browser or an ffmpeg died and was started again
	Notes       []scene.Note      `json:"notes"`
	Verdict     recording.Verdict `json:"verdict"` // complete: every frame was decoded again
}

// Render makes a film. An interrupted one goes on with the same call: finished
// stretches are kept until the film is there. A browser or an ffmpeg that dies
// is started again, and only the frames in the making are drawn anew.
func (s *Studio) Render(ctx context.Context, o RenderOptions) (RenderResult, error) {
	began := time.Now()
	if err := checkNames(filmTarget(o.Out), posterTarget(o.Poster)); err != nil {
		return RenderResult{}, err
	}
	ctx, cancel := limited(ctx, o.Timeout)
	defer cancel()
	b, err := scene.Load(o.Scene)
	if err != nil {
		return RenderResult{}, err //nolint:wrapcheck // it is the user's error already
	}
	if o.Out == "" {
		o.Out = baseName(b) + ".mp4"
	}
	var res RenderResult
	restarts, err := s.lasting(ctx, func() (err error) {
		res, err = s.film(ctx, b, o)
		return err
	})
	if err != nil {
		return RenderResult{}, s.renderFault(ctx, o, err)
	}
	res.Restarts, res.Took = restarts, time.Since(began).Seconds()
	return res, nil
}

// film makes the film with one browser.
func (s *Studio) film(ctx context.Context, b *scene.Bundle, o RenderOptions) (RenderResult, error) {
	st, err := s.open(ctx, o.Source, b, filmTarget(o.Out), posterTarget(o.Poster))
	if err != nil {
		return RenderResult{}, err
	}
	defer func() { _ = st.Close() }()
	m := st.Meta()
	key, err := b.Key(m)
	if err != nil {
		return RenderResult{}, fmt.Errorf("name the film: %w", err)
	}
	drawn := &frames{Stage: st}
	made, err := encode.Film(ctx, encode.Options{
		Width: m.Width, Height: m.Height, FPS: m.FPS, Frames: m.Frames(),
		Quality: o.Quality, Preset: o.Preset, CRF: o.CRF,
		// What draws decides about pixels too: another version may hint a letter
		// in another way.
		Key:  key + " " + drawnBy(st) + " " + o.Style,
		Work: filepath.Join(s.State, "renders"), Out: o.Out, Poster: o.Poster,
		FFmpeg: s.FFmpeg, Spawn: s.Spawn,
		Progress: o.Progress, Log: s.Log,
	}, drawn)
	if err != nil {
		return RenderResult{}, err //nolint:wrapcheck // it is the user's error already, or the browser's
	}
	said := notes(st)
	if slow, ok := drawn.slow(); ok {
		said = append(said, slow)
	}
	return RenderResult{
		Scene: o.Scene, Path: o.Out, Width: m.Width, Height: m.Height, FPS: m.FPS,
		Frames: made.Frames, Seconds: float64(made.Frames) / float64(m.FPS), Bytes: made.Size, SHA256: made.SHA256,
		Quality: cmp.Or(o.Quality, profile.Standard), Poster: o.Poster, PosterFrame: made.PosterFrame,
		Stretches: made.Stretches, Reused: made.Reused, Repeats: made.Repeats, Workers: st.Workers(),
		Notes: said, Verdict: recording.VerdictComplete, // Film has decoded every frame
	}, nil
}

func drawnBy(st *stage.Stage) string {
	name, version := st.Browser()
	return name + " " + version
}

// renderFault makes a clear error of one that broke a film off.
func (s *Studio) renderFault(ctx context.Context, o RenderOptions, err error) error {
	const again = "Run the same command again: it goes on where this one was."
	var own *fault.Error
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		e := fault.New(fault.RenderTimeout, again+" Or allow a longer --timeout.", "the film of %s was not ready after %v", o.Scene, o.Timeout)
		e.Err = err
		return e
	case ctx.Err() != nil:
		e := fault.New(fault.RenderInterrupted, again, "the render of %s was interrupted", o.Scene)
		e.Err = ctx.Err()
		return e
	case died(err):
		return diedFault(err, again, o.Scene)
	case errors.As(err, &own):
		return err
	default:
		return fmt.Errorf("render %s: %w", o.Scene, err)
	}
}
