package typeset

import (
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
)

// paragraph is a cleaned text with the font of each rune.
type paragraph struct {
	text        []rune
	files       []string // for each rune, the file of its font
	latin       string
	language    string
	size        int
	rtl         bool
	substituted int
}

func (p *paragraph) direction() di.Direction {
	if p.rtl {
		return di.DirectionRTL
	}
	return di.DirectionLTR
}

func (p *paragraph) add(file string, runes ...rune) {
	for _, r := range runes {
		p.text = append(p.text, r)
		p.files = append(p.files, file)
	}
}

// rightToLeft is rule P2 of Unicode's bidi algorithm: the first strong letter
// decides.
func rightToLeft(runes []rune) bool {
	for _, r := range runes {
		switch {
		case unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) && unicode.IsLetter(r):
			return true
		case unicode.IsLetter(r):
			return false
		}
	}
	return false
}

// chooseFaces fills the paragraph: a whole grapheme gets one font, because
// marks and emoji sequences can only be joined inside one. Spaces take the
// text's font: an emoji font's space is far too wide.
func (s *Setter) chooseFaces(p *paragraph, runes []rune) error {
	dots := 0
	for _, g := range graphemes(runes) {
		file, err := s.fonts.drawable(g, p.latin)
		if err != nil {
			return err
		}
		if file == "" {
			p.substituted++
			if dots++; dots <= maxDots {
				p.add(p.latin, substitute)
			}
			continue
		}
		dots = 0
		face, err := s.fonts.face(file)
		if err != nil {
			return err
		}
		for _, r := range g {
			if _, ok := face.NominalGlyph(r); ok || joins(r) {
				p.add(file, r)
			}
		}
	}
	return nil
}

// anyFace satisfies go-text's segmenter, which asks for a font by rune; the
// fonts of graphemes are known already and applied after it.
type anyFace struct{ face *font.Face }

func (a anyFace) ResolveFace(rune) *font.Face { return a.face }

// shape turns the paragraph into runs of glyphs in logical order.
func (s *Setter) shape(p *paragraph) ([]shaping.Output, error) {
	face, err := s.fonts.face(p.latin)
	if err != nil {
		return nil, err
	}
	whole := shaping.Input{
		Text: p.text, RunEnd: len(p.text), Direction: p.direction(), Size: fixed.I(p.size),
		Language: language.NewLanguage(p.language),
	}
	var runs []shaping.Output
	for _, part := range s.splitter.Split(whole, anyFace{face}) {
		part.Language = whole.Language // the segmenter would replace it by its own guess
		for start := part.RunStart; start < part.RunEnd; {
			end := start + 1
			for end < part.RunEnd && p.files[end] == p.files[start] {
				end++
			}
			run := part
			run.RunStart, run.RunEnd = start, end
			if run.Face, err = s.fonts.face(p.files[start]); err != nil {
				return nil, err
			}
			if p.files[start] == fileEmoji {
				run.Size = fixed.I(emojiSize(p.size))
			}
			runs = append(runs, s.shaper.Shape(run))
			start = end
		}
	}
	return runs, nil
}

// emojiSize makes emoji as high as a line's letters with their descenders:
// drawn at the em of the text they would tower over it.
func emojiSize(size int) int { return max((size*9+5)/10, 1) }

// ellipsis is the run that ends a text which doesn't fit.
func (s *Setter) ellipsis(p *paragraph) (shaping.Output, error) {
	face, err := s.fonts.face(p.latin)
	if err != nil {
		return shaping.Output{}, err
	}
	return s.shaper.Shape(shaping.Input{
		Text: []rune("…"), RunEnd: 1, Direction: p.direction(), Size: fixed.I(p.size), Face: face,
		Script: language.Common,
	}), nil
}

// wrap breaks the runs into the block's lines.
func (s *Setter) wrap(b *Block, p *paragraph, runs []shaping.Output, cut bool) error {
	dots, err := s.ellipsis(p)
	if err != nil {
		return err
	}
	config := shaping.WrapConfig{
		Direction: p.direction(), TruncateAfterLines: b.style.MaxLines, Truncator: dots, TextContinues: cut,
	}
	width := b.style.MaxWidth
	lines, truncated := s.wrapper.WrapParagraph(config, width, p.text, iterate(runs))
	b.Truncated = truncated > 0 || cut
	if b.style.Balanced && !b.Truncated && len(lines) > 1 {
		width = s.balance(config, p, runs, len(lines), width)
		lines, _ = s.wrapper.WrapParagraph(config, width, p.text, iterate(runs))
	}
	b.Lines, b.Height = len(lines), len(lines)*b.style.LineHeight()
	for _, line := range lines {
		b.lines = append(b.lines, visual(line))
	}
	b.align()
	return nil
}

// iterate copies the runs: the wrapper takes the width of spaces at the ends of
// lines out of the glyphs that it gets, and the next try would miss them.
func iterate(runs []shaping.Output) shaping.RunIterator {
	own := make([]shaping.Output, len(runs))
	for i, run := range runs {
		run.Glyphs = append([]shaping.Glyph(nil), run.Glyphs...)
		own[i] = run
	}
	return shaping.NewSliceIterator(own)
}

// balance finds the narrowest width in which the text still needs no more
// lines. Sixteen pixels more or less aren't seen.
func (s *Setter) balance(config shaping.WrapConfig, p *paragraph, runs []shaping.Output, lines, width int) int {
	low, high := width/lines, width
	for high-low > 16 {
		middle := (low + high) / 2
		got, truncated := s.wrapper.WrapParagraph(config, middle, p.text, iterate(runs))
		if truncated > 0 || len(got) > lines {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// visual copies a line into drawing order: the wrapper reuses its own.
func visual(line shaping.Line) setLine {
	out := setLine{runs: make([]shaping.Output, len(line))}
	for _, run := range line {
		run.Glyphs = append([]shaping.Glyph(nil), run.Glyphs...)
		out.runs[run.VisualIndex] = run
		out.width += run.Advance
	}
	return out
}

// align computes the block's width and the place of each line in it.
func (b *Block) align() {
	for _, line := range b.lines {
		b.Width = max(b.Width, line.width.Ceil())
	}
	for i := range b.lines {
		room := fixed.I(b.Width) - b.lines[i].width
		switch {
		case b.style.Align == Centre:
			b.lines[i].x = room / 2
		case b.RightToLeft:
			b.lines[i].x = room
		}
	}
}
