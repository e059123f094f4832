package author

import (
	"embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

// The templates: kit.js is what all share, and each look is one file beside it.
//
//go:embed templates/*.js
var templates embed.FS

// looks are the templates by the styles that they are made for.
func looks() map[string]string {
	return map[string]string{
		"midnight": "glow", "swiss": "grid", "blueprint": "grid", "terminal": "grid",
		"editorial": "page", "ink": "page", "poster": "loud", "sunny": "loud",
	}
}

// film is a scene before it is written.
type film struct {
	order
	look    string
	content content
	seed    uint32
}

// film chooses how an order's film looks, and reads what it says. The same
// order gives the same film.
func (a *Author) film(o order) film {
	h := fnv.New32a()
	_, _ = h.Write([]byte(o.brief))
	f := film{order: o, content: a.read(o.brief), seed: h.Sum32()}
	if looks()[f.style] == "" || !slices.Contains(scene.StyleNames(), f.style) {
		f.style = styleFor(o.brief, f.seed)
	}
	f.look = looks()[f.style]
	return f
}

// styleFor picks a style by what a brief speaks of, and else by its hash.
func styleFor(brief string, seed uint32) string {
	text := " " + strings.Join(words(strings.ToLower(brief)), " ") + " "
	for _, rule := range []struct {
		style string
		about []string
	}{
		{"terminal", []string{"terminal", "command line", "cli", "shell", "kernel", "compiler", "hacker"}},
		{"blueprint", []string{"engineering", "architecture", "blueprint", "technical", "machine", "bridge", "robot"}},
		{"poster", []string{"concert", "festival", "party", "sale", "loud", "manifesto", "protest", "gig"}},
		{"sunny", []string{"kids", "children", "school", "summer", "birthday", "fun", "playful", "cheerful"}},
		{"editorial", []string{"magazine", "essay", "report", "history", "story", "coffee", "book", "wine", "quarterly"}},
		{"ink", []string{"sketch", "sketchbook", "handwritten", "drawing", "notebook", "diary"}},
		{"swiss", []string{"swiss", "minimal", "grid", "poster series", "museum", "exhibition"}},
		{"midnight", []string{"launch", "night", "space", "product", "database", "startup", "app", "platform"}},
	} {
		if slices.ContainsFunc(rule.about, func(p string) bool { return strings.Contains(text, " "+p+" ") }) {
			return rule.style
		}
	}
	all := []string{"midnight", "swiss", "editorial", "poster"}
	return all[seed%uint32(len(all))]
}

// source is the scene's file.
func (f film) source() string {
	data, err := json.Marshal(f.content) // escapes what could end a script
	if err != nil {
		panic(err) // it holds texts and finite numbers
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// Written by Proofreel's template author, which is not a model: template %q, style %q.\n", f.look, f.style)
	fmt.Fprintf(&b, "export const meta = { width: %d, height: %d, fps: %d, duration: %g, style: '%s', seed: %d };\n\n", f.width, f.height, f.fps, f.seconds, f.style, f.seed)
	b.WriteString("// What the film says: the brief's own words.\n")
	fmt.Fprintf(&b, "const FILM = %s;\n\n", data)
	for _, name := range []string{"kit", f.look} {
		text, err := templates.ReadFile(path.Join("templates", name+".js"))
		if err != nil {
			panic(err) // it is in the binary
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}
