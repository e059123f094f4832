package scene

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/proofreel/proofreel/internal/fault"
)

// Kind is what a scene draws on.
type Kind string

// The kinds.
const (
	Kind2D    Kind = "2d"    // the 2D context of an OffscreenCanvas in a worker
	KindWebGL Kind = "webgl" // a WebGL2 context of one
	KindDOM   Kind = "dom"   // an element of a page
)

// The limits of a scene. A 4K frame is 33 MB before it is encoded, and half an
// hour at 20 frames a second is what one render may take; beyond lies a film
// that should be several.
const (
	MinSide     = 16
	MaxSide     = 3840
	MaxPixels   = 3840 * 2160
	MaxFPS      = 60
	MinDuration = 0.1 // seconds
	MaxDuration = 600 // seconds
	MaxFrames   = MaxDuration * MaxFPS
	MaxAssets   = 64
	MaxSeed     = 1<<53 - 1 // the largest whole number that JavaScript holds exactly
)

// Meta is what a scene says of itself.
type Meta struct {
	Title      string            `json:"title,omitempty"`
	Width      int               `json:"width"`    // pixels, even
	Height     int               `json:"height"`   // pixels, even
	FPS        int               `json:"fps"`      // frames a second, 1 to MaxFPS
	Duration   float64           `json:"duration"` // seconds
	Kind       Kind              `json:"kind"`
	Seed       uint64            `json:"seed"`
	Assets     map[string]string `json:"assets,omitempty"` // name to a path in the scene's folder
	Sequential bool              `json:"sequential"`       // frames must be drawn in order from 0
	Background string            `json:"background,omitempty"`
	Style      string            `json:"style,omitempty"`
}

// Frames is the number of frames of the film.
func (m Meta) Frames() int { return max(1, int(math.Round(m.Duration*float64(m.FPS)))) }

// report is what the run-time says of an evaluated module: describe in
// runtime/9-api.js. Numbers that JSON lacks come as strings.
type report struct {
	Meta  json.RawMessage `json:"meta"`
	Draw  string          `json:"draw"` // typeof
	Setup string          `json:"setup"`
	Names []string        `json:"exports"`
}

const metaHint = `A scene starts with: export const meta = { width: 1920, height: 1080, fps: 30, duration: 6 }; export function draw(ctx, t, frame, env) { ... }`

func badMeta(hint, format string, args ...any) error {
	f := &Failure{Code: fault.SceneMeta, Text: fmt.Sprintf(format, args...), Frame: NoFrame, Hint: hint}
	return f.Fault()
}

// ParseMeta reads what the run-time reports from an evaluated module, and
// checks it. The error is a fault with code scene_meta that names the field,
// its value and what is allowed.
func ParseMeta(raw []byte) (Meta, error) {
	var r report
	if err := json.Unmarshal(raw, &r); err != nil {
		return Meta{}, badMeta(metaHint, "the scene's description can't be read: %v", err)
	}
	if isNull(r.Meta) {
		return Meta{}, badMeta(metaHint, "the scene does not export meta%s", exported(r.Names))
	}
	if r.Draw != "function" {
		if r.Draw == "" || r.Draw == "undefined" {
			return Meta{}, badMeta(metaHint, "the scene does not export a function named draw%s", exported(r.Names))
		}
		return Meta{}, badMeta(metaHint, "draw is a %s, not a function", clip(r.Draw))
	}
	if r.Setup != "" && r.Setup != "undefined" && r.Setup != "function" {
		return Meta{}, badMeta(metaHint, "setup is a %s, not a function", clip(r.Setup))
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.Meta, &fields); err != nil {
		return Meta{}, badMeta(metaHint, "meta is %s, not an object", clip(string(r.Meta)))
	}
	return parseFields(fields)
}

