package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// ourName is what randomName makes.
var ourName = regexp.MustCompile(`^pr-[0-9a-f]{16}$`)

// homeOf is the home directory as agent-browser 0.41 finds it: HOME, else the
// password database's; empty when there is neither. A relative HOME counts as
// none: the agent's commands come from another directory.
func homeOf(env []string) string {
	if home := variable(env, "HOME"); filepath.IsAbs(home) {
		return home
	}
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return ""
	}
	return u.HomeDir
}

// namespaceDir is where agent-browser 0.41 keeps a namespace's sockets: found
// by trial with each of the variables, and with a user who has no home.
func namespaceDir(env []string, namespace string) string {
	var base string
	switch home := homeOf(env); {
	case variable(env, "AGENT_BROWSER_SOCKET_DIR") != "":
		base = variable(env, "AGENT_BROWSER_SOCKET_DIR")
	case variable(env, "XDG_RUNTIME_DIR") != "":
		base = filepath.Join(variable(env, "XDG_RUNTIME_DIR"), "agent-browser")
	case home != "":
		base = filepath.Join(home, ".agent-browser")
	case variable(env, "TMPDIR") != "":
		base = filepath.Join(variable(env, "TMPDIR"), "agent-browser")
	default:
		base = "/tmp/agent-browser"
	}
	return filepath.Join(base, "namespaces", namespace)
}

// runFile holds the path of agent-browser's directory for our namespace, whose
// name it ends with. It is written before anything is started: a later process
// may have another environment, and a start that was killed has told nobody.
func runFile(dir string) string { return filepath.Join(dir, "agent-browser.path") }

// namespace is agent-browser's, and the directory of its sockets; both empty:
// there is none of ours.
func (l Leftover) namespace() (name, path string) {
	raw, err := os.ReadFile(runFile(l.Dir))
	if path = string(raw); err == nil && filepath.IsAbs(path) && ourName.MatchString(filepath.Base(path)) {
		return filepath.Base(path), path
	}
	for i := 1; i+1 < len(l.Command); i++ {
		if name := l.Command[i+1]; l.Command[i] == "--namespace" && ourName.MatchString(name) {
			return name, namespaceDir(os.Environ(), name)
		}
	}
	return "", ""
}

func (l Leftover) removeFiles() error {
	profile := profileDir(l.Dir)
	errs := []error{removeSingleton(profile)}
	if _, path := l.namespace(); path != "" {
		errs = append(errs, os.RemoveAll(path)) // its last element is our own random name
	}
	errs = append(errs, os.RemoveAll(profile), os.RemoveAll(runFile(l.Dir)))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove the browser's files: %w", err)
	}
	return nil
}

// removeSingleton removes the directory in the place for temporary files in
// which Chromium keeps the socket of its profile: one that was killed leaves
// it. It is the profile's when both hold the same cookie, a random number
// (process_singleton_posix.cc of Chromium). No more is removed than the two
// files and the empty directory.
func removeSingleton(profile string) error {
	socket, err := os.Readlink(filepath.Join(profile, "SingletonSocket"))
	if err != nil || !filepath.IsAbs(socket) {
		return nil //nolint:nilerr // no link: the browser has ended in good order, or has never begun
	}
	cookie, err := os.Readlink(filepath.Join(profile, "SingletonCookie"))
	if err != nil {
		return nil //nolint:nilerr // likewise
	}
	dir := filepath.Dir(socket)
	st, err := os.Lstat(dir)
	if err != nil || !st.IsDir() {
		return nil //nolint:nilerr // it is gone
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Geteuid() {
		return nil
	}
	if there, err := os.Readlink(filepath.Join(dir, "SingletonCookie")); err != nil || there != cookie {
		return nil //nolint:nilerr // another profile's, or nobody's
	}
	for _, p := range []string{socket, filepath.Join(dir, "SingletonCookie"), dir} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the browser's socket: %w", err)
		}
	}
	return nil
}
