package overlay

import (
	"image"
	"image/color"
	"sort"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/media/typeset"
)

// Key is a key that went down. Whether it may be shown at all is decided
// before it comes here.
type Key struct {
	At time.Duration
	// Text is a printable character or the name of a key: "a", "Enter".
	Text string
	// Modifiers are those that were held, in the order in which they are
	// shown: "Ctrl", "Shift".
	Modifiers []string
}

// Chord is a row of key caps with the time between which it is up.
type Chord struct {
	Caps    []string
	In, Out time.Duration
}

const (
	typing    = 900 * time.Millisecond // a longer pause ends a word
	keyTime   = 1500 * time.Millisecond
	maxTyped  = 24 // characters that one cap shows; the end of a longer text
	ellipsis  = "…"
	wideSpace = "␣"
)

// Chords groups keys into what is shown: plain typing runs together into one
// cap, a shortcut is a row of its own. Each is up until the next comes, for
// at most keyTime after its last key.
func Chords(keys []Key) []Chord {
	keys = append([]Key(nil), keys...)
	sort.SliceStable(keys, func(i, j int) bool { return keys[i].At < keys[j].At })
	var chords []Chord
	word, last := "", time.Duration(0)
	for _, k := range keys {
		plain := len(k.Modifiers) == 0 && len([]rune(k.Text)) == 1
		if n := len(chords); n > 0 {
			chords[n-1].Out = min(chords[n-1].Out, k.At)
			if plain && word != "" && k.At-last <= typing {
				word += k.Text
				chords = append(chords, Chord{Caps: []string{typed(word)}, In: k.At, Out: k.At + keyTime})
				last = k.At
				continue
			}
		}
		word, last = "", k.At
		caps := append(append([]string(nil), k.Modifiers...), k.Text)
		if plain {
			word = k.Text
			caps = []string{typed(word)}
		}
		chords = append(chords, Chord{Caps: caps, In: k.At, Out: k.At + keyTime})
	}
	return chords
}

func typed(word string) string {
	if strings.TrimSpace(word) == "" {
		return strings.Repeat(wideSpace, min(len(word), maxTyped))
	}
	if r := []rune(word); len(r) > maxTyped {
		return ellipsis + string(r[len(r)-maxTyped:])
	}
	return word
}

// DrawKeys draws a row of key caps. centre is the middle of its lower edge in
// the clip's frame; em the size of its letters in pixels, at least 8.
func DrawKeys(set *typeset.Setter, caps []string, centre image.Point, em int) (*Sprite, error) {
	em = max(em, 8)
	height, gap, margin := even(em*2), em*3/10, em
	blocks, widths, total := make([]*typeset.Block, len(caps)), make([]int, len(caps)), 0
	for i, text := range caps {
		block, err := set.Set(text, typeset.Style{Size: em, Weight: typeset.SemiBold, MaxWidth: 24 * em, MaxLines: 1})
		if err != nil {
			return nil, err
		}
		blocks[i], widths[i] = block, max(block.Width+em*12/10, height)
		total += widths[i]
	}
	total += gap * max(len(caps)-1, 0)
	img := image.NewRGBA(image.Rect(0, 0, total+2*margin, height+2*margin))
	x := margin
	for i, block := range blocks {
		drawCap(img, image.Rect(x, margin, x+widths[i], margin+height), em)
		y := margin + (height-em/8-block.Height)/2
		block.Draw(img, image.Pt(x+(widths[i]-block.Width)/2, y), color.NRGBA{R: 0x1B, G: 0x1D, B: 0x22, A: 255})
		x += widths[i] + gap
	}
	return NewSprite(img, image.Pt(centre.X-total/2-margin, centre.Y-height-margin)), nil
}

// drawCap draws one key: a light top on a darker edge that stands out below.
func drawCap(img *image.RGBA, r image.Rectangle, em int) {
	radius, side := float64(em)*0.36, float64(em)*0.14
	x, y, w, h := float64(r.Min.X), float64(r.Min.Y), float64(r.Dx()), float64(r.Dy())
	body := roundRect(x, y, w, h, radius)
	area := r.Inset(-em)
	within, ok := img.SubImage(area).(*image.RGBA)
	if ok {
		shadow(within, body, float64(em)*0.5, float64(em)*0.1, 0.3)
	}
	paint(img, area, body, color.NRGBA{R: 0xA9, G: 0xAF, B: 0xBA, A: 255})
	paint(img, area, roundRect(x+1, y+1, w-2, h-1-side, radius-1), color.NRGBA{R: 0xF6, G: 0xF7, B: 0xF9, A: 255})
}
