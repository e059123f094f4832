package renderer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// target is a file that a call is going to put in place. What is there is
// replaced, so it must be nothing that nobody meant to replace.
type target struct {
	what string // the film, the poster, ...
	path string // empty: it is not made
	ends []string
}

func filmTarget(path string) target { return target{"the film", path, []string{".mp4"}} }

func posterTarget(path string) target { return target{"the poster", path, []string{".jpg", ".jpeg"}} }

func pictureTarget(path string) target { return target{"the picture", path, pictureEnds()} }

// checkNames refuses targets whose names say that they are something else, that
// are no files, and two that are one. It needs nothing but the names: it comes
// before anything is read or run.
func checkNames(all ...target) error {
	for i, t := range all {
		if t.path == "" {
			continue
		}
		if !slices.Contains(t.ends, strings.ToLower(filepath.Ext(t.path))) {
			return fault.New(fault.InvalidValue, "Let its name end in "+strings.Join(t.ends, " or ")+".", "%s can't be %s", t.what, t.path)
		}
		if st, err := os.Stat(t.path); err == nil && !st.Mode().IsRegular() {
			return fault.New(fault.InvalidValue, "Choose another name.", "%s can't be %s: what is there is no file that could be replaced", t.what, t.path)
		}
		for _, other := range all[:i] {
			if other.path != "" && sameFile(other.path, t.path) {
				return fault.New(fault.InvalidValue, "Give each a name of its own.", "%s and %s would both be %s", other.what, t.what, t.path)
			}
		}
	}
	return nil
}

// checkInputs refuses targets that are files of the scene: its own, its
// imports, the assets that m names.
func checkInputs(b *scene.Bundle, m scene.Meta, all ...target) error {
	for _, input := range b.Inputs(m) {
		for _, t := range all {
			if t.path == "" || !sameFile(input, t.path) {
				continue
			}
			name, err := filepath.Rel(b.Dir, input)
			if err != nil {
				name = input
			}
			return fault.New(fault.InvalidValue, "Choose another name.", "%s can't be %s: the scene is made of that file (%s)", t.what, t.path, name)
		}
	}
	return nil
}

// sameFile tells whether two paths are one file, also by links. Those that are
// not there yet are compared by their names.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	second, err2 := os.Stat(b)
	if err == nil && err2 == nil {
		return os.SameFile(first, second)
	}
	return realName(a) == realName(b)
}

// realName is a path without links in its folder's name.
func realName(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		return filepath.Join(dir, filepath.Base(abs))
	}
	return abs
}
