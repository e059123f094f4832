package typeset

import (
	"errors"
	"image"
	"image/color"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func style(size, width, lines int) Style { return Style{Size: size, MaxWidth: width, MaxLines: lines} }

func set(t testing.TB, s *Setter, text string, st Style) *Block {
	t.Helper()
	b, err := s.Set(text, st)
	if err != nil {
		t.Fatalf("%.40q: %v", text, err)
	}
	return b
}

// boxes counts what would show as a box: glyph 0 of a font.
func boxes(b *Block) int {
	n := 0
	for _, line := range b.lines {
		for _, run := range line.runs {
			for _, g := range run.Glyphs {
				if g.GlyphID == 0 {
					n++
				}
			}
		}
	}
	return n
}

// Guards the fonts: what people write in must have glyphs.
func TestScriptsHaveGlyphs(t *testing.T) {
	s := New()
	for name, text := range map[string]string{
		"latin": "Sign in → “Invalid” 42 € ąęłőš Tiếng Việt", "greek": "Ελληνικά άέή", "cyrillic": "Проверка їєґ",
		"simplified": "登录页面：点击“开始”按钮并检查结果", "traditional": "登入頁面：點擊「開始」", "japanese": "ログインページを開いて、結果を確認する。ｶﾀｶﾅ々〆",
		"korean": "로그인 페이지를 열고 결과를 확인합니다", "arabic": "افتح صفحة تسجيل الدخول، ٤٢", "hebrew": "פתח את דף הכניסה שָׁלוֹם",
		"devanagari": "लॉगिन पृष्ठ खोलें।", "thai": "เปิดหน้าเข้าสู่ระบบ น้ำ", "bengali": "লগইন পৃষ্ঠা", "tamil": "உள்நுழைவு", "telugu": "లాగిన్", "gujarati": "લૉગિન",
		"gurmukhi": "ਲੌਗਇਨ", "kannada": "ಲಾಗಿನ್", "malayalam": "ലോഗിൻ", "sinhala": "පිවිසුම", "georgian": "შესვლა", "armenian": "Մուտք", "ethiopic": "መግቢያ",
		"khmer": "ចូល", "lao": "ເຂົ້າ", "myanmar": "ဝင်ရောက်", "marks": "▶ ▶▶ ✓ ✗ ✔ ✘ → ← ↑ ↓ ⇒ ⌘ ⇧ ⌥ ⏎ ● ○ ■ □ ★ ☆ ☑ ☐ ½ ² ≥ ≤ ≠ ∞ √ ∑ © ™",
		"emoji": "✅❌⚠️🎉👍🏽👩‍💻🇩🇪🏴󠁧󠁢󠁳󠁣󠁴󠁿1️⃣❤️⏩🧑🏿‍🚀👩🏻‍❤️‍👨🏿",
	} {
		b := set(t, s, text, style(20, 4000, 1))
		if b.Substituted > 0 || boxes(b) > 0 || b.Lines != 1 {
			t.Errorf("%s: %d substituted, %d boxes, %d lines", name, b.Substituted, boxes(b), b.Lines)
		}
	}
}

// Guards joining: an emoji sequence is one picture, a flag is one, and a tone
// isn't a square beside a hand.
func TestEmojiSequencesAreOneGlyph(t *testing.T) {
	s := New()
	for _, text := range []string{"👩‍💻", "🇩🇪", "👍🏽", "1️⃣", "❤️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🧑🏿‍🚀", "▶️"} {
		b := set(t, s, text, style(20, 400, 1))
		seen := 0
		for _, run := range b.lines[0].runs {
			for _, g := range run.Glyphs {
				if g.Advance > 0 {
					seen++
				}
			}
		}
		if seen != 1 {
			t.Errorf("%q is %d glyphs", text, seen)
		}
	}
}

// Guards what a text can do to a reader: it can't hide, reverse, colour or
// break into lines what it says.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"a\x00b\x07c\x7f":                      "abc",
		"\x1b[31mred\x1b[0m \x1b]0;title\x07x": "red x",
		"a\u202ecod.exe\u202c":                 "acod.exe",
		"\u2066a\u2069\u200e\u200f\u061cb":     "ab",
		"a\r\n\tb\u2028c\u00a0d\u3000e":        "a b c d e",
		"  trimmed  ":                          "trimmed",
		"\ufeffbom\u00adhyphen\u034f":          "bomhyphen",
		"\u200dlead x\u200dy":                  "lead x\u200dy",
		"a\U000E0041b":                         "ab",
		"\u115f\u3164\uffa0":                   "",
	} {
		runes, cut := clean(in, 100, terminalColours())
		if d := cmp.Diff(want, string(runes)); d != "" || cut {
			t.Errorf("%q (cut %v): %s", in, cut, d)
		}
	}
}

