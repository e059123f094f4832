package scene

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// The modules that a scene may import by name, made by libs/build.sh from
// pinned packages: libs/package.json says which.
//
//go:embed libs/libs.zip
var libsZip []byte

// Library is a package in the binary that scenes may import.
type Library struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	License string   `json:"license"` // SPDX
	About   string   `json:"about"`
	Modules []string `json:"modules"` // what can stand after from, sorted
	Size    int      `json:"size"`    // bytes in the binary
}

// index is index.json in libs.zip.
type index struct {
	Libraries []Library         `json:"libraries"`
	Modules   map[string]string `json:"modules"`     // specifier to file
	Effects   []string          `json:"sideEffects"` // files whose evaluation alone matters
}

// library reads libs.zip. Its methods may be called at the same time.
type library struct {
	zip   *zip.Reader
	index index
}

// openLibrary can only fail when the build was wrong.
func openLibrary() (*library, error) {
	z, err := zip.NewReader(bytes.NewReader(libsZip), int64(len(libsZip)))
	if err != nil {
		return nil, fmt.Errorf("the library in the binary: %w", err)
	}
	l := &library{zip: z}
	raw, err := l.read("index.json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(raw), &l.index); err != nil {
		return nil, fmt.Errorf("the library in the binary: %w", err)
	}
	return l, nil
}

// Libraries lists the packages that scenes may import.
func Libraries() ([]Library, error) {
	l, err := openLibrary()
	if err != nil {
		return nil, err
	}
	return l.index.Libraries, nil
}

// LibraryLicenses is the text of all their licences.
func LibraryLicenses() (string, error) {
	l, err := openLibrary()
	if err != nil {
		return "", err
	}
	return l.read("LICENSES")
}

func (l *library) read(name string) (string, error) {
	f, err := l.zip.Open(name)
	if err != nil {
		return "", fmt.Errorf("the library has no file %s: %w", name, err)
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(f)
	if err != nil {
		return "", fmt.Errorf("unpacking %s: %w", name, err)
	}
	return string(raw), nil
}

// module resolves a name such as "three" or "three/addons/lines/Line2.js".
func (l *library) module(name string) (api.OnResolveResult, bool) {
	if addon, ok := strings.CutPrefix(name, "three/examples/jsm/"); ok {
		name = "three/addons/" + addon // the name that its documentation had until 2022
	}
	file, ok := l.index.Modules[name]
	if !ok && !strings.HasSuffix(name, ".js") {
		file, ok = l.index.Modules[name+".js"]
	}
	if !ok {
		return api.OnResolveResult{}, false
	}
	return l.file(file), true
}

func (l *library) file(name string) api.OnResolveResult {
	r := api.OnResolveResult{Path: name, Namespace: spaceLib, SideEffects: api.SideEffectsFalse}
	if slices.Contains(l.index.Effects, name) {
		r.SideEffects = api.SideEffectsTrue
	}
	return r
}

// suggest says what there is instead of a module that there is not.
func (l *library) suggest(name string) string {
	first, _, deep := strings.Cut(name, "/")
	if deep && l.has(first) {
		base := strings.ToLower(strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".js"))
		var near []string
		for m := range l.index.Modules {
			if strings.HasPrefix(m, first+"/") && strings.Contains(strings.ToLower(m), base) {
				near = append(near, m)
			}
		}
		sort.Strings(near)
		if len(near) > 0 {
			return "perhaps " + strings.Join(near[:min(len(near), 3)], ", ")
		}
		return fmt.Sprintf("%s is in the library, this part of it is not", first)
	}
	names := make([]string, 0, len(l.index.Libraries))
	for _, lib := range l.index.Libraries {
		names = append(names, lib.Name)
	}
	return "the library has " + strings.Join(names, ", ") + "; a file of the scene's folder is imported as \"./file.js\""
}

func (l *library) has(name string) bool {
	return slices.ContainsFunc(l.index.Libraries, func(lib Library) bool { return lib.Name == name })
}
