package scene_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if !regexp.MustCompile(`^#[0-9a-f]{6}$`).MatchString(hex) {
		t.Fatalf("%q is no colour", hex)
	}
	part := func(i int) float64 {
		n, err := strconv.ParseUint(hex[i:i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(1) + 0.7152*part(3) + 0.0722*part(5)
}

// contrast is WCAG's, 1 to 21.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// A style that is incomplete gives a film without a font or a colour.
func TestStyles(t *testing.T) {
	all, err := scene.Styles()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 6 {
		t.Fatalf("%d styles", len(all))
	}
	looks := map[string]string{}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			p := s.Palette
			for _, c := range []struct {
				name, ink, ground string
				least             float64
			}{
				{"text on background", p.Text, p.Background, 4.5},
				{"text on surface", p.Text, p.Surface, 4.5},
				{"muted on background", p.Muted, p.Background, 4.5},
				{"muted on surface", p.Muted, p.Surface, 4.5},
				{"on accent", p.OnAccent, p.Accent, 4.5},
				{"accent on background", p.Accent, p.Background, 3},
				{"second accent on background", p.Accent2, p.Background, 3},
			} {
				if got := contrast(t, c.ink, c.ground); got < c.least {
					t.Errorf("%s: %.2f, less than %g", c.name, got, c.least)
				}
			}
			luminance(t, p.Line)
			if len(p.Series) < 5 {
				t.Errorf("%d colours for a chart", len(p.Series))
			}
			for _, c := range p.Series {
				luminance(t, c)
			}
			for _, role := range []string{"display", "heading", "body", "label", "mono"} {
				checkRole(t, role, s.Type[role])
			}
			if s.Space.Margin <= 0 || s.Space.Columns <= 0 || s.Space.Unit <= 0 || s.Space.Stroke <= 0 {
				t.Errorf("grid %+v", s.Space)
			}
			for _, m := range []scene.Move{s.Motion.Enter, s.Motion.Leave, s.Motion.Move} {
				checkMove(t, m)
			}
			if s.Motion.Hold <= 0 || s.Motion.Stagger <= 0 || s.Motion.Spring.Stiffness <= 0 || s.Motion.Spring.Mass <= 0 {
				t.Errorf("motion %+v", s.Motion)
			}
			if len(s.Habits) < 4 || len(s.Avoid) < 3 {
				t.Errorf("%d habits, %d things to avoid", len(s.Habits), len(s.Avoid))
			}
			guide := s.Guide()
			for _, want := range append(slices.Concat(s.Habits, s.Avoid), s.Title, s.About, s.Good, s.Texture, s.Motion.Transition, p.Accent, s.Type["display"].Family) {
				if want == "" || !strings.Contains(guide, want) {
					t.Errorf("the guide lacks %q", want)
				}
			}
			look := p.Background + s.Type["display"].Family
			if other, ok := looks[look]; ok {
				t.Errorf("looks like %s", other)
			}
			looks[look] = s.Name
		})
	}
}

func checkRole(t *testing.T, role string, r scene.TypeRole) {
	t.Helper()
	if len(r.Size) != 2 || r.Size[0] < 24 || r.Size[1] < r.Size[0] || r.Leading < 0.8 || r.Leading > 1.8 {
		t.Errorf("%s: %+v", role, r)
	}
	for _, f := range scene.Families() {
		if f.Name != r.Family {
			continue
		}
		weights := f.Weights
		if r.Italic {
			weights = f.Italics
		}
		if !slices.Contains(weights, r.Weight) {
			t.Errorf("%s: %s has no weight %d", role, r.Family, r.Weight)
		}
		return
	}
	t.Errorf("%s: there is no family %q", role, r.Family)
}

func checkMove(t *testing.T, m scene.Move) {
	t.Helper()
	if m.Duration <= 0 || m.Duration > 3 {
		t.Errorf("a move of %g s", m.Duration)
	}
	switch e := m.Ease.(type) {
	case string:
		if e != "linear" && !regexp.MustCompile(`^(in|out|inOut)(Quad|Cubic|Quart|Quint|Sine|Expo|Circ|Back|Elastic|Bounce)$`).MatchString(e) {
			t.Errorf("there is no easing %q", e)
		}
	case []any:
		x1, ok1 := e[0].(float64)
		x2, ok2 := e[2].(float64)
		if len(e) != 4 || !ok1 || !ok2 || x1 < 0 || x1 > 1 || x2 < 0 || x2 > 1 {
			t.Errorf("%v is no curve", e)
		}
	default:
		t.Errorf("%v is no easing", m.Ease)
	}
}