// Guards the rule for what no font has: a dot each, three in a row at most.
func TestSubstitutes(t *testing.T) {
	s := New()
	for text, want := range map[string]int{"\ue000": 1, "a\ue000\ue001b": 2, "\U0001F000\xff": 1, strings.Repeat("\ue000", 50): 50, "𐎀𐎁𐎂𐎃": 4} {
		b := set(t, s, text, style(20, 400, 1))
		if text == "\U0001F000\xff" {
			continue // U+1F000 is in a symbol font, broken UTF-8 may be
		}
		if b.Substituted != want || boxes(b) > 0 {
			t.Errorf("%q: %d substituted, %d boxes", text, b.Substituted, boxes(b))
		}
		if b.Width == 0 || b.Width > 60 {
			t.Errorf("%q is %d wide", text, b.Width)
		}
	}
}

// Guards the order of mixed text, by what is drawn leftmost.
func TestRightToLeft(t *testing.T) {
	s := New()
	for text, rtl := range map[string]bool{"שלום abc": true, "abc שלום": false, "123 שלום": true, "(ابدأ) x": true, "": false} {
		b := set(t, s, text, style(20, 400, 1))
		if b.RightToLeft != rtl {
			t.Errorf("%q: right to left %v", text, b.RightToLeft)
		}
	}
	line := set(t, s, "שלום abc", style(20, 400, 1)).lines[0]
	if first := line.runs[0].Runes.Offset; first != 5 {
		t.Errorf("leftmost is rune %d, want the Latin word (5)", first)
	}
	cut := set(t, s, strings.Repeat("שלום ", 50), style(20, 200, 1)).lines[0]
	if dots := cut.runs[0]; dots.Runes.Count < 100 {
		t.Errorf("the ellipsis isn't at the left: %+v", dots.Runes)
	}
}

// Guards the box: lines never are wider or more than allowed, and the end of
// what doesn't fit is an ellipsis.
func TestWrapping(t *testing.T) {
	s := New()
	words := strings.Repeat("seven words that are here to wrap ", 20)
	for _, text := range []string{"short", words, strings.Repeat("x", 500), strings.Repeat("漢字", 300), strings.Repeat("שלום ", 99), strings.Repeat("👩‍💻", 90), strings.Repeat("ก็", 300)} {
		for _, width := range []int{40, 100, 333, 1000} {
			for lines := 1; lines <= 3; lines++ {
				for _, balanced := range []bool{false, true} {
					st := style(20, width, lines)
					st.Balanced = balanced
					b := set(t, s, text, st)
					if b.Lines > lines || b.Width > width+2 {
						t.Errorf("%.10q in %dx%d: %d lines, %d wide", text, width, lines, b.Lines, b.Width)
					}
					if b.Truncated != (text != "short") && width < 1000 && (width > 40 || lines > 1) {
						t.Errorf("%.10q in %dx%d: truncated %v", text, width, lines, b.Truncated)
					}
				}
			}
		}
	}
}

// Guards the last line of two against a lone word.
func TestBalanced(t *testing.T) {
	s := New()
	st := style(20, 500, 2)
	text := "Open the checkout page and choose the cheapest delivery now"
	plain := set(t, s, text, st)
	st.Balanced = true
	b := set(t, s, text, st)
	if b.Lines != 2 || plain.Lines != 2 {
		t.Fatalf("%d and %d lines", b.Lines, plain.Lines)
	}
	if ratio := float64(b.lines[1].width) / float64(b.lines[0].width); ratio < 0.7 || ratio > 1.3 {
		t.Errorf("lines are %v and %v", b.lines[0].width, b.lines[1].width)
	}
	// The wrapper takes the spaces at line ends out of what it gets: trying
	// several widths must not eat the spaces between words.
	one := set(t, s, text, style(20, 5000, 1)).lines[0].width
	if sum := b.lines[0].width + b.lines[1].width; one-sum > 10*64 {
		t.Errorf("one line is %v, two are %v: spaces are lost", one, sum)
	}
}

