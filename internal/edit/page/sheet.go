package page

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"time"

	"github.com/proofreel/proofreel/internal/media/typeset"
	"golang.org/x/image/draw"
)

// Bounds of a contact sheet: what a model gets to see unscaled. A picture
// costs about a token for 750 pixels.
const (
	MaxSheetSide   = 1568 // pixels; larger ones are scaled down by the API that reads them
	MaxSheetTokens = 1500
	tokenPixels    = 750
)

const (
	sheetMargin = 20
	sheetGap    = 14
	sheetHead   = 62
	labelHeight = 46
	minTile     = 176 // pixels: narrower pictures show nothing
	maxTile     = 720
)

// ErrNoSteps is the error of a sheet of nothing.
var ErrNoSteps = errors.New("page: a contact sheet needs at least one step")

// Shot is a still that a sheet wants.
type Shot struct {
	Step int           // index into the clip's steps
	At   time.Duration // clip time of the frame
}

// SheetPlan is the layout of a contact sheet.
type SheetPlan struct {
	Shots []Shot
	// Tile is the size of a still in pixels, Size that of the sheet.
	Tile, Size image.Point

	clip    Clip
	columns int
}

// PlanSheet chooses a still for each step: where its result has just come,
// else right before it ends. More steps than a sheet can show readably are
// thinned out: those that failed stay.
func PlanSheet(c Clip) (*SheetPlan, error) {
	if len(c.Steps) == 0 {
		return nil, ErrNoSteps
	}
	for n := len(c.Steps); n > 0; n-- {
		p := &SheetPlan{clip: c}
		if p.lay(n, c) {
			p.Shots = choose(c, n)
			return p, nil
		}
	}
	return nil, fmt.Errorf("page: no still of %dx%d fits a contact sheet", c.Width, c.Height)
}

// lay finds the number of columns with the largest stills.
func (p *SheetPlan) lay(n int, c Clip) bool {
	for columns := 1; columns <= n; columns++ {
		rows := (n + columns - 1) / columns
		for w := min(maxTile, (MaxSheetSide-2*sheetMargin-(columns-1)*sheetGap)/columns); w >= minTile && w > p.Tile.X; w -= 4 {
			h := min(max(w*max(c.Height, 1)/max(c.Width, 1), 32), 1200)
			size := image.Pt(2*sheetMargin+columns*w+(columns-1)*sheetGap, sheetHead+rows*(h+labelHeight)+(rows-1)*sheetGap+sheetMargin)
			if size.Y <= MaxSheetSide && tokens(size) <= MaxSheetTokens {
				p.columns, p.Tile, p.Size = columns, image.Pt(w, h), size
				break
			}
		}
	}
	return p.columns > 0
}

func tokens(size image.Point) int { return (size.X*size.Y + tokenPixels - 1) / tokenPixels }

// Tokens is what the sheet costs a model, by the rule of thumb above.
func (p *SheetPlan) Tokens() int { return tokens(p.Size) }

// choose picks n steps: the failed ones, then others spread evenly.
func choose(c Clip, n int) []Shot {
	take := make([]bool, len(c.Steps))
	left := n
	for i, s := range c.Steps {
		if s.Outcome == Failed && left > 0 {
			take[i] = true
			left--
		}
	}
	var others []int
	for i := range c.Steps {
		if !take[i] {
			others = append(others, i)
		}
	}
	for i := range min(left, len(others)) {
		take[others[i*len(others)/left]] = true
	}
	var shots []Shot
	for i, s := range c.Steps {
		if take[i] {
			shots = append(shots, Shot{i, moment(s)})
		}
	}
	return shots
}

// moment of a step that shows it best. A result is up for a while after it
// came; a step without one has done what it does right before it ends.
func moment(s Step) time.Duration {
	at := s.To - 100*time.Millisecond
	if s.Outcome != Open {
		at = min(at, s.ResultAt+300*time.Millisecond)
	}
	return max(at, s.From)
}

