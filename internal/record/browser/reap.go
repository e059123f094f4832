package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// Leftover is what is known of a browser whose recording died: what its
// manifest says.
type Leftover struct {
	Kind    Kind
	Command []string        // Browser.Command
	Roots   []proc.Identity // Browser.Roots
	Dir     string          // Options.Dir
}

const (
	// reapRounds bounds how often is looked for processes that were started
	// while others were ended.
	reapRounds = 10
	// killPatience is how long a killed process may take to be gone.
	killPatience = 5 * time.Second
)

// Reap ends every process of the browser and removes its profile and its
// sockets. It may be called when there is nothing left.
func Reap(l Leftover) error {
	var left []proc.Identity
	for range reapRounds {
		found := l.processes()
		if len(found) == 0 {
			left = nil
			break
		}
		if left = proc.KillAll(found, killPatience); len(left) > 0 {
			break
		}
	}
	var errs []error
	for _, id := range left {
		errs = append(errs, fmt.Errorf("process %d of the browser does not end", id.PID))
	}
	return errors.Join(append(errs, l.removeFiles())...)
}

// processes lists what belongs to the browser. Chromium's zygotes and
// renderers wipe their environment, and lose their parent when the browser's
// main process dies: they are found below the roots and by the profile in
// their command line.
func (l Leftover) processes() []proc.Identity {
	profile := profileDir(l.Dir)
	found := append([]proc.Identity(nil), l.Roots...)
	found = append(found, proc.WithEnv(ownerName+"="+profile)...)
	if name := l.namespace(); name != "" {
		found = append(found, daemons(name)...)
	}
	found = append(found, proc.WithArgument("--user-data-dir="+profile)...)
	found = append(found, proc.Descendants(found...)...)
	seen := map[int]bool{os.Getpid(): true}
	out := found[:0]
	for _, id := range found {
		if !seen[id.PID] && id.Alive() {
			seen[id.PID] = true
			out = append(out, id)
		}
	}
	return out
}

// namespace is agent-browser's, taken from the command; empty: none of ours.
func (l Leftover) namespace() string {
	for i := 1; i+1 < len(l.Command); i++ {
		if l.Command[i] == "--namespace" && strings.HasPrefix(l.Command[i+1], "pr-") {
			return l.Command[i+1]
		}
	}
	return ""
}

// runFile holds the path of agent-browser's directory for our namespace: a
// later process may have another environment.
func runFile(dir string) string { return filepath.Join(dir, "agent-browser.path") }

func (l Leftover) removeFiles() error {
	var errs []error
	if name := l.namespace(); name != "" {
		path := namespaceDir(os.Environ(), name)
		if raw, err := os.ReadFile(runFile(l.Dir)); err == nil && filepath.IsAbs(string(raw)) {
			path = string(raw)
		}
		// Only ever a directory of our random name.
		if filepath.Base(path) == name {
			errs = append(errs, os.RemoveAll(path)) //nolint:gosec // its last element is our own random name
		}
	}
	errs = append(errs, os.RemoveAll(profileDir(l.Dir)), os.RemoveAll(runFile(l.Dir)))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove the browser's files: %w", err)
	}
	return nil
}

// watch closes lost when the browser ends. A PID's owner is compared by its
// start time, so a look costs a few system calls.
func (b *Browser) watch(ctx context.Context) {
	defer close(b.watched)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, id := range b.left.Roots {
			if !id.Alive() {
				close(b.lost)
				return
			}
		}
	}
}
