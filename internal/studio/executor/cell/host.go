package cell

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Config is what every backend needs of its surroundings.
type Config struct {
	Dir string // where the state of boxes lies; empty: DefaultDir
	Exe string // this program, or one that answers to "box" as it does; it is bound into boxes
	Log *slog.Logger
}

// DefaultDir is where the boxes of this user keep their state: below /run for
// root, else below the user's runtime directory or the temporary one. It need
// not outlive the machine's boot: no box does.
func DefaultDir() string {
	if os.Getuid() == 0 {
		return "/run/proofreel"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "proofreel")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("proofreel-%d", os.Getuid()))
}

// Host is what the boxes of one executor share on this machine.
type Host struct {
	Dir  string
	Exe  string
	Log  *slog.Logger
	Root bool // we may make users, mounts and control groups
	Tree sandbox.HostTree

	spawner *proc.Spawner
	self    proc.Identity
	cgroups *proc.CgroupTree // nil: there are none

	mu       sync.Mutex
	boxes    map[string]*Box
	closed   bool
	starting sync.WaitGroup
}

// Open prepares the state directory. It starts nothing but the thread that
// forks; Close ends it.
func Open(c Config) (*Host, error) {
	h := &Host{Dir: c.Dir, Exe: c.Exe, Log: c.Log, Root: os.Getuid() == 0, Tree: sandbox.ThisHost(), boxes: map[string]*Box{}}
	if h.Dir == "" {
		h.Dir = DefaultDir()
	}
	if h.Log == nil {
		h.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if h.self, err = proc.Self(); err != nil {
		return nil, fmt.Errorf("identify this process: %w", err)
	}
	if err := h.prepareDir(); err != nil {
		return nil, fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
	}
	if h.Root {
		if h.cgroups, err = proc.FindCgroups("/proc", ""); err != nil {
			h.Log.Warn("boxes are limited without control groups", "error", err)
			h.cgroups = nil
		}
	}
	h.spawner = proc.NewSpawner()
	return h, nil
}

// LimitKind says in a word what enforces memory and process limits.
func (h *Host) LimitKind() string {
	if h.cgroups != nil {
		return h.cgroups.Kind()
	}
	return "rlimits and a poller"
}

// HasCgroups says whether limits are the kernel's.
func (h *Host) HasCgroups() bool { return h.cgroups != nil }

// prepareDir makes the state directory, which must be ours alone: whoever can
// write there could have our files replaced.
func (h *Host) prepareDir() error {
	for _, d := range []string{h.Dir, h.boxesDir(), filepath.Dir(h.usersDir()), h.usersDir(), filepath.Join(h.Dir, "etc")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("make the state directory: %w", err)
		}
		if err := ours(d); err != nil {
			return err
		}
	}
	for name, text := range sandbox.Etc() {
		path := filepath.Join(h.Dir, "etc", name)
		if have, err := os.ReadFile(path); err == nil && string(have) == text {
			continue
		}
		tmp := path + "." + token()
		//nolint:gosec // the box's user reads it
		if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
			return fmt.Errorf("write the boxes' own %s: %w", name, err)
		}
		if err := errors.Join(os.Chmod(tmp, 0o644), os.Rename(tmp, path)); err != nil { //nolint:gosec // as above, whatever the umask
			return fmt.Errorf("write the boxes' own %s: %w", name, err)
		}
	}
	return nil
}

func (h *Host) boxesDir() string { return filepath.Join(h.Dir, "boxes") }

// usersDir is the machine's, not this state directory's: two servers must not
// take the same user.
func (h *Host) usersDir() string {
	if h.Root {
		return filepath.Join(DefaultDir(), "users")
	}
	return filepath.Join(h.Dir, "users")
}

// EtcFiles gives the box's own /etc: path of the host → path in the box.
func (h *Host) EtcFiles() []sandbox.Mount {
	var out []sandbox.Mount
	for name := range sandbox.Etc() {
		out = append(out, sandbox.Mount{Source: filepath.Join(h.Dir, "etc", name), Target: "/etc/" + name})
	}
	return out
}

// Close kills the boxes that are left and ends the forking thread.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	h.starting.Wait()
	var errs []error
	for _, b := range h.list() {
		errs = append(errs, b.Close())
	}
	h.spawner.Close()
	return errors.Join(errs...)
}

// begin holds Close up until end is called.
func (h *Host) begin() (end func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, fmt.Errorf("%w: it is closed", executor.ErrUnavailable)
	}
	h.starting.Add(1)
	return h.starting.Done, nil
}

func (h *Host) add(b *Box) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.boxes[b.id] = b
}

func (h *Host) forget(b *Box) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.boxes, b.id)
}

func (h *Host) list() []*Box {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*Box, 0, len(h.boxes))
	for _, b := range h.boxes {
		out = append(out, b)
	}
	return out
}

// token gives a name that nobody can guess.
func token() string {
	var raw [9]byte
	_, _ = rand.Read(raw[:]) // never fails (crypto/rand)
	return hex.EncodeToString(raw[:])
}
