// Command pack makes libs.zip, the modules that scenes may import by name, from
// installed npm packages, and docs/scene-libraries.md. It is called by
// ../build.sh.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: pack DIR-WITH-NODE_MODULES LIBS.ZIP DOC.MD")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// source is a package and how its modules are made.
type source struct {
	name, about string
	make        func(p *packer, s source) error
}

func sources() []source {
	return []source{
		{"three", "3D by WebGL: scenes, cameras, materials, lights; with its addons", three},
		{"d3", "data: scales, shapes, layouts, maps, interpolation, time, csv; each d3-* package by its own name too", d3},
		{"d3-sankey", "flows as a Sankey diagram", bundled("d3-sankey")},
		{"animejs", "timelines and springs on plain objects; seek them: timeline.seek(t * 1000)", bundled("animejs")},
		{"flubber", "morphs one outline into another", bundled("flubber")},
		{"svg-path-properties", "length of an SVG path, points along it: for lines that draw themselves", bundled("svg-path-properties")},
		{"roughjs", "hand-drawn strokes and fills; give it a seed", bundled("roughjs")},
		{"simplex-noise", "simplex noise in 2, 3 and 4 dimensions", bundled("simplex-noise")},
		{"culori", "colour spaces, mixing, palettes", bundled("culori")},
		{"bezier-easing", "CSS's cubic-bezier as a function (env.ease.bezier is the same)", bundled("bezier-easing")},
		{"topojson-client", "maps: from TopoJSON to what d3-geo draws", bundled("topojson-client")},
		{"world-atlas", "the world's countries and land, 1:110 million, for topojson-client", atlas},
	}
}

type library struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	License string   `json:"license"`
	About   string   `json:"about"`
	Modules []string `json:"modules"`
	Size    int      `json:"size"`
}

type packer struct {
	modules  string            // node_modules
	files    map[string][]byte // in the zip
	specs    map[string]string // specifier to file
	effects  []string
	licenses strings.Builder
	done     []library
	seen     map[string]bool // packages whose licence is in
}

