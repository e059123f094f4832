package entry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// InitDoc is the order that Init reads.
type InitDoc struct {
	Argv   []string       `json:"argv"`
	Env    []string       `json:"env"`
	Dir    string         `json:"dir"`
	Work   string         `json:"work"` // where Files go
	Files  []sandbox.File `json:"files"`
	Limits []Limit        `json:"limits"`
	Ready  string         `json:"ready"` // line to print when the program is about to start

	// SendWork is a socket on which Work is handed out as a descriptor; 0: none.
	SendWork int `json:"sendWork"`
	// Seccomp has Init install the filter itself: for backends that take none.
	Seccomp bool `json:"seccomp"`
	Netlink bool `json:"netlink"`
}

// Init is the first process in a box and stays it: it writes the job's files,
// hands out the work directory, says that it is ready, starts the job's
// program, reaps what loses its parent, and ends with that program, as whose
// exit status it gives its own. It is of the same user as the hostile rest;
// not being dumpable, it can be neither traced nor read nor written by it.
func Init(path string) (code int, err error) {
	runtime.LockOSThread() // a filter is of this thread, and what is forked from it has it
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("shut this process: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("open what to do: %w", err)
	}
	var doc InitDoc
	if err := decode(f, &doc); err != nil {
		return 0, err
	}
	if err := doc.prepare(); err != nil {
		return 0, err
	}
	if _, err := os.Stdout.WriteString(doc.Ready); err != nil {
		return 0, fmt.Errorf("say that the box is ready: %w", err)
	}
	env := doc.Env
	if env == nil {
		env = []string{}
	}
	pid, err := syscall.ForkExec(doc.Argv[0], doc.Argv, &syscall.ProcAttr{Dir: doc.Dir, Env: env, Files: []uintptr{0, 1, 2}})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", doc.Argv[0], err)
	}
	return reapUntil(pid)
}

func (d *InitDoc) prepare() error {
	if len(d.Argv) == 0 {
		return errors.New("nothing to start")
	}
	for _, step := range []func() error{
		d.writeFiles, d.sendWork,
		func() error { return os.Chdir(d.Dir) },
		func() error { return unix.Access(d.Argv[0], unix.X_OK) },
		func() error { return keepOnly(nil) },
		func() error { return setLimits(d.Limits) },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("prepare to start %s in the box: %w", d.Argv[0], err)
		}
	}
	if d.Seccomp {
		return installFilter(d.Netlink)
	}
	return nil
}

// reapUntil waits for every process that has no other parent, until the one
// that was started has ended.
func reapUntil(pid int) (code int, err error) {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for the job's program: %w", err)
		case got == pid && status.Signaled():
			return 128 + int(status.Signal()), nil
		case got == pid && status.Exited():
			return status.ExitStatus(), nil
		}
	}
}

func (d *InitDoc) writeFiles() error {
	for _, f := range d.Files {
		path := filepath.Join(d.Work, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // the box has one user
			return fmt.Errorf("write the job's files: %w", err)
		}
		mode := os.FileMode(0o644)
		if f.Exec {
			mode = 0o755
		}
		if err := os.WriteFile(path, f.Data, mode); err != nil {
			return fmt.Errorf("write the job's files: %w", err)
		}
	}
	return nil
}

func (d *InitDoc) sendWork() error {
	if d.SendWork == 0 {
		return nil
	}
	dir, err := os.Open(d.Work)
	if err != nil {
		return fmt.Errorf("open the work directory: %w", err)
	}
	err = unix.Sendmsg(d.SendWork, []byte{'w'}, unix.UnixRights(int(dir.Fd())), nil, 0)
	if err := errors.Join(err, dir.Close()); err != nil {
		return fmt.Errorf("hand out the work directory: %w", err)
	}
	return nil
}
