package browser

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// Leftover is what is known of a browser whose recording died: what its
// manifest says. Dir alone is enough: what else is needed was written there
// before anything was started.
type Leftover struct {
	Kind    Kind            // empty: it is not known whether there was a browser
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
// sockets. It may be called when there is nothing left, and costs next to
// nothing when there was no browser.
func Reap(l Leftover) error {
	if l.nothing() {
		return nil
	}
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

// nothing says that no browser was ever started: the first thing that a start
// does is to make the profile's directory.
func (l Leftover) nothing() bool {
	if l.Kind != "" || len(l.Command) > 0 || len(l.Roots) > 0 {
		return false
	}
	for _, p := range []string{profileDir(l.Dir), runFile(l.Dir)} {
		if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// processes lists what belongs to the browser. Chromium's zygotes and
// renderers wipe their environment, and lose their parent when the browser's
// main process dies: they are found below the roots and by the profile in
// their command line.
func (l Leftover) processes() []proc.Identity {
	profile := profileDir(l.Dir)
	found := append([]proc.Identity(nil), l.Roots...)
	found = append(found, proc.WithEnv(ownerName+"="+profile)...)
	if name, _ := l.namespace(); name != "" {
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
		if what := b.ended(); what != "" {
			b.lostWhat = what
			close(b.lost)
			return
		}
	}
}

// ended says which of the roots have ended. The last root is the browser
// itself; agent-browser's daemon is before it.
func (b *Browser) ended() string {
	var what []string
	for i, id := range b.left.Roots {
		switch {
		case id.Alive():
		case i == len(b.left.Roots)-1:
			what = append(what, "the browser")
		default:
			what = append(what, "agent-browser's daemon")
		}
	}
	return strings.Join(what, " and ")
}