func run(dir, out, doc string) error {
	p := &packer{modules: filepath.Join(dir, "node_modules"), files: map[string][]byte{}, specs: map[string]string{}, seen: map[string]bool{}}
	for _, s := range sources() {
		if err := p.add(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	sort.Strings(p.effects)
	index, err := json.MarshalIndent(map[string]any{"libraries": p.done, "modules": p.specs, "sideEffects": p.effects}, "", " ")
	if err != nil {
		return err
	}
	p.files["index.json"] = index
	p.files["LICENSES"] = []byte(p.licenses.String())
	if err := os.WriteFile(filepath.Join(filepath.Dir(out), "LICENSES"), p.files["LICENSES"], 0o644); err != nil { //nolint:gosec // a file of the work tree
		return err
	}
	if err := p.write(out); err != nil {
		return err
	}
	return os.WriteFile(doc, []byte(p.doc(out)), 0o644) //nolint:gosec // a file of the work tree
}

func (p *packer) add(s source) error {
	before := map[string]bool{}
	for f := range p.files {
		before[f] = true
	}
	specs := map[string]bool{}
	for m := range p.specs {
		specs[m] = true
	}
	if err := s.make(p, s); err != nil {
		return err
	}
	lib := library{Name: s.name, About: s.about}
	var err error
	if lib.Version, lib.License, err = p.licence(s.name); err != nil {
		return err
	}
	for f, raw := range p.files {
		if !before[f] {
			lib.Size += deflated(raw)
		}
	}
	for m := range p.specs {
		if !specs[m] {
			lib.Modules = append(lib.Modules, m)
		}
	}
	sort.Strings(lib.Modules)
	p.done = append(p.done, lib)
	return nil
}

// licence notes a package's licence text, and gives its version and licence.
func (p *packer) licence(name string) (version, license string, err error) {
	raw, err := os.ReadFile(filepath.Join(p.modules, name, "package.json"))
	if err != nil {
		return "", "", err
	}
	var meta struct {
		Version, License string
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		return "", "", err
	}
	if p.seen[name] {
		return meta.Version, meta.License, nil
	}
	p.seen[name] = true
	text := "(The package holds no text of it.)\n"
	files, err := os.ReadDir(filepath.Join(p.modules, name))
	if err != nil {
		return "", "", err
	}
	for _, f := range files {
		if regexp.MustCompile(`(?i)^licen[cs]e`).MatchString(f.Name()) {
			raw, err := os.ReadFile(filepath.Join(p.modules, name, f.Name()))
			if err != nil {
				return "", "", err
			}
			text = string(raw)
		}
	}
	fmt.Fprintf(&p.licenses, "==== %s %s (%s)\n\n%s\n\n", name, meta.Version, meta.License, strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
	return meta.Version, meta.License, nil
}

// bundled makes one module of a package with all that it imports, but d3's
// packages, which are there by themselves.
func bundled(spec string) func(p *packer, s source) error {
	return func(p *packer, _ source) error {
		return p.bundle(spec, spec+".js", exports(spec))
	}
}

// exports is what scenes import of a package: all by name, and the default of
// those that have one that scenes use. The names of a package that is no ES
// module must be written out, for none can be read off it.
func exports(spec string) string {
	switch spec {
	case "roughjs", "bezier-easing":
		return fmt.Sprintf("export * from %[1]q;\nexport { default } from %[1]q;\n", spec)
	case "flubber":
		const names = "interpolate, separate, combine, interpolateAll, splitPathString, toPathString, fromCircle, toCircle, fromRect, toRect"
		return fmt.Sprintf("export { %s } from %q;\n", names, spec)
	}
	return fmt.Sprintf("export * from %q;\n", spec)
}

func (p *packer) bundle(spec, file, entry string, external ...string) error {
	out := api.Build(api.BuildOptions{
		Stdin:             &api.StdinOptions{Contents: entry, ResolveDir: filepath.Dir(p.modules)},
		Bundle:            true,
		Write:             false,
		Metafile:          true,
		Format:            api.FormatESModule,
		Platform:          api.PlatformBrowser,
		Target:            api.ES2022,
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		External:          external,
		LogLevel:          api.LogLevelSilent,
	})
	if len(out.Errors) > 0 {
		return fmt.Errorf("%s: %s", spec, out.Errors[0].Text)
	}
	p.files[file] = out.OutputFiles[0].Contents
	p.specs[spec] = file
	return p.inner(out.Metafile)
}

// inner notes the licences of the packages that went into a bundle.
func (p *packer) inner(metafile string) error {
	var meta struct {
		Inputs map[string]json.RawMessage `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return err
	}
	names := map[string]bool{}
	for input := range meta.Inputs {
		_, rest, ok := strings.Cut(input, "node_modules/")
		for ok { // the innermost package
			inner, deeper, more := strings.Cut(rest, "node_modules/")
			if !more {
				break
			}
			_, rest = inner, deeper
		}
		if ok {
			parts := strings.Split(rest, "/")
			name := parts[0]
			if strings.HasPrefix(name, "@") && len(parts) > 1 {
				name += "/" + parts[1]
			}
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if _, err := os.Stat(filepath.Join(p.modules, name, "package.json")); err == nil {
			if _, _, err := p.licence(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// d3 makes a module of each of its packages, and one that gives all.
func d3(p *packer, _ source) error {
	entries, err := os.ReadDir(p.modules)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(p.modules, "d3", "package.json"))
	if err != nil {
		return err
	}
	var meta struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		return err
	}
	var parts []string
	for _, e := range entries {
		if _, ok := meta.Dependencies[e.Name()]; ok {
			parts = append(parts, e.Name())
		}
	}
	for _, part := range parts {
		var others []string
		for _, o := range parts {
			if o != part {
				others = append(others, o)
			}
		}
		if err := p.bundle(part, "d3/"+part+".js", fmt.Sprintf("export * from %q;", part), others...); err != nil {
			return err
		}
	}
	// It adds methods to d3-selection's.
	p.effects = append(p.effects, "d3/d3-transition.js")
	var all strings.Builder
	for _, part := range parts {
		fmt.Fprintf(&all, "export * from %q;\n", part)
	}
	p.files["d3/d3.js"] = []byte(all.String())
	p.specs["d3"] = "d3/d3.js"
	return nil
}

// three takes its two built files, and of its addons the folders that make
// pictures: no controls, no other renderers, no loaders of formats that a scene
// can't have.
func three(p *packer, _ source) error {
	root := filepath.Join(p.modules, "three")
	var err error
	for _, f := range []string{"three.module.js", "three.core.js"} {
		raw, err := os.ReadFile(filepath.Join(root, "build", f))
		if err != nil {
			return err
		}
		if p.files["three/"+f], err = minify(raw); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	p.specs["three"] = "three/three.module.js"
	addons := map[string][]byte{}
	base := filepath.Join(root, "examples", "jsm")
	for _, pattern := range []string{
		"curves/*.js", "environments/*.js", "geometries/*.js", "lights/*.js", "lines/*.js", "math/*.js", "modifiers/*.js", "objects/*.js",
		"postprocessing/*.js", "shaders/*.js", "effects/*.js", "utils/*.js", "animation/*.js", "interactive/SelectionBox.js",
		"loaders/SVGLoader.js", "loaders/GLTFLoader.js", "loaders/OBJLoader.js", "loaders/FontLoader.js", "misc/GPUComputationRenderer.js", "misc/MorphAnimMesh.js", "misc/Volume.js",
	} {
		files, err := filepath.Glob(filepath.Join(base, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(base, f)
			if err != nil {
				return err
			}
			addons[filepath.ToSlash(rel)] = raw
		}
	}
	for name, raw := range addons {
		if addons[name], err = minify(raw); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	dropBroken(addons)
	for name, raw := range addons {
		p.files["three/addons/"+name] = raw
		p.specs["three/addons/"+name] = "three/addons/" + name
	}
	return nil
}

func minify(raw []byte) ([]byte, error) {
	out := api.Transform(string(raw), api.TransformOptions{
		Loader: api.LoaderJS, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true, LegalComments: api.LegalCommentsNone,
	})
	if len(out.Errors) > 0 {
		return nil, fmt.Errorf("minifying: %s", out.Errors[0].Text)
	}
	return out.Code, nil
}

// dropBroken removes addons that import what is not there, until none does.
// They are minified: no comment can be taken for an import.
func dropBroken(addons map[string][]byte) {
	imports := regexp.MustCompile(`(?:\bfrom|\bimport)\(?["]([^"]+)["]`)
	for again := true; again; {
		again = false
		for name, raw := range addons {
			for _, m := range imports.FindAllStringSubmatch(string(raw), -1) {
				spec := m[1]
				_, there := addons[path.Join(path.Dir(name), spec)]
				if spec == "three" || strings.HasPrefix(spec, ".") && there {
					continue
				}
				delete(addons, name)
				again = true
				break
			}
		}
	}
}

// atlas makes modules of the map files.
func atlas(p *packer, _ source) error {
	for _, name := range []string{"countries-110m.json", "land-110m.json"} {
		raw, err := os.ReadFile(filepath.Join(p.modules, "world-atlas", name))
		if err != nil {
			return err
		}
		file := "world-atlas/" + name + ".js"
		p.files[file] = append([]byte("export default "), append(bytes.TrimSpace(raw), ";\n"...)...)
		p.specs["world-atlas/"+name] = file
	}
	return nil
}

func deflated(raw []byte) int {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return 0
	}
	if _, err := w.Write(raw); err != nil {
		return 0
	}
	if err := w.Close(); err != nil {
		return 0
	}
	return b.Len()
}

// write makes the zip; the same files give the same bytes.
func (p *packer) write(out string) error {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	names := make([]string, 0, len(p.files))
	for name := range p.files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		if _, err := w.Write(p.files[name]); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644) //nolint:gosec // a file of the work tree
}

func (p *packer) doc(out string) string {
	var b strings.Builder
	b.WriteString(`# Libraries for scenes

<!-- Made by internal/studio/scene/libs/build.sh: don't edit. -->

These lie in the binary. A scene imports them by name; nothing is fetched. What a film does not use is left out of it.
Licence texts: [LICENSES](../internal/studio/scene/libs/LICENSES), in the binary too.

| import | version | licence | KiB | for |
|---|---|---|---|---|
`)
	for _, l := range p.done {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %d | %s |\n", l.Name, l.Version, l.License, (l.Size+512)/1024, l.About)
	}
	if info, err := os.Stat(out); err == nil { //nolint:gosec // the path is the developer's
		fmt.Fprintf(&b, "\nTogether %d KiB in the binary.\n", (info.Size()+512)/1024)
	}
	for _, l := range p.done {
		if len(l.Modules) < 2 {
			continue
		}
		fmt.Fprintf(&b, "\n## Modules of %s\n\n", l.Name)
		groups := map[string][]string{}
		for _, m := range l.Modules {
			dir := path.Dir(m)
			groups[dir] = append(groups[dir], path.Base(m))
		}
		dirs := make([]string, 0, len(groups))
		for d := range groups {
			dirs = append(dirs, d)
		}
		sort.Strings(dirs)
		for _, d := range dirs {
			fmt.Fprintf(&b, "- `%s`: %s\n", strings.TrimPrefix(d, "./"), strings.Join(groups[d], ", "))
		}
	}
	return b.String()
}
