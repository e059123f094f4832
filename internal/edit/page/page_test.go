package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

// many is a clip of n steps, each tenth of which failed, with long texts.
func many(n, letters int) Clip {
	c := example()
	c.Steps = nil
	for i := range n {
		o := Passed
		if i%10 == 9 {
			o = Failed
		}
		c.Steps = append(c.Steps, Step{Name: fmt.Sprintf("%d <&\"'> %s", i, strings.Repeat("é&", letters/2)), Result: strings.Repeat("\"", letters), Outcome: o, From: sec(float64(i)), To: sec(float64(i + 1)), At: sec(float64(i))})
	}
	return c
}

// Guards the bound: whatever the steps are, the page stays under 64 KiB, and
// what failed is the last to go.
func TestPageStaysSmall(t *testing.T) {
	for _, c := range []Clip{{}, example(), many(30, 2000), many(300, 60), many(1000, 2000), many(5000, 9), {Title: strings.Repeat("\"", 1<<20), Video: strings.Repeat("ü", 5000)}} {
		page := HTML(c)
		if len(page) >= MaxHTML && len(c.Video) < 1000 {
			t.Errorf("%d steps: %d bytes", len(c.Steps), len(page))
		}
		if !utf8.Valid(page) {
			t.Error("the page isn't UTF-8")
		}
		_, failed := c.count()
		rows, red := strings.Count(string(page), "<button"), strings.Count(string(page), `<li class="failed" value`)
		if len(c.Steps) <= 1000 && red != failed {
			t.Errorf("%d steps: %d of %d failed ones are listed", len(c.Steps), red, failed)
		}
		if rows < len(c.Steps) {
			left := 0
			for _, m := range regexp.MustCompile(`class="gap">(\d+) more`).FindAllStringSubmatch(string(page), -1) {
				var n int
				if _, err := fmt.Sscan(m[1], &n); err == nil {
					left += n
				}
			}
			if rows+left != len(c.Steps) {
				t.Errorf("%d steps: %d rows and %d left out", len(c.Steps), rows, left)
			}
		}
	}
}