// Guards time: the work is bounded by the style, not by the text. What is
// counted is glyphs and not seconds, which a busy machine stretches.
func TestEndlessTextIsBounded(t *testing.T) {
	s := New()
	st := Style{Size: 22, MaxWidth: 1000, MaxLines: 2, Balanced: true}
	for _, unit := range []string{"a", "word ", "\u0301", "\u200d", "漢", "👩‍💻", "\x00", "ا", " ", "\x1b[1m", "\xff", "\ue000", "\u0e33"} {
		text := strings.Repeat(unit, 1_000_000/len(unit))
		runes, _ := clean(text, st.visible(), s.colours)
		if len(runes) > st.visible() {
			t.Errorf("%q: %d runes are looked at", unit, len(runes))
		}
		glyphs := 0
		for _, line := range set(t, s, text, st).lines {
			for _, run := range line.runs {
				glyphs += len(run.Glyphs)
			}
		}
		if glyphs > st.visible() {
			t.Errorf("%q: %d glyphs", unit, glyphs)
		}
	}
}

func TestStyleIsChecked(t *testing.T) {
	s := New()
	for _, st := range []Style{{}, style(3, 100, 1), style(20, 39, 1), style(20, 100, 0), style(600, 2000, 1), style(20, 1<<20, 1), style(20, 100, 1000)} {
		if _, err := s.Set("x", st); !errors.Is(err, ErrStyle) {
			t.Errorf("%+v: %v", st, err)
		}
	}
}

// Guards the shared fonts: their caches aren't made for two at a time.
func TestConcurrentUse(t *testing.T) {
	s := New()
	var wg sync.WaitGroup
	for _, text := range []string{"Latin", "漢字", "👩‍💻", "עברית"} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			img := image.NewRGBA(image.Rect(0, 0, 100, 40))
			for range 20 {
				b, err := s.Set(text, style(20, 100, 1))
				if err != nil {
					t.Error(err)
					return
				}
				b.Draw(img, image.Point{}, color.White)
			}
		}()
	}
	wg.Wait()
}

// Guards alignment: capital letters stand in the middle of their line.
func TestCapitalsAreCentred(t *testing.T) {
	s := New()
	for _, size := range []int{12, 20, 22, 40} {
		b := set(t, s, "H", style(size, 200, 1))
		img := image.NewRGBA(image.Rect(0, 0, b.Width, b.Height))
		b.Draw(img, image.Point{}, color.White)
		top, bottom := b.Height, 0
		for y := range b.Height {
			for x := range b.Width {
				if img.RGBAAt(x, y).A > 100 {
					top, bottom = min(top, y), max(bottom, y)
				}
			}
		}
		if d := top - (b.Height - 1 - bottom); d < -2 || d > 2 {
			t.Errorf("size %d: %d above, %d below", size, top, b.Height-1-bottom)
		}
	}
}

func FuzzSet(f *testing.F) {
	for _, seed := range []string{"", "Sign in", "漢字\u202e", "👩‍💻🏽\u200d", "\x1b[0;1mא", "e\u0301\u0301", "\u0e33\u0e33", "\U000E0041", "ក្ក្ក្", "\xf0\x9f"} {
		f.Add(seed, 20, 200, 2)
	}
	s := New()
	f.Fuzz(func(t *testing.T, text string, size, width, lines int) {
		b, err := s.Set(text, Style{Size: size, MaxWidth: width % 4096, MaxLines: lines, Balanced: true})
		if err != nil {
			if !errors.Is(err, ErrStyle) {
				t.Fatal(err)
			}
			return
		}
		if boxes(b) > 0 {
			t.Errorf("%q shows a box", text)
		}
		if b.Lines > lines {
			t.Errorf("%q has %d lines of %d", text, b.Lines, lines)
		}
		if strings.TrimSpace(text) == "" && utf8.ValidString(text) && b.Width > 0 {
			t.Errorf("%q is drawn", text)
		}
		b.Draw(image.NewRGBA(image.Rect(0, 0, 64, 32)), image.Pt(-3, 5), color.White)
	})
}

func BenchmarkSetAndDraw(b *testing.B) {
	s := New()
	img := image.NewRGBA(image.Rect(0, 0, 900, 60))
	for b.Loop() {
		block := set(b, s, "Open the checkout page and choose the cheapest delivery", style(22, 900, 2))
		block.Draw(img, image.Point{}, color.White)
	}
}

// Guards other surfaces than pictures: the same text, cut where a reader would.
func TestPlain(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"a\u202eb\nc", 9, "ab c"}, {"abcdef", 4, "abc…"}, {"👩‍💻👩‍💻👩‍💻", 2, "👩‍💻…"}, {"abc", 3, "abc"}, {"x", 0, ""}, {"e\u0301e\u0301", 2, "e\u0301e\u0301"},
	} {
		if got := Plain(c.in, c.limit); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}
