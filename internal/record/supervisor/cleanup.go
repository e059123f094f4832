package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/record/browser"
	"github.com/proofreel/proofreel/internal/record/display"
)

// killPatience is how long a killed process may take to be gone.
const killPatience = 10 * time.Second

// everyone lists all processes that belong to the recording, as far as they
// can be found: those remembered, those that carry its mark, and those below.
func everyone(man recording.Manifest) []proc.Identity {
	var roots []proc.Identity
	for _, o := range man.Owned {
		roots = append(roots, o.Identity)
	}
	roots = append(roots, proc.Marked(man.ID)...)
	all := slices.Concat(roots, proc.Descendants(roots...))
	self := os.Getpid()
	seen := map[int]bool{self: true}
	out := all[:0]
	for _, id := range all {
		if !seen[id.PID] && id != man.Supervisor && id.Alive() {
			seen[id.PID] = true
			out = append(out, id)
		}
	}
	return out
}

func (s *session) everyone() []proc.Identity { return everyone(s.manifest()) }

// closeBrowser ends the browser: in good order when this process started it.
func (s *session) closeBrowser(ctx context.Context) {
	if s.browser != nil {
		if err := s.browser.Close(ctx); err != nil {
			s.log.Warn("browser not closed in good order", "err", err)
		}
		return
	}
	if s.manifest().Browser != nil {
		if err := reapBrowser(s.dir, s.manifest()); err != nil {
			s.log.Warn("browser of a dead supervisor not reaped", "err", err)
		}
	}
}

// stopCapture waits until all that was captured is on disk.
func (s *session) stopCapture() {
	if s.rec == nil {
		proc.KillAll(s.everyone(), killPatience) // encoder and verifier of a dead supervisor
		return
	}
	if err := s.rec.Drain(); err != nil {
		s.log.Warn("capture did not end in good order", "err", err)
	}
}

// cleanUp ends and removes all that belongs to the recording but its film.
func (s *session) cleanUp(ctx context.Context) error {
	var errs []error
	if s.screen != nil {
		errs = append(errs, s.screen.Stop(ctx))
	}
	errs = append(errs, reapAll(s.dir, s.manifest()), s.removeSegments())
	if err := errors.Join(errs...); err != nil {
		e := fault.Wrap(err, fault.CleanupFailed, "Stop again.", "something of the recording could not be removed")
		if f := s.manifest().Film; f != nil {
			e = e.WithArtifact(f.Path)
		}
		return e
	}
	return nil
}

// killEveryone ends all processes of a recording and gives those that don't
// end. It looks again after each round: a process in the middle of its exec has
// no environment to be found by, and one that is being killed may start another.
func killEveryone(man recording.Manifest) (left []proc.Identity) {
	const rounds = 3
	for range rounds {
		ids := everyone(man)
		if len(ids) == 0 {
			return nil
		}
		left = proc.KillAll(ids, killPatience)
	}
	return left
}

// reapAll ends every process that is left of a recording, and removes its
// display's lock and socket, its cookie and its browser's profile.
func reapAll(dir *recording.Dir, man recording.Manifest) error {
	left := killEveryone(man)
	var errs []error
	for _, id := range left {
		errs = append(errs, fmt.Errorf("process %d does not end", id.PID))
	}
	// Also when no browser is known: the supervisor may have died while it
	// started one. The directory tells.
	errs = append(errs, reapBrowser(dir, man))
	if man.Display.Own {
		for _, o := range man.Owned {
			if o.Role == display.RoleXvfb {
				display.CleanStale(man.Display.Name, o.Identity)
			}
		}
	}
	return errors.Join(append(errs, os.RemoveAll(dir.Private()))...)
}

func reapBrowser(dir *recording.Dir, man recording.Manifest) error {
	var roots []proc.Identity
	for _, o := range man.Owned {
		if o.Role == "browser" {
			roots = append(roots, o.Identity)
		}
	}
	left := browser.Leftover{Roots: roots, Dir: dir.Private()}
	if b := man.Browser; b != nil {
		left.Kind, left.Command = browser.Kind(b.Kind), b.Command
	}
	return browser.Reap(left)
}

// reapDead ends what a dead supervisor has left running, as the next command
// that comes along. The recording itself waits for stop or recover.
func (m *Manager) reapDead(dir *recording.Dir, man recording.Manifest) recording.Manifest {
	if _, err := os.Stat(dir.Private()); err != nil || man.Phase.Terminal() || man.Launching() || man.Supervisor.Alive() {
		return man
	}
	lock, err := dir.TryLock()
	if err != nil {
		return man // somebody is at it
	}
	defer lock.Unlock()
	if man, err = dir.Load(); err != nil || man.Launching() || man.Supervisor.Alive() {
		return man
	}
	m.reap(dir, man)
	man.Owned = nil
	if err := dir.Save(man); err != nil {
		m.log().Warn("state not saved", "recording", man.ID, "err", err)
	}
	return man
}

func (m *Manager) reap(dir *recording.Dir, man recording.Manifest) {
	if man.Supervisor.Alive() && !man.Phase.Terminal() {
		return
	}
	if err := reapAll(dir, man); err != nil {
		m.log().Warn("leftovers not removed", "recording", man.ID, "err", err)
	}
}

func (m *Manager) log() *slog.Logger {
	if m.Log != nil {
		return m.Log
	}
	return slog.New(slog.DiscardHandler)
}