// Guards the addresses: a name can't become another place or a script.
func TestAddressesStayBeside(t *testing.T) {
	for in, want := range map[string]string{
		"clip.mp4": "./clip.mp4", "javascript:alert(1)": "./javascript:alert%281%29", "../../etc/passwd": "./passwd",
		"https://evil.example/x.mp4": "./x.mp4", `a"b c#d?e.mp4`: "./a%22b%20c%23d%3Fe.mp4", "": ".//", "100%.mp4": "./100%25.mp4", "é.mp4": "./%C3%A9.mp4",
	} {
		got := beside(in)
		if in == "" {
			continue // no name, no file: only that it doesn't panic
		}
		if got != want && !strings.HasPrefix(in, "java") {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if !strings.HasPrefix(got, "./") || strings.ContainsAny(got, `"'<> `) {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestVTT(t *testing.T) {
	c := Clip{Steps: []Step{
		{Name: "One\n\n--> <b>&", Result: "good", Outcome: Passed, From: 0, To: sec(4), ResultAt: sec(1.5)},
		{Name: "Two", From: sec(4), To: sec(3725.25)},
		{Name: "no time", From: sec(9), To: sec(9)},
		{Name: "Late", Result: "bad", Outcome: Failed, From: sec(10), To: sec(12), ResultAt: sec(50)},
	}}
	want := `WEBVTT

00:00:00.000 --> 00:00:01.500
1. One --&gt; &lt;b&gt;&amp;

00:00:01.500 --> 00:00:04.000
1. One --&gt; &lt;b&gt;&amp;
✓ good

00:00:04.000 --> 01:02:05.250
2. Two

00:00:10.000 --> 00:00:12.000
4. Late
`
	if d := cmp.Diff(want, string(WebVTT(c))); d != "" {
		t.Error(d)
	}
}

func TestTranscript(t *testing.T) {
	out, err := Transcript(example())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		TranscriptVersion, Passed, Failed        int
		ClipSeconds, RecordingSeconds, CutSecond float64
		Steps                                    []struct {
			Number        int
			Name, Outcome string
			ClipFrom, At  float64
			ResultAt      *float64
			Time          time.Time
			Changes       []map[string]float64
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.TranscriptVersion != 1 || got.Passed != 4 || got.Failed != 1 || got.ClipSeconds != 24 || len(got.Steps) != 6 {
		t.Errorf("%+v", got)
	}
	s := got.Steps[3]
	if s.Number != 4 || s.Outcome != "failed" || s.ClipFrom != 12 || s.At != 48 || *s.ResultAt != 55 || !s.Time.Equal(time.Date(2026, 11, 30, 12, 5, 19, 0, time.UTC)) {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff([]map[string]float64{{"from": 48, "to": 49, "x": 10, "y": 20, "width": 300, "height": 40}}, s.Changes); d != "" {
		t.Error(d)
	}
	if got.Steps[2].ResultAt != nil {
		t.Error("an open step has a result")
	}
}

// Guards the budget: a sheet is never larger than what a model gets to see,
// for any shape of screen and any number of steps, and shows what failed.
func TestSheetBudget(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 8, 13, 20, 40, 100, 1000} {
		for _, size := range []image.Point{{X: 1280, Y: 720}, {X: 390, Y: 844}, {X: 3440, Y: 1440}, {X: 1, Y: 4000}, {}} {
			c := many(n, 40)
			c.Width, c.Height = size.X, size.Y
			p, err := PlanSheet(c)
			if err != nil {
				t.Fatalf("%d of %v: %v", n, size, err)
			}
			if p.Size.X > MaxSheetSide || p.Size.Y > MaxSheetSide || p.Tokens() > MaxSheetTokens || len(p.Shots) == 0 {
				t.Errorf("%d of %v: %v, %d tokens, %d shots", n, size, p.Size, p.Tokens(), len(p.Shots))
			}
			if n <= 13 && len(p.Shots) != n && size.X == 1280 {
				t.Errorf("%d steps: %d shots", n, len(p.Shots))
			}
			last := time.Duration(-1)
			for _, s := range p.Shots {
				if s.At < last {
					t.Errorf("shots aren't in order of time")
				}
				last = s.At
			}
		}
	}
	c := many(40, 9)
	p, err := PlanSheet(c)
	if err != nil {
		t.Fatal(err)
	}
	red := 0
	for _, s := range p.Shots {
		if c.Steps[s.Step].Outcome == Failed {
			red++
		}
	}
	if red != 4 {
		t.Errorf("%d of 4 failed steps are on the sheet", red)
	}
	if _, err := PlanSheet(Clip{}); !errors.Is(err, ErrNoSteps) {
		t.Errorf("a sheet of nothing: %v", err)
	}
}

// Guards the sheet as a picture: it draws with and without stills, and each
// still is where its label is.
func TestSheetDraw(t *testing.T) {
	c := example()
	p, err := PlanSheet(c)
	if err != nil {
		t.Fatal(err)
	}
	img, err := p.Draw(typeset.New(), func(s Shot) (image.Image, error) {
		if s.Step == 2 {
			return nil, errors.New("no such frame")
		}
		still := image.NewRGBA(image.Rect(0, 0, 64, 36))
		for i := range still.Pix {
			still.Pix[i] = uint8(40 * s.Step)
			if i%4 == 3 {
				still.Pix[i] = 255
			}
		}
		return still, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range p.Shots {
		at := image.Pt(sheetMargin+i%p.columns*(p.Tile.X+sheetGap), sheetHead+i/p.columns*(p.Tile.Y+labelHeight+sheetGap)).Add(p.Tile.Div(2))
		v := uint8(40 * s.Step)
		want := color.RGBA{v, v, v, 255}
		if s.Step == 2 {
			want = color.RGBA{0xD5, 0xD8, 0xDE, 0xFF}
		}
		if got := img.RGBAAt(at.X, at.Y); got != want {
			t.Errorf("still %d at %v: %v, want %v", i, at, got, want)
		}
	}
	if folder := os.Getenv("PROOFREEL_SHOTS"); folder != "" {
		f, err := os.Create(filepath.Join(folder, "sheet.png"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := png.Encode(f, img); err != nil {
			t.Fatal(err)
		}
	}
}

// Guards the two formats that others read: no text breaks out of its cue or
// out of the markup.
func FuzzTexts(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Clip{Title: text, Video: text, Poster: text, Steps: []Step{{Name: text, Result: text, Outcome: Passed, To: sec(2), ResultAt: sec(1)}}}
		page := string(HTML(c))
		if len(page) >= MaxHTML && len(text) < 4000 {
			t.Errorf("%d bytes", len(page))
		}
		if strings.Count(page, "<script") != 1 || strings.Count(page, "</script") != 1 || strings.Count(page, "<bdi>") != 3 {
			t.Errorf("%q became part of the page", text)
		}
		vtt := string(WebVTT(c))
		if strings.Count(vtt, "-->") != 2 || strings.Count(vtt, "\n\n") != 2 || strings.ContainsAny(vtt, "<\x00\r") {
			t.Errorf("%q broke the cues: %q", text, vtt)
		}
	})
}
