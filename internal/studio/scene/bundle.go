package scene

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/proofreel/proofreel/internal/fault"
)

// ModuleName is the last part of the address under which the renderer serves
// Bundle.Code: Position knows the module's frames in a stack by it. A query may
// follow, so that a module can be evaluated anew.
const ModuleName = "proofreel-scene.js"

const (
	maxSource = 8 << 20  // bytes of one file that a scene imports
	maxBundle = 32 << 20 // bytes of the whole module
	maxAsset  = 64 << 20 // bytes of one asset
)

// Bundle is a scene as one ES module, with nothing left to import.
type Bundle struct {
	Code []byte // the module
	Hash string // of Code, hex; see Key for what also decides about frames
	File string // the scene's file, relative to Dir
	Dir  string // the scene's folder, absolute: nothing outside of it is read

	sources map[string]string // what the author's files hold
	mapping func() (*sourceMap, error)
}

// Load reads a scene's file, or scene.js in the folder that path names, with
// all that it imports. The errors are faults: scene_not_found, scene_syntax and
// scene_import, the last two with file:line:column.
func Load(path string) (*Bundle, error) {
	file, err := find(path)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Dir: filepath.Dir(file), File: filepath.Base(file)}
	root, err := os.OpenRoot(b.Dir)
	if err != nil {
		return nil, notFound(path, err)
	}
	defer func() { _ = root.Close() }()
	lib, err := openLibrary()
	if err != nil {
		return nil, err
	}
	r := &resolver{root: root, lib: lib, sources: map[string]string{}}
	out := api.Build(options(b.File, r))
	if len(out.Errors) > 0 {
		return nil, r.failure(out.Errors[0])
	}
	b.sources = r.sources
	return b, b.take(out.OutputFiles)
}

// find gives the real path of the scene's file.
func find(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", notFound(path, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return "", notFound(path, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", notFound(path, err)
	}
	if info.Mode().IsRegular() {
		return abs, nil
	}
	if !info.IsDir() {
		return "", notFound(path, errors.New("it is neither a file nor a folder"))
	}
	for _, name := range []string{"scene.js", "scene.mjs", "scene.ts"} {
		inside := filepath.Join(abs, name)
		if info, err := os.Lstat(inside); err == nil && info.Mode().IsRegular() {
			return inside, nil
		}
	}
	return "", notFound(path, errors.New("the folder holds no scene.js, scene.mjs or scene.ts"))
}

func notFound(path string, err error) error {
	return fault.Wrap(withoutPath(err), fault.SceneNotFound, "Name a scene's file, or the folder that holds its scene.js; `proofreel scene new NAME` makes one.", "%s", path)
}

// withoutPath takes the path, which the message has already, out of an error.
func withoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func options(entry string, r *resolver) api.BuildOptions {
	return api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: entry, OutputPath: "scene"}},
		Bundle:              true,
		Write:               false,
		Outdir:              "/out", // nothing is written; a name is demanded
		AbsWorkingDir:       "/",
		Format:              api.FormatESModule,
		Platform:            api.PlatformBrowser,
		Target:              api.ESNext,
		Charset:             api.CharsetUTF8,
		LegalComments:       api.LegalCommentsNone,
		Sourcemap:           api.SourceMapExternal,
		SourcesContent:      api.SourcesContentExclude,
		TreeShaking:         api.TreeShakingTrue,
		TsconfigRaw:         "{}",
		LogLevel:            api.LogLevelSilent,
		LogLimit:            20,
		Plugins:             []api.Plugin{{Name: pluginName, Setup: r.setup}},
	}
}

func (b *Bundle) take(files []api.OutputFile) error {
	var raw []byte
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".map") {
			raw = f.Contents
		} else {
			b.Code = f.Contents
		}
	}
	if len(b.Code) > maxBundle {
		f := &Failure{Code: fault.SceneImport, Frame: NoFrame, Text: fmt.Sprintf("the scene with its imports has %d MiB: at most %d are allowed", len(b.Code)>>20, maxBundle>>20), Hint: "Name large data as assets."}
		return f.Fault()
	}
	sum := sha256.Sum256(b.Code)
	b.Hash = hex.EncodeToString(sum[:])
	b.mapping = sync.OnceValues(func() (*sourceMap, error) { return parseMap(raw) })
	return nil
}

// Open opens an asset: a file in the scene's folder, or one that a link in it
// names if that lies there too. The error is a fault with code scene_asset.
func (b *Bundle) Open(asset string) (fs.File, error) {
	clean, err := assetPath(asset)
	if err != nil {
		return nil, b.badAsset(asset, err)
	}
	root, err := os.OpenRoot(b.Dir)
	if err != nil {
		return nil, b.badAsset(asset, err)
	}
	defer func() { _ = root.Close() }()
	// What is no regular file could block for ever when it is opened.
	info, err := root.Stat(filepath.FromSlash(clean))
	if err != nil {
		return nil, b.badAsset(asset, err)
	}
	if !info.Mode().IsRegular() {
		return nil, b.badAsset(asset, errors.New("it is not a file"))
	}
	if info.Size() > maxAsset {
		return nil, b.badAsset(asset, fmt.Errorf("it has %d MiB: at most %d are allowed", info.Size()>>20, maxAsset>>20))
	}
	f, err := root.Open(filepath.FromSlash(clean))
	if err != nil {
		return nil, b.badAsset(asset, err)
	}
	return f, nil
}

func (b *Bundle) badAsset(name string, err error) error {
	f := &Failure{
		Code: fault.SceneAsset, Frame: NoFrame, Text: fmt.Sprintf("asset %q: %v", clip(name), withoutPath(err)),
		Hint: "Assets are files in the scene's folder, named relative to it.",
	}
	return f.Fault()
}

// Key is a hash of all that decides about the frames: the module, the assets
// that meta names, the run-time and the fonts. What also depends on the
// browser's version is not in it.
func (b *Bundle) Key(m Meta) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "proofreel scene %d\n%s\n", Version, b.Hash)
	h.Write([]byte(Runtime()))
	id, err := fontsID()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "fonts %s\n", id)
	for _, name := range slices.Sorted(maps.Keys(m.Assets)) {
		if err := b.hashAsset(h, name, m.Assets[name]); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (b *Bundle) hashAsset(w io.Writer, name, file string) error {
	f, err := b.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	inner := sha256.New()
	if _, err := io.Copy(inner, f); err != nil {
		return b.badAsset(file, err)
	}
	fmt.Fprintf(w, "asset %q %q %x\n", name, file, inner.Sum(nil))
	return nil
}

// Line gives the text of a line of the author's files, trimmed; "" when it
// isn't known.
func (b *Bundle) Line(p Place) string {
	n := 1
	for line := range strings.Lines(b.sources[p.File]) {
		if n == p.Line {
			return clip(strings.TrimSpace(line))
		}
		n++
	}
	return ""
}