// Draw draws the sheet. still returns the clip's frame of a shot, of any size;
// it is called once for each, in the order of time. A still that can't be had
// is a grey tile with its label.
func (p *SheetPlan) Draw(set *typeset.Setter, still func(Shot) (image.Image, error)) (*image.RGBA, error) {
	img := image.NewRGBA(image.Rectangle{Max: p.Size})
	draw.Draw(img, img.Bounds(), image.NewUniform(color.RGBA{0xF3, 0xF4, 0xF6, 0xFF}), image.Point{}, draw.Src)
	if err := p.head(set, img); err != nil {
		return nil, err
	}
	for i, shot := range p.Shots {
		at := image.Pt(sheetMargin+i%p.columns*(p.Tile.X+sheetGap), sheetHead+i/p.columns*(p.Tile.Y+labelHeight+sheetGap))
		tile := image.Rectangle{Min: at, Max: at.Add(p.Tile)}
		p.frame(img, tile, shot)
		if picture, err := still(shot); err != nil || picture == nil {
			draw.Draw(img, tile, image.NewUniform(color.RGBA{0xD5, 0xD8, 0xDE, 0xFF}), image.Point{}, draw.Src)
		} else {
			draw.CatmullRom.Scale(img, tile, picture, picture.Bounds(), draw.Src, nil)
		}
		if err := p.label(set, img, tile, shot); err != nil {
			return nil, err
		}
	}
	return img, nil
}

// ink of a label.
type ink struct{ dark, soft, green, red color.RGBA }

func inks() ink {
	return ink{color.RGBA{0x16, 0x18, 0x1D, 0xFF}, color.RGBA{0x5B, 0x62, 0x70, 0xFF}, color.RGBA{0x12, 0x7A, 0x3A, 0xFF}, color.RGBA{0xC6, 0x2B, 0x22, 0xFF}}
}

func (k ink) of(o Outcome) color.RGBA {
	switch o {
	case Passed:
		return k.green
	case Failed:
		return k.red
	default:
		return k.soft
	}
}

// frame puts a line around a still; a step that failed has a thick red one.
func (p *SheetPlan) frame(img *image.RGBA, tile image.Rectangle, shot Shot) {
	width, c := 1, color.RGBA{0xC4, 0xC9, 0xD2, 0xFF}
	if p.clip.Steps[shot.Step].Outcome == Failed {
		width, c = 4, inks().red
	}
	draw.Draw(img, tile.Inset(-width), image.NewUniform(c), image.Point{}, draw.Src)
}

// head says what the sheet is of, and what of it isn't there.
func (p *SheetPlan) head(set *typeset.Setter, img *image.RGBA) error {
	passed, failed := p.clip.count()
	facts := fmt.Sprintf("%d steps, %d passed, %d failed, %s", len(p.clip.Steps), passed, failed, clock(p.clip.Length))
	if n := len(p.Shots); n < len(p.clip.Steps) {
		facts += fmt.Sprintf("; %d of them shown", n)
	}
	room := p.Size.X - 2*sheetMargin
	if _, err := put(set, img, image.Pt(sheetMargin, 9), p.clip.Title, typeset.Style{Size: 20, Weight: typeset.SemiBold, MaxWidth: room, MaxLines: 1}, inks().dark, false); err != nil {
		return err
	}
	_, err := put(set, img, image.Pt(sheetMargin, 35), facts, typeset.Style{Size: 14, MaxWidth: room, MaxLines: 1}, inks().soft, false)
	return err
}

// label names a still: number, step and time; the result below.
func (p *SheetPlan) label(set *typeset.Setter, img *image.RGBA, tile image.Rectangle, shot Shot) error {
	k, s := inks(), p.clip.Steps[shot.Step]
	small := typeset.Style{Size: 14, MaxWidth: tile.Dx(), MaxLines: 1}
	at := image.Pt(tile.Min.X, tile.Max.Y+6)
	width, err := put(set, img, image.Pt(tile.Max.X, at.Y), clock(shot.At), small, k.soft, true)
	if err != nil {
		return err
	}
	name := small
	name.Weight, name.MaxWidth = typeset.SemiBold, max(tile.Dx()-width-8, 2*name.Size)
	if _, err = put(set, img, at, fmt.Sprintf("%d. %s", shot.Step+1, s.Name), name, k.dark, false); err != nil {
		return err
	}
	if s.Outcome == Open {
		return nil
	}
	_, err = put(set, img, at.Add(image.Pt(0, 19)), mark(s.Outcome)+" "+s.Result, small, k.of(s.Outcome), false)
	return err
}

// put draws a text with its top left corner at a point, or its top right one,
// and returns its width.
func put(set *typeset.Setter, img *image.RGBA, at image.Point, text string, style typeset.Style, c color.Color, right bool) (int, error) {
	block, err := set.Set(text, style)
	if err != nil {
		return 0, fmt.Errorf("contact sheet: %w", err)
	}
	if right {
		at.X -= block.Width
	}
	block.Draw(img, at, c)
	return block.Width, nil
}
