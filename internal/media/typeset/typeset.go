package typeset

import (
	"errors"
	"fmt"
	"image"
	"regexp"
	"sync"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// Weight is how heavy Latin, Greek and Cyrillic letters are drawn. Other
// scripts have one weight, which lies between the two.
type Weight int

// The weights that the fonts have.
const (
	Medium   Weight = iota // 500: text that is read
	SemiBold               // 600: headings and names
)

// Align says where the lines of a block stand.
type Align int

// The places of lines.
const (
	Start  Align = iota // left; right when the text runs from right to left
	Centre              // each line centred in the block
)

// Style says how a text is set.
type Style struct {
	// Size is the em in pixels, 4 to 512.
	Size int
	// Weight of the letters; Medium when not set.
	Weight Weight
	// MaxWidth is the room for a line in pixels, at least two ems.
	MaxWidth int
	// MaxLines is how many lines there may be, 1 to 100. What doesn't fit ends
	// in an ellipsis.
	MaxLines int
	// Align is where short lines stand.
	Align Align
	// Balanced breaks lines so that they are about equally long.
	Balanced bool
}

// ErrStyle is the error of a Style outside its ranges.
var ErrStyle = errors.New("typeset: style out of range")

func (s Style) check() error {
	if s.Size < 4 || s.Size > 512 || s.MaxWidth < 2*s.Size || s.MaxWidth > 1<<15 || s.MaxLines < 1 || s.MaxLines > 100 {
		return fmt.Errorf("%w: size %d (4 to 512), width %d (2 ems to %d), lines %d (1 to 100)", ErrStyle, s.Size, s.MaxWidth, 1<<15, s.MaxLines)
	}
	return nil
}

// LineHeight is the distance of baselines in pixels. It depends on the size
// alone, so that blocks of different scripts align.
func (s Style) LineHeight() int { return (s.Size*13 + 5) / 10 }

// capHeight of Inter, in thousandths of the em.
const capHeight = 727

// baseline is where letters stand in a line: the middle of a
// capital letter lies in the middle of the line.
func (s Style) baseline() int { return (s.LineHeight()*1000 + s.Size*capHeight) / 2000 }

// Setter sets texts. It is safe for concurrent use, by doing one at a time.
type Setter struct {
	mu       sync.Mutex
	fonts    library
	shaper   shaping.HarfbuzzShaper
	splitter shaping.Segmenter
	wrapper  shaping.LineWrapper
	raster   vector.Rasterizer
	pictures map[font.GID]image.Image // emoji, as the font has them
	colours  *regexp.Regexp
}

// New returns a Setter. Fonts are unpacked when a text first needs them: the
// Latin ones in 5 ms, Chinese or emoji in about 50 ms.
func New() *Setter {
	return &Setter{
		fonts:    library{faces: map[string]*font.Face{}},
		pictures: map[font.GID]image.Image{},
		colours:  terminalColours(),
	}
}

// Block is a text that has been set: lines of glyphs with their places.
type Block struct {
	// Width is that of the longest line, Height that of all lines, in pixels.
	// Marks of some scripts reach over it by up to half an em.
	Width, Height int
	// Lines is their number: 0 for a text with nothing to draw.
	Lines int
	// Truncated tells that an ellipsis stands for the rest.
	Truncated bool
	// Substituted is how many characters no font has. A middle dot stands for
	// each, for at most three in a row.
	Substituted int
	// RightToLeft tells the direction of the text as a whole.
	RightToLeft bool

	setter *Setter
	style  Style
	lines  []setLine
}

type setLine struct {
	runs  []shaping.Output // in visual order
	width fixed.Int26_6
	x     fixed.Int26_6
}

// Set lays text out. Any string can be set: what it holds of control
// characters, bidi overrides and broken UTF-8 is left out or replaced. The
// time is bounded by the style, not by the length of the text. The error is
// ErrStyle, or tells of a fault in the embedded fonts.
func (s *Setter) Set(text string, style Style) (*Block, error) {
	if err := style.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set(text, style)
}

// visible is a bound of the runes that fit into a style: the narrowest letter
// is a fifth of an em wide, and marks are many in some scripts.
func (s Style) visible() int { return s.MaxLines * (s.MaxWidth*5/s.Size + 1) * 3 }

func (s *Setter) set(text string, style Style) (*Block, error) {
	latin := fileMedium
	if style.Weight == SemiBold {
		latin = fileSemiBold
	}
	runes, cut := clean(text, style.visible(), s.colours)
	para := paragraph{latin: latin, language: guessLanguage(runes), size: style.Size, rtl: rightToLeft(runes)}
	if err := s.chooseFaces(&para, runes); err != nil {
		return nil, err
	}
	block := &Block{setter: s, style: style, RightToLeft: para.rtl, Substituted: para.substituted}
	if len(para.text) == 0 {
		return block, nil
	}
	runs, err := s.shape(&para)
	if err != nil {
		return nil, err
	}
	if err := s.wrap(block, &para, runs, cut); err != nil {
		return nil, err
	}
	return block, nil
}
