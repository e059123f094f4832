// Package publish brings a verified film to where it should be: nowhere else
// (none), into a directory (dir:PATH), or to uploads.sh through its CLI. It
// never changes a film, it can always be done again, and it gives out no
// address that it has not looked at. When it happens, and what is done about
// a failure, is decided by the caller.
package publish

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/proofreel/proofreel/internal/fault"
)

// Kind is a kind of target.
type Kind string

// The kinds of targets.
const (
	KindNone    Kind = "none"
	KindDir     Kind = "dir"
	KindUploads Kind = "uploads.sh"
)

// Target is where a film goes. The zero value is none.
type Target struct {
	Kind Kind
	Path string // of dir, absolute
}

// String gives the target as --publish takes it.
func (t Target) String() string {
	switch t.Kind {
	case KindDir:
		return string(KindDir) + ":" + t.Path
	case "":
		return string(KindNone)
	default:
		return string(t.Kind)
	}
}

// Forms lists what Parse takes, for help texts.
func Forms() []string { return []string{"none", "dir:PATH", "uploads.sh"} }

// Parse reads a value of --publish. A relative path is made absolute, so that
// String means the same to a process in another directory. The error is a
// *fault.Error with the code InvalidValue.
func Parse(spec string) (Target, error) {
	hint := "use one of: " + strings.Join(Forms(), ", ")
	if strings.ContainsFunc(spec, unicode.IsControl) {
		return Target{}, fault.New(fault.InvalidValue, hint, "the publish target holds a control character")
	}
	switch spec {
	case string(KindNone):
		return Target{Kind: KindNone}, nil
	case string(KindUploads):
		return Target{Kind: KindUploads}, nil
	}
	path, ok := strings.CutPrefix(spec, string(KindDir)+":")
	if !ok {
		return Target{}, fault.New(fault.InvalidValue, hint, "%q is no publish target of this version", redactURLs(spec))
	}
	if strings.TrimSpace(path) == "" {
		return Target{}, fault.New(fault.InvalidValue, "name the directory: dir:PATH", "dir: has no path")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return Target{}, fault.Wrap(err, fault.InvalidValue, "give an absolute path", "find out the path of %s", path)
	}
	return Target{Kind: KindDir, Path: abs}, nil
}
