package renderer

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// NewOptions say how a scene begins.
type NewOptions struct {
	Name  string // of the folder that is made
	Style string
	Kind  scene.Kind
}

// NewResult is the answer of scene new.
type NewResult struct {
	Scene string     `json:"scene"` // the scene's file
	Style string     `json:"style"`
	Kind  scene.Kind `json:"kind"`
}

// The beginnings, one for each kind; STYLE and TITLE are replaced.
//
//go:embed begin/*.js
var beginnings embed.FS

// New makes a folder with a scene.js that draws something already. What is
// there stays as it is.
func (*Studio) New(o NewOptions) (NewResult, error) {
	raw, err := beginnings.ReadFile("begin/" + string(o.Kind) + ".js")
	if err != nil {
		return NewResult{}, fault.New(fault.InvalidValue, "Use 2d, webgl or dom.", "there is no kind %q", o.Kind)
	}
	text := strings.NewReplacer("STYLE", o.Style, "TITLE", strings.Map(plainRune, filepath.Base(o.Name))).Replace(string(raw))
	if err := os.MkdirAll(o.Name, 0o755); err != nil { //nolint:gosec // a scene is for whom the user's umask says
		return NewResult{}, outFault(err, o.Name)
	}
	path := filepath.Join(o.Name, "scene.js")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a scene is for whom the user's umask says
	if errors.Is(err, fs.ErrExist) {
		return NewResult{}, fault.New(fault.OutUnwritable, "Choose another name, or remove it.", "%s is there already", path)
	}
	if err != nil {
		return NewResult{}, outFault(err, path)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return NewResult{}, outFault(fmt.Errorf("write: %w", err), path)
	}
	return NewResult{Scene: path, Style: o.Style, Kind: o.Kind}, nil
}

// plainRune keeps what can't end a JavaScript string, nor start an escape in it
// or in HTML.
func plainRune(r rune) rune {
	if strings.ContainsRune("\"\\`$<&\u2028\u2029", r) || unicode.IsControl(r) {
		return -1
	}
	return r
}
