package renderer

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/renderer/stage"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// StillOptions say which frames are drawn.
type StillOptions struct {
	Source
	At []float64 // seconds
	// Out is a file that ends in .png or .jpg, for one frame, or a folder, which
	// is made when it is not there.
	Out string
}

// Still is one drawn frame.
type Still struct {
	Frame   int     `json:"frame"`
	Seconds float64 `json:"seconds"` // where the frame begins
	Path    string  `json:"path"`
}

// StillResult is the answer of still.
type StillResult struct {
	Scene  string       `json:"scene"`
	Width  int          `json:"width"`
	Height int          `json:"height"`
	Stills []Still      `json:"stills"` // in the order in which they were asked for
	Notes  []scene.Note `json:"notes"`
}

// Stills draws frames into files. Their pixels are those that a film is made of.
func (s *Studio) Stills(ctx context.Context, o StillOptions) (StillResult, error) {
	if err := o.checkOut(); err != nil {
		return StillResult{}, err
	}
	b, err := scene.Load(o.Scene)
	if err != nil {
		return StillResult{}, err //nolint:wrapcheck // it is the user's error already
	}
	o.Workers = 1 // starting another takes longer than drawing
	var res StillResult
	_, err = s.lasting(ctx, func() (err error) {
		res, err = s.stills(ctx, b, o)
		return err
	})
	return res, err
}

// stills draws them with one browser.
func (s *Studio) stills(ctx context.Context, b *scene.Bundle, o StillOptions) (StillResult, error) {
	st, err := s.open(ctx, o.Source, b)
	if err != nil {
		return StillResult{}, err
	}
	defer func() { _ = st.Close() }()
	m := st.Meta()
	res := StillResult{Scene: o.Scene, Width: m.Width, Height: m.Height, Stills: []Still{}}
	for _, at := range o.At {
		n, err := frameAt(m, at)
		if err != nil {
			return StillResult{}, err
		}
		path := stillPath(o.Out, baseName(b), n)
		if err := errors.Join(checkNames(pictureTarget(path)), checkInputs(b, m, pictureTarget(path))); err != nil {
			return StillResult{}, err
		}
		res.Stills = append(res.Stills, Still{Frame: n, Seconds: float64(n) / float64(m.FPS), Path: path})
	}
	if !isPicture(o.Out) {
		if err := os.MkdirAll(o.Out, 0o755); err != nil { //nolint:gosec // pictures are for whom the user's umask says
			return StillResult{}, outFault(err, o.Out)
		}
	}
	for _, still := range inOrder(res.Stills) {
		err := st.Frames(ctx, 0, still.Frame, still.Frame+1, func(_ int, f stage.Frame) error {
			raw, err := encodePicture(still.Path, picture(f))
			if err != nil {
				return err
			}
			return writeFile(still.Path, raw)
		})
		if err != nil {
			return StillResult{}, err //nolint:wrapcheck // it is the user's error already
		}
	}
	res.Notes = notes(st)
	return res, nil
}

// checkOut refuses an Out that can't be what was meant by it.
func (o StillOptions) checkOut() error {
	if isPicture(o.Out) {
		if len(o.At) > 1 {
			return fault.New(fault.InvalidValue, "Name a folder with --out.", "%d frames don't fit into one file, %s", len(o.At), o.Out)
		}
		return checkNames(pictureTarget(o.Out))
	}
	st, err := os.Stat(o.Out)
	switch {
	case err == nil && st.IsDir():
		return nil
	case err == nil, strings.ContainsFunc(filepath.Ext(o.Out), unicode.IsLetter):
		// A folder with a file's name is nothing that anybody wants to have made.
		return fault.New(fault.InvalidValue, "Let a picture's name end in .png or .jpg, and a new folder's in /.", "%s is neither a picture's name nor a folder", o.Out)
	}
	return nil
}

// inOrder gives each frame once, in the order of time: a sequential scene is
// drawn through once.
func inOrder(all []Still) []Still {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Still) int { return a.Frame - b.Frame })
	return slices.CompactFunc(sorted, func(a, b Still) bool { return a.Frame == b.Frame })
}

func stillPath(out, base string, frame int) string {
	if isPicture(out) {
		return out
	}
	return filepath.Join(out, fmt.Sprintf("%s-%05d.png", base, frame))
}

// notes are the stage's, never nil: an answer has a list.
func notes(st *stage.Stage) []scene.Note {
	if all := st.Notes(); all != nil {
		return all
	}
	return []scene.Note{}
}

// drawSome draws some frames, each once and in order, and hands them to use as
// pictures.
func drawSome(ctx context.Context, st *stage.Stage, list []int, use func(frame int, img *image.NRGBA) error) error {
	sorted := slices.Compact(slices.Sorted(slices.Values(list)))
	for _, n := range sorted {
		err := st.Frames(ctx, 0, n, n+1, func(_ int, f stage.Frame) error { return use(n, picture(f)) })
		if err != nil {
			return err //nolint:wrapcheck // it is the user's error already
		}
	}
	return nil
}