func exported(names []string) string {
	if len(names) == 0 {
		return "; it exports nothing"
	}
	if slices.Equal(names, []string{"default"}) {
		return "; it exports only a default: export meta and draw by their names"
	}
	return "; it exports " + clip(strings.Join(names, ", "))
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// clip keeps a foreign value short in a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// fieldNames lists the fields that meta may have, in the order of the docs.
func fieldNames() []string {
	return []string{"title", "width", "height", "fps", "duration", "kind", "seed", "assets", "sequential", "background", "style"}
}

func parseFields(fields map[string]json.RawMessage) (Meta, error) {
	if err := checkNames(fields); err != nil {
		return Meta{}, err
	}
	var m Meta
	p := fieldParser{fields: fields}
	m.Width = p.side("width")
	m.Height = p.side("height")
	m.FPS = int(p.whole("fps", 1, MaxFPS, "frames a second"))
	m.Duration = p.number("duration", MinDuration, MaxDuration, "seconds")
	m.Kind = p.kind()
	if !p.absent("seed") {
		m.Seed = uint64(p.whole("seed", 0, MaxSeed, ""))
	}
	m.Title = p.text("title", 200)
	m.Sequential = p.flag("sequential")
	m.Background = p.colour("background")
	m.Style = p.style()
	m.Assets = p.assets()
	if p.err != nil {
		return Meta{}, p.err
	}
	if m.Background == "" && m.Style != "" {
		m.Background = styleBackground(m.Style)
	}
	if m.Width*m.Height > MaxPixels {
		return Meta{}, badMeta("4K is 3840 x 2160, or 2160 x 3840.", "a frame of %d x %d pixels is larger than 4K", m.Width, m.Height)
	}
	return m, nil
}

func checkNames(fields map[string]json.RawMessage) error {
	var unknown []string
	for name := range fields {
		if !slices.Contains(fieldNames(), name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	sort.Strings(unknown)
	return badMeta("The fields are "+strings.Join(fieldNames(), ", ")+".", "meta has no field %q", clip(unknown[0]))
}

// fieldParser reads fields one after the other and keeps the first error.
type fieldParser struct {
	fields map[string]json.RawMessage
	err    error
}

func (p *fieldParser) fail(hint, format string, args ...any) {
	if p.err == nil {
		p.err = badMeta(hint, format, args...)
	}
}

func (p *fieldParser) absent(name string) bool { return isNull(p.fields[name]) }

func (p *fieldParser) number(name string, low, high float64, unit string) float64 {
	if unit != "" {
		unit = " " + unit
	}
	allowed := fmt.Sprintf("meta.%s is a number from %g to %g%s.", name, low, high, unit)
	if p.absent(name) {
		p.fail(allowed, "meta.%s is missing", name)
		return low
	}
	var v float64
	if err := json.Unmarshal(p.fields[name], &v); err != nil {
		p.fail(allowed, "meta.%s is %s, not a number", name, clip(string(p.fields[name])))
		return low
	}
	if v < low || v > high {
		p.fail(allowed, "meta.%s is %g: it must be from %g to %g%s", name, v, low, high, unit)
		return low
	}
	return v
}

func (p *fieldParser) whole(name string, low, high float64, unit string) float64 {
	v := p.number(name, low, high, unit)
	if v != math.Trunc(v) {
		p.fail("", "meta.%s is %g: it must be a whole number", name, v)
		return low
	}
	return v
}

func (p *fieldParser) side(name string) int {
	v := int(p.whole(name, MinSide, MaxSide, "pixels"))
	if v%2 != 0 {
		p.fail(fmt.Sprintf("Take %d or %d.", v-1, v+1), "meta.%s is %d: the film's format needs an even number of pixels", name, v)
	}
	return v
}

func (p *fieldParser) text(name string, most int) string {
	if p.absent(name) {
		return ""
	}
	var s string
	if err := json.Unmarshal(p.fields[name], &s); err != nil {
		p.fail("", "meta.%s is %s, not a string", name, clip(string(p.fields[name])))
		return ""
	}
	if len(s) > most {
		p.fail("", "meta.%s is longer than %d bytes", name, most)
		return ""
	}
	return s
}

func (p *fieldParser) flag(name string) bool {
	if p.absent(name) {
		return false
	}
	var v bool
	if err := json.Unmarshal(p.fields[name], &v); err != nil {
		p.fail("", "meta.%s is %s: it must be true or false", name, clip(string(p.fields[name])))
	}
	return v
}

func (p *fieldParser) kind() Kind {
	k := Kind(p.text("kind", 100))
	switch k {
	case "":
		return Kind2D
	case Kind2D, KindWebGL, KindDOM:
		return k
	}
	p.fail(`The kinds are "2d", "webgl" and "dom".`, "meta.kind is %q", clip(string(k)))
	return Kind2D
}

func (p *fieldParser) colour(name string) string {
	s := p.text(name, 100)
	if s != "" && !regexp.MustCompile(`^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$`).MatchString(s) {
		p.fail(`Write it as "#1a2b3c": a film has no transparency.`, "meta.%s is %q", name, clip(s))
	}
	return s
}

func (p *fieldParser) style() string {
	s := p.text("style", 100)
	if s == "" || slices.Contains(StyleNames(), s) {
		return s
	}
	p.fail("The styles are "+strings.Join(StyleNames(), ", ")+".", "meta.style is %q: there is no such style", clip(s))
	return ""
}

func (p *fieldParser) assets() map[string]string {
	if p.absent("assets") {
		return nil
	}
	all := map[string]string{}
	if err := json.Unmarshal(p.fields["assets"], &all); err != nil {
		p.fail(`Write it as assets: { logo: "logo.png" }.`, "meta.assets is %s, not an object of file names", clip(string(p.fields["assets"])))
		return nil
	}
	if len(all) > MaxAssets {
		p.fail("", "meta.assets has %d entries: at most %d are allowed", len(all), MaxAssets)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`).MatchString(name) {
			p.fail("Letters, digits, _ and -, a letter first.", "meta.assets has the name %q", clip(name))
			continue
		}
		clean, err := assetPath(all[name])
		if err != nil {
			p.fail("Assets lie in the scene's folder and are named relative to it.", "meta.assets.%s is %q: %v", name, clip(all[name]), err)
			continue
		}
		all[name] = clean
	}
	return all
}

// assetPath checks a path that an author wrote and cleans it.
func assetPath(p string) (string, error) {
	switch {
	case p == "":
		return "", fmt.Errorf("it is empty")
	case len(p) > 500:
		return "", fmt.Errorf("it is too long")
	case strings.Contains(p, `\`):
		return "", fmt.Errorf(`folders are separated by "/"`)
	case strings.ContainsRune(p, 0):
		return "", fmt.Errorf("it holds a zero byte")
	case strings.Contains(p, ":"):
		return "", fmt.Errorf("it is an address, not a file")
	case path.IsAbs(p):
		return "", fmt.Errorf("it is absolute")
	}
	clean := path.Clean(p)
	if clean == "." || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("it leaves the scene's folder")
	}
	return clean, nil
}
