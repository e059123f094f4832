package scene

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/proofreel/proofreel/internal/fault"
)

const (
	pluginName = "proofreel"
	spaceScene = "scene" // the author's files
	spaceLib   = "lib"   // the library's
)

// resolver answers every question of the bundler for a file, so that the
// bundler itself never reads the disk. It is called from many goroutines.
type resolver struct {
	root *os.Root
	lib  *library

	mu      sync.Mutex
	sources map[string]string // the author's files that were read
}

func (r *resolver) setup(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return r.resolve(a), nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: spaceScene}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		return r.loadScene(a.Path), nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: spaceLib}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		return r.loadLib(a.Path), nil
	})
}

func refuse(format string, args ...any) api.OnResolveResult {
	return api.OnResolveResult{Errors: []api.Message{{Text: fmt.Sprintf(format, args...)}}}
}

func (r *resolver) resolve(a api.OnResolveArgs) api.OnResolveResult {
	if a.Kind == api.ResolveEntryPoint {
		return api.OnResolveResult{Path: a.Path, Namespace: spaceScene}
	}
	relative := strings.HasPrefix(a.Path, "./") || strings.HasPrefix(a.Path, "../") || a.Path == "." || a.Path == ".."
	if a.Namespace == spaceLib {
		return r.resolveLib(a, relative)
	}
	switch {
	case relative:
		return r.resolveFile(path.Join(path.Dir(a.Importer), a.Path), a.Path)
	case path.IsAbs(a.Path) || filepath.IsAbs(a.Path) || strings.Contains(a.Path, `\`):
		return refuse("%q is absolute: only files in the scene's folder can be imported, relative to the importing file", clip(a.Path))
	case strings.HasPrefix(a.Path, "node:"):
		return refuse("%q is a module of Node: a scene runs in a browser, without files and processes", clip(a.Path))
	case strings.Contains(a.Path, ":"):
		return refuse("%q is an address: nothing is loaded from the network or from data; put the file in the scene's folder", clip(a.Path))
	}
	if m, ok := r.lib.module(a.Path); ok {
		return m
	}
	return refuse("no module %q: %s", clip(a.Path), r.lib.suggest(a.Path))
}

// resolveLib resolves what a library imports.
func (r *resolver) resolveLib(a api.OnResolveArgs, relative bool) api.OnResolveResult {
	if relative {
		return r.lib.file(path.Join(path.Dir(a.Importer), a.Path))
	}
	if m, ok := r.lib.module(a.Path); ok {
		return m
	}
	return refuse("the library's %s imports %q, which is not in the binary", a.Importer, a.Path)
}

// resolveFile finds one of the author's files. rel is relative to the scene's
// folder; asked is what the author wrote.
func (r *resolver) resolveFile(rel, asked string) api.OnResolveResult {
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return refuse("%q leaves the scene's folder: only files in it can be imported", clip(asked))
	}
	var last error
	for _, try := range []string{rel, rel + ".js", rel + ".mjs", rel + ".ts", rel + ".json", path.Join(rel, "index.js"), path.Join(rel, "index.ts")} {
		info, err := r.root.Stat(filepath.FromSlash(try))
		if err == nil && info.Mode().IsRegular() {
			if _, err := loaderOf(try); err != nil {
				return refuse("%q: %v", clip(asked), err)
			}
			return api.OnResolveResult{Path: try, Namespace: spaceScene}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			last = err
		}
	}
	if last != nil {
		return refuse("%q can't be read: %v", clip(asked), withoutPath(last))
	}
	return refuse("there is no file %q in the scene's folder", clip(rel))
}

// loaderOf says how a file is read, by its name.
func loaderOf(name string) (api.Loader, error) {
	switch strings.ToLower(path.Ext(name)) {
	case ".js", ".mjs":
		return api.LoaderJS, nil
	case ".ts", ".mts":
		return api.LoaderTS, nil
	case ".json":
		return api.LoaderJSON, nil
	case ".txt", ".csv", ".tsv", ".svg", ".glsl", ".vert", ".frag", ".css", ".html", ".md":
		return api.LoaderText, nil
	case ".png", ".jpg", ".jpeg", ".webp", ".gif", ".avif":
		return api.LoaderNone, errors.New(`pictures are no modules: name them in meta.assets, and take them from env.assets`)
	case ".woff", ".woff2", ".ttf", ".otf":
		return api.LoaderNone, errors.New("fonts can't be loaded: a scene uses the library's")
	}
	return api.LoaderNone, errors.New("files of this kind can't be imported: .js, .mjs, .ts, .json, and as text .csv, .tsv, .txt, .svg, .css, .html, .md, .glsl, .vert, .frag can")
}

func (r *resolver) loadScene(name string) api.OnLoadResult {
	bad := func(err error) api.OnLoadResult {
		return api.OnLoadResult{Errors: []api.Message{{Text: fmt.Sprintf("%s can't be read: %v", name, err)}}}
	}
	loader, err := loaderOf(name)
	if err != nil {
		return bad(err)
	}
	f, err := r.root.Open(filepath.FromSlash(name))
	if err != nil {
		return bad(err)
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	if err != nil {
		return bad(err)
	}
	if len(raw) > maxSource {
		return bad(fmt.Errorf("it has more than %d MiB: name large data as assets", maxSource>>20))
	}
	if !utf8.Valid(raw) {
		return bad(errors.New("it is not UTF-8"))
	}
	text := string(raw)
	r.mu.Lock()
	r.sources[name] = text
	r.mu.Unlock()
	return api.OnLoadResult{Contents: &text, Loader: loader}
}

func (r *resolver) loadLib(name string) api.OnLoadResult {
	text, err := r.lib.read(name)
	if err != nil {
		return api.OnLoadResult{Errors: []api.Message{{Text: err.Error()}}}
	}
	return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}
}

// failure makes the bundler's message an error for the author.
func (r *resolver) failure(m api.Message) error {
	f := &Failure{
		Code: fault.SceneSyntax, Frame: NoFrame, Text: m.Text,
		Hint: "Mend the line; nothing was run.",
	}
	if m.PluginName == pluginName || strings.HasPrefix(m.Text, "Could not resolve") {
		f.Code = fault.SceneImport
		f.Hint = "`proofreel scene libraries` lists what can be imported by name; everything else lies in the scene's folder."
	}
	if l := m.Location; l != nil {
		f.Place = Place{File: strings.TrimPrefix(l.File, spaceScene+":"), Line: l.Line, Column: column(l.LineText, l.Column)}
	}
	return f.Fault()
}

// column makes an offset in bytes a column that counts characters from 1.
func column(line string, bytes int) int {
	if bytes > len(line) {
		bytes = len(line)
	}
	return utf8.RuneCountInString(line[:max(0, bytes)]) + 1
}
