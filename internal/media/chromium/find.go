package chromium

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Variable is the environment variable that names the program to use.
const Variable = "PROOFREEL_CHROMIUM"

// Program is an installed browser.
type Program struct {
	Path string // never a wrapper script, where what it wraps is known
	// Shell says that it is the headless shell: smaller, and quicker to start.
	Shell bool
}

// Name is what people call the program.
func (p Program) Name() string {
	if p.Shell {
		return "chromium-headless-shell"
	}
	return filepath.Base(p.Path)
}

// Version asks the program for its version, for instance "156.0.8078.114".
func (p Program) Version(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, p.Path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", p.Path, err)
	}
	for _, word := range strings.Fields(string(out)) {
		if strings.Count(word, ".") == 3 && strings.Trim(word, "0123456789.") == "" {
			return word, nil
		}
	}
	return "", fmt.Errorf("ask %s for its version: it says %q", p.Path, strings.TrimSpace(string(out)))
}

// Find looks for a browser: the one that PROOFREEL_CHROMIUM names, else a
// headless shell, else a whole Chromium or Chrome, first where distributions
// keep the program itself, then on PATH. The distributions' wrapper scripts
// are passed by: Debian's adds flags, extensions and keys. env is the
// environment to look in; nil: the process's. The error is [ErrNotFound], or
// says what is wrong with the program that was named.
func Find(env []string) (Program, error) {
	if env == nil {
		env = os.Environ()
	}
	if named := lookup(env, Variable); named != "" {
		if !executable(named) {
			return Program{}, fmt.Errorf("%s is %s, which is no program", Variable, named)
		}
		return program(unwrap(named)), nil
	}
	for _, p := range homes() {
		if executable(p) {
			return program(p), nil
		}
	}
	for _, name := range names() {
		for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
			if p := filepath.Join(dir, name); dir != "" && executable(p) {
				return program(unwrap(p)), nil
			}
		}
	}
	return Program{}, ErrNotFound
}

// homes are the places of the programs themselves, the best first: Debian and
// Ubuntu, Alpine and Arch, Fedora, Google's packages.
func homes() []string {
	return []string{
		"/usr/lib/chromium/chromium-headless-shell",
		"/usr/lib/chromium/headless_shell",
		"/usr/lib64/chromium-browser/headless_shell",
		"/usr/lib/chromium/chromium",
		"/usr/lib64/chromium-browser/chromium-browser",
		"/opt/google/chrome/chrome",
	}
}

func names() []string {
	return []string{
		"chromium-headless-shell", "chrome-headless-shell", "headless_shell",
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
	}
}

func program(path string) Program {
	return Program{Path: path, Shell: strings.Contains(strings.ReplaceAll(filepath.Base(path), "_", "-"), "headless-shell")}
}

// unwrap finds the program that a script in the search path starts: it is
// beside the script, once links are followed. A script that starts something
// else stays: it works too.
func unwrap(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err != nil || !isScript(target) {
		return path
	}
	for _, name := range []string{"chrome", "chromium", "headless_shell"} {
		p := filepath.Join(filepath.Dir(target), name)
		if p != target && executable(p) && !isScript(p) {
			return p
		}
	}
	return path
}

func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	var head [2]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && bytes.Equal(head[:], []byte("#!"))
}

func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- { // the last one counts
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}
