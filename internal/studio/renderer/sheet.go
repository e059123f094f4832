package renderer

import (
	"context"
	"fmt"
	"image"
	"image/color"

	"golang.org/x/image/draw"

	"github.com/proofreel/proofreel/internal/media/typeset"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// SheetOptions say how a contact sheet looks.
type SheetOptions struct {
	Source
	Out           string // ends in .png or .jpg; empty: the scene's name with -sheet.png
	Columns, Rows int    // 1 to 12 each; 0: 4 and 3
}

// SheetResult is the answer of sheet.
type SheetResult struct {
	Scene  string       `json:"scene"`
	Path   string       `json:"path"`
	Width  int          `json:"width"`
	Height int          `json:"height"`
	Frames []int        `json:"frames"` // that it shows, row by row
	Notes  []scene.Note `json:"notes"`
}

// The measures of a sheet, in pixels. At four columns it is what a model that
// looks at pictures gets to see unscaled.
const (
	sheetWidth  = 1568
	sheetMargin = 16
	sheetGap    = 12
	labelHeight = 30
	labelSize   = 18
)

// Sheet draws frames at even distances, the first and the last among them, with
// their times, as one picture.
func (s *Studio) Sheet(ctx context.Context, o SheetOptions) (SheetResult, error) {
	if o.Columns == 0 {
		o.Columns = 4
	}
	if o.Rows == 0 {
		o.Rows = 3
	}
	if err := checkNames(pictureTarget(o.Out)); err != nil {
		return SheetResult{}, err
	}
	b, err := scene.Load(o.Scene)
	if err != nil {
		return SheetResult{}, err //nolint:wrapcheck // it is the user's error already
	}
	if o.Out == "" {
		o.Out = baseName(b) + "-sheet.png"
	}
	o.Workers = 1
	var res SheetResult
	_, err = s.lasting(ctx, func() (err error) {
		res, err = s.sheet(ctx, b, o)
		return err
	})
	return res, err
}

// sheet draws it with one browser.
func (s *Studio) sheet(ctx context.Context, b *scene.Bundle, o SheetOptions) (SheetResult, error) {
	st, err := s.open(ctx, o.Source, b, pictureTarget(o.Out))
	if err != nil {
		return SheetResult{}, err
	}
	defer func() { _ = st.Close() }()
	l := newLayout(st.Meta(), o.Columns, o.Rows)
	err = drawSome(ctx, st, l.frames, l.place)
	if err != nil {
		return SheetResult{}, err
	}
	if err := l.label(typeset.New()); err != nil {
		return SheetResult{}, err
	}
	raw, err := encodePicture(o.Out, l.img)
	if err != nil {
		return SheetResult{}, err
	}
	if err := writeFile(o.Out, raw); err != nil {
		return SheetResult{}, err
	}
	size := l.img.Bounds().Size()
	return SheetResult{Scene: o.Scene, Path: o.Out, Width: size.X, Height: size.Y, Frames: l.frames, Notes: notes(st)}, nil
}

// layout is a sheet in the making.
type layout struct {
	meta    scene.Meta
	frames  []int
	columns int
	tile    image.Point
	img     *image.RGBA
}

func newLayout(m scene.Meta, columns, rows int) *layout {
	n := min(columns*rows, m.Frames())
	columns = min(columns, n)
	rows = (n + columns - 1) / columns
	l := &layout{meta: m, columns: columns, frames: spread(n, m.Frames())}
	l.tile.X = (sheetWidth - 2*sheetMargin - (columns-1)*sheetGap) / columns
	l.tile.Y = max(l.tile.X*m.Height/m.Width, 8)
	height := 2*sheetMargin + rows*(l.tile.Y+labelHeight) + (rows-1)*sheetGap
	l.img = image.NewRGBA(image.Rect(0, 0, sheetWidth, height))
	draw.Draw(l.img, l.img.Bounds(), image.NewUniform(color.RGBA{0x14, 0x16, 0x1B, 0xFF}), image.Point{}, draw.Src)
	return l
}

// spread gives n of all frames at even distances, the first and the last among them.
func spread(n, all int) []int {
	list := make([]int, n)
	for i := range list {
		if n > 1 {
			list[i] = (i*(all-1) + (n-1)/2) / (n - 1)
		}
	}
	return list
}

func (l *layout) at(i int) image.Rectangle {
	p := image.Pt(sheetMargin+i%l.columns*(l.tile.X+sheetGap), sheetMargin+i/l.columns*(l.tile.Y+labelHeight+sheetGap))
	return image.Rectangle{Min: p, Max: p.Add(l.tile)}
}

// place puts a frame where it is shown.
func (l *layout) place(frame int, img *image.NRGBA) error {
	for i, n := range l.frames {
		if n == frame {
			draw.CatmullRom.Scale(l.img, l.at(i), img, img.Bounds(), draw.Src, nil)
		}
	}
	return nil
}

// label writes the times under the frames.
func (l *layout) label(set *typeset.Setter) error {
	for i, n := range l.frames {
		text := fmt.Sprintf("%.2f s · frame %d", float64(n)/float64(l.meta.FPS), n)
		block, err := set.Set(text, typeset.Style{Size: labelSize, MaxWidth: max(l.tile.X, 2*labelSize), MaxLines: 1})
		if err != nil {
			return fmt.Errorf("set the label of frame %d: %w", n, err)
		}
		r := l.at(i)
		block.Draw(l.img, image.Pt(r.Min.X+2, r.Max.Y+4), color.RGBA{0xC9, 0xCF, 0xDA, 0xFF})
	}
	return nil
}
