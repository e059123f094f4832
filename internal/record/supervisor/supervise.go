package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/record/browser"
	"github.com/proofreel/proofreel/internal/record/display"
	"github.com/proofreel/proofreel/internal/record/recorder"
)

// readyFD is the descriptor on which the caller waits for a word.
const readyFD = 3

// session is the process that owns one recording, for as long as it lives.
type session struct {
	dir    *recording.Dir
	log    *slog.Logger
	spawn  *proc.Spawner
	ffmpeg string
	page   string // address to open, as it was given
	// environ is what publishing chooses from. The children of the recording
	// don't get the credentials in it.
	environ []string

	mu  sync.Mutex
	man recording.Manifest

	// What is running, when this process started it; a process that finishes
	// another's recording has none of these.
	screen  *display.Own
	browser *browser.Browser
	rec     *recorder.Recorder
}

// Supervise is the detached process: it runs the recording in dir from its
// start to its film.
func (m *Manager) Supervise(ctx context.Context, path string) error {
	return m.own(ctx, path, func(ctx context.Context, s *session, say func(error)) error {
		if err := s.start(ctx); err != nil {
			e := s.abort(err)
			say(e)
			return e
		}
		say(nil)
		s.film(ctx)
		return s.finish(context.WithoutCancel(ctx))
	})
}

// Finish is the detached process that brings a recording to its end whose
// supervisor has died, or whose end failed in a way that can be mended.
func (m *Manager) Finish(ctx context.Context, path string) error {
	return m.own(ctx, path, func(ctx context.Context, s *session, say func(error)) error {
		say(nil)
		return s.finish(context.WithoutCancel(ctx))
	})
}

// own takes the recording for this process and runs work on it. ctx of work
// ends when the process is told to end.
func (m *Manager) own(ctx context.Context, path string, work func(context.Context, *session, func(error)) error) error {
	letGo()
	say := sayOnce(os.NewFile(readyFD, "ready"))
	page := readPage(os.Stdin)
	defer say(errors.New("ended early"))
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	dir := recording.At(path)
	lock, err := takeLock(dir)
	if err != nil {
		say(err)
		return fmt.Errorf("take the recording: %w", err)
	}
	defer lock.Unlock()

	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGPIPE, unix.SIGXFSZ)
	ctx, stop := signal.NotifyContext(ctx, unix.SIGTERM)
	defer stop()
	if err := proc.AdoptOrphans(); err != nil {
		log.Warn("orphans won't be adopted", "err", err)
	}
	s := &session{dir: dir, log: log, spawn: proc.NewSpawner(), page: page, environ: hideCredentials()}
	defer s.spawn.Close()
	if s.man, err = dir.Load(); err != nil {
		say(err)
		return fmt.Errorf("load the recording: %w", err)
	}
	self, err := proc.Self()
	if err != nil {
		say(err)
		return fmt.Errorf("identify the supervisor: %w", err)
	}
	if err := s.update(func(man *recording.Manifest) { man.Supervisor = self }); err != nil {
		say(err)
		return err
	}
	reaper := s.reapOrphans()
	defer reaper()
	return work(ctx, s, say)
}

// takeLock takes the recording. Commands that look at it hold its lock for
// moments, so a taken lock is tried again for a while.
func takeLock(dir *recording.Dir) (*statefile.Lock, error) {
	const tries, pause = 40, 50 * time.Millisecond
	for try := 1; ; try++ {
		lock, err := dir.TryLock()
		if !errors.Is(err, statefile.ErrLocked) || try == tries {
			return lock, err
		}
		time.Sleep(pause)
	}
}

// letGo lets go of what the caller had open and did not mean for us: a lock or
// a pipe of its shell would stay held until the film ends, and our children
// would hold it on. Our own descriptors are close-on-exec from their birth, so
// those that are not were inherited. The ready pipe stays, for us alone.
func letGo() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		if fd == readyFD {
			unix.CloseOnExec(fd)
			continue
		}
		_ = unix.Close(fd)
	}
}

// hideCredentials takes what only publishing needs out of the environment that
// every child gets, and gives the whole of it.
func hideCredentials() []string {
	whole := os.Environ()
	for _, v := range whole {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "UPLOADS_") {
			_ = os.Unsetenv(name)
		}
	}
	return whole
}

// readPage reads the address of the page to open. It comes by a pipe, since it
// may hold a password: arguments, environments and state files can be read.
func readPage(in io.Reader) string {
	raw, err := io.ReadAll(io.LimitReader(in, 1<<20))
	if err != nil {
		return ""
	}
	return string(raw)
}

// sayOnce gives the caller one word: nil for ready, or what went wrong. The
// caller may have died meanwhile; that is no concern of ours.
func sayOnce(pipe *os.File) func(error) {
	var once sync.Once
	return func(err error) {
		once.Do(func() {
			msg := ready{OK: err == nil}
			if err != nil {
				msg.Error = asSupervisorFault(err)
			}
			raw, _ := json.Marshal(msg)
			_, _ = io.WriteString(pipe, string(raw)+"\n")
			_ = pipe.Close()
		})
	}
}

// asSupervisorFault gives errors that are none of the user's a code that lets
// the caller try again.
func asSupervisorFault(err error) *fault.Error {
	var own *fault.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, statefile.ErrLocked):
		return fault.Wrap(err, fault.SupervisorFailed, "Try again.", "another process has the recording")
	case errors.Is(err, unix.ENOSPC):
		return fault.Wrap(err, fault.DiskFull, "Free some space and try again.", "there is no space left where recordings are kept")
	default:
		return fault.Wrap(err, fault.SupervisorFailed, "Try again; its log is supervisor.log in the recording's directory.", "the supervisor failed")
	}
}

// reapOrphans collects the ended children of children until the returned
// function is called.
func (s *session) reapOrphans() (stop func()) {
	sig := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(sig, unix.SIGCHLD)
	go func() {
		defer close(done)
		for range sig {
			time.Sleep(50 * time.Millisecond) // one look for many
			s.spawn.ReapOrphans()
		}
	}()
	return func() {
		signal.Stop(sig)
		close(sig)
		<-done
	}
}

// update changes the manifest in memory and on disk. When the disk refuses,
// the change stays in memory and is written with the next one.
func (s *session) update(change func(*recording.Manifest)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.man)
	return s.dir.Save(s.man)
}

// manifest is a copy of the state.
func (s *session) manifest() recording.Manifest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.man
}

// phase moves the recording on. A disk that refuses must not keep a film from
// being made, so a failure is only logged.
func (s *session) phase(ctx context.Context, p recording.Phase) {
	if err := s.update(func(man *recording.Manifest) { man.Phase = p }); err != nil {
		s.log.Error("state not saved", "phase", p, "err", err)
	}
	s.log.Info("phase", "phase", p)
	faultpoint(ctx, p)
}

// remember keeps the identities of all that runs, so that another process can
// end it when this one was killed.
func (s *session) remember() error {
	var owned []recording.Owned
	for _, c := range s.spawn.Live() {
		owned = append(owned, recording.Owned{Role: c.Role, Identity: c.Identity})
	}
	if s.browser != nil {
		for _, id := range s.browser.Roots() {
			owned = append(owned, recording.Owned{Role: "browser", Identity: id})
		}
	}
	return s.update(func(man *recording.Manifest) { man.Owned = owned })
}
