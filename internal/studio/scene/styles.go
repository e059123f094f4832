package scene

import (
	"embed"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// The looks, one file each. Tests hold them to what they promise: contrast,
// families that are in the binary, complete texts.
//
//go:embed styles/*.json
var styleFiles embed.FS

// Style is a look: tokens for the scene (env.style), and words for whoever
// writes it. Lengths are pixels at a height of 1080, times seconds.
type Style struct {
	Name    string              `json:"name"`
	Title   string              `json:"title"`
	About   string              `json:"about"` // one sentence
	Good    string              `json:"good"`  // what it is good for
	Palette Palette             `json:"palette"`
	Type    map[string]TypeRole `json:"type"` // display, heading, body, label, mono
	Space   Space               `json:"space"`
	Motion  Motion              `json:"motion"`
	Texture string              `json:"texture"` // what lies over or under, and how to draw it
	Habits  []string            `json:"habits"`
	Avoid   []string            `json:"avoid"`
}

// Palette holds colours by their role, as #rrggbb.
type Palette struct {
	Background string   `json:"background"`
	Surface    string   `json:"surface"` // cards and panels
	Text       string   `json:"text"`
	Muted      string   `json:"muted"` // second-rank text
	Line       string   `json:"line"`  // rules, borders, grids
	Accent     string   `json:"accent"`
	OnAccent   string   `json:"onAccent"` // text on accent
	Accent2    string   `json:"accent2"`
	Series     []string `json:"series"` // of a chart, in order
}

// TypeRole is how one rank of text is set.
type TypeRole struct {
	Family   string    `json:"family"`
	Weight   int       `json:"weight"`
	Italic   bool      `json:"italic,omitempty"`
	Size     []float64 `json:"size"`     // smallest and largest, pixels at 1080
	Leading  float64   `json:"leading"`  // line height over size
	Tracking float64   `json:"tracking"` // letter spacing over size
	Upper    bool      `json:"upper,omitempty"`
}

// Space is the grid.
type Space struct {
	Margin  float64 `json:"margin"`
	Gutter  float64 `json:"gutter"`
	Columns int     `json:"columns"`
	Unit    float64 `json:"unit"` // every distance is a multiple of it
	Radius  float64 `json:"radius"`
	Stroke  float64 `json:"stroke"`
}

// Motion is how things move. An easing is a name of env.ease or the four
// numbers of a Bézier curve: what env.progress takes.
type Motion struct {
	Enter      Move    `json:"enter"`
	Leave      Move    `json:"leave"`
	Move       Move    `json:"move"`
	Stagger    float64 `json:"stagger"` // seconds between neighbours
	Hold       float64 `json:"hold"`    // the least time that a text stands
	Transition string  `json:"transition"`
	Spring     Spring  `json:"spring"`
	Step       int     `json:"step,omitempty"` // pictures a second, where movement is meant to be stepped
}

// Move is an easing and how long it takes.
type Move struct {
	Ease     any     `json:"ease"`
	Duration float64 `json:"duration"`
}

// Spring is env.spring's.
type Spring struct {
	Stiffness float64 `json:"stiffness"`
	Damping   float64 `json:"damping"`
	Mass      float64 `json:"mass"`
}

// StyleNames lists the styles, sorted.
func StyleNames() []string {
	entries, err := styleFiles.ReadDir("styles")
	if err != nil {
		panic(err) // it is in the binary
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	sort.Strings(names)
	return names
}

// Styles gives all looks, sorted by name.
func Styles() ([]Style, error) {
	var all []Style
	for _, name := range StyleNames() {
		s, err := StyleNamed(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// StyleNamed gives one look. The error is no fault: callers check the name
// against StyleNames.
func StyleNamed(name string) (Style, error) {
	raw, err := styleFiles.ReadFile("styles/" + name + ".json")
	if err != nil {
		return Style{}, fmt.Errorf("there is no style %q", name)
	}
	var s Style
	if err := json.Unmarshal(raw, &s); err != nil {
		return Style{}, fmt.Errorf("the style %s in the binary: %w", name, err)
	}
	return s, nil
}

func styleBackground(name string) string {
	s, err := StyleNamed(name)
	if err != nil {
		return ""
	}
	return s.Palette.Background
}

// Guide is the style in words, for an agent that writes a scene in it.
func (s Style) Guide() string {
	var b strings.Builder
	p := s.Palette
	fmt.Fprintf(&b, "%s (%s): %s\nGood for: %s\n\n", s.Title, s.Name, s.About, s.Good)
	fmt.Fprintf(&b, "Colour: background %s, surface %s, text %s, second-rank text %s, lines %s, accent %s with %s on it, second accent %s; series %s.\n",
		p.Background, p.Surface, p.Text, p.Muted, p.Line, p.Accent, p.OnAccent, p.Accent2, strings.Join(p.Series, " "))
	b.WriteString("Type (pixels at 1080 lines):\n")
	for _, role := range roles() {
		t := s.Type[role]
		extra := ""
		if t.Italic {
			extra += ", italic"
		}
		if t.Upper {
			extra += ", capitals"
		}
		fmt.Fprintf(&b, "  %-8s %s %d%s, %g to %g, leading %g, tracking %gem\n", role, t.Family, t.Weight, extra, t.Size[0], t.Size[1], t.Leading, t.Tracking)
	}
	fmt.Fprintf(&b, "Grid: margin %g, %d columns with gutters of %g, distances in steps of %g, corners %g, strokes %g.\n",
		s.Space.Margin, s.Space.Columns, s.Space.Gutter, s.Space.Unit, s.Space.Radius, s.Space.Stroke)
	fmt.Fprintf(&b, "Motion: in %s, out %s, moves %s, neighbours %g s apart, a text stands %g s at least; between scenes: %s\n",
		s.Motion.Enter, s.Motion.Leave, s.Motion.Move, s.Motion.Stagger, s.Motion.Hold, s.Motion.Transition)
	fmt.Fprintf(&b, "Texture: %s\n\nHabits:\n", s.Texture)
	for _, h := range s.Habits {
		fmt.Fprintf(&b, "  - %s\n", h)
	}
	b.WriteString("Avoid:\n")
	for _, a := range s.Avoid {
		fmt.Fprintf(&b, "  - %s\n", a)
	}
	return b.String()
}

func (m Move) String() string { return fmt.Sprintf("%v %g s", m.Ease, m.Duration) }

// roles lists the ranks of text that every style sets.
func roles() []string { return []string{"display", "heading", "body", "label", "mono"} }
