package cell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/entry"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Backend makes the command that a box is started by.
type Backend interface {
	Name() string
	// Plan fills in the launch: its program, its descriptors, what is staged.
	Plan(l *Launch) error
}

// Launch is a box that is about to be started. A backend reads the first part
// and fills in the second.
type Launch struct {
	ID   string
	Spec sandbox.Spec
	Dir  string // the box's own state, gone after it; nothing hostile reaches it
	User int    // the host's user that the box is to run under; 0: as we do
	Init entry.InitDoc

	Argv    []string // the program that isolates
	Env     []string
	Files   []*os.File // its descriptors from FirstFD on; closed after the start
	FirstFD int
	Stage   *entry.StageDoc // what to lay out; nil: not staged
	HandOut bool            // Init hands the work directory out
	Bare    string          // a directory of the host's that is the box, for want of any isolation
	Pids    int64           // limit of the control group where it differs from the spec's
}

// Users says under whom a backend's boxes run.
type Users int

// The kinds.
const (
	Ours  Users = iota // under our own user
	Pool               // each under a user of its own, when we are root
	Guest              // under root, by a program that has users of its own inside
)

// startWithin bounds the way in. It is generous: a busy machine is no error.
const startWithin = 60 * time.Second

// Start starts a box. On an error nothing runs and nothing is left.
func (h *Host) Start(ctx context.Context, b Backend, kind Users, spec sandbox.Spec) (executor.Box, error) {
	spec = spec.WithDefaults()
	if err := spec.Validate(); err != nil {
		return nil, err //nolint:wrapcheck // it says what it is
	}
	end, err := h.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	box := &Box{id: token(), host: h, backend: b.Name(), spec: spec, killed: make(chan executor.Reason, 1), done: make(chan struct{})}
	if err := box.start(ctx, b, kind); err != nil {
		box.abandon()
		return nil, err
	}
	h.add(box)
	go box.watch()
	return box, nil
}

// start makes what the box holds, in an order in which a crash at any point
// leaves what Reap finds: the state document comes first.
func (b *Box) start(ctx context.Context, backend Backend, kind Users) error {
	if err := b.hold(kind); err != nil {
		return err
	}
	l, err := b.plan(backend, kind)
	if err != nil {
		return err
	}
	defer closeAll(l.Files)
	if l.Stage != nil && b.host.cgroups != nil {
		limits := proc.CgroupLimits{Memory: b.spec.Limits.Memory + b.spec.Limits.Disk, Pids: l.Pids, CPU: b.spec.Limits.CPU}
		if b.cgroup, err = b.host.cgroups.Make(cgroupPrefix+b.id, limits); err != nil {
			return fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
		}
	}
	return b.run(ctx, l)
}

// hold takes a user and makes the directories.
func (b *Box) hold(kind Users) error {
	h := b.host
	b.owner = os.Getuid()
	var err error
	if kind == Pool && h.Root {
		if b.user, err = h.takeUser(); err != nil {
			return err
		}
		b.owner = b.user.id
	}
	if kind == Guest {
		b.owner = sandbox.UserID
	}
	b.dir = filepath.Join(h.boxesDir(), b.id)
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		return fmt.Errorf("%w: make the box's directory: %w", executor.ErrUnavailable, err)
	}
	b.state = state{ID: b.id, Job: b.spec.JobID, Backend: b.backend, Server: h.self, User: b.owner, Started: time.Now()}
	if kind != Ours && h.cgroups != nil {
		b.state.Cgroup = cgroupPrefix + b.id
	}
	return b.save()
}

func (b *Box) plan(backend Backend, kind Users) (*Launch, error) {
	s, l := b.spec, b.spec.Limits
	launch := &Launch{ID: b.id, Spec: s, Dir: b.dir, FirstFD: entry.DocFD, Pids: l.Pids}
	if b.user != nil {
		launch.User = b.user.id
	}
	launch.Init = entry.InitDoc{
		Argv: s.Argv, Env: s.Env, Dir: s.Dir, Work: sandbox.WorkDir, Files: s.Files, Netlink: s.Netlink,
		Ready: readyWord + b.id + "\n",
		Limits: []entry.Limit{
			{Resource: unix.RLIMIT_CORE, Value: 0},
			{Resource: unix.RLIMIT_NOFILE, Value: uint64(l.Files)},
			{Resource: unix.RLIMIT_MEMLOCK, Value: 1 << 20},
			{Resource: unix.RLIMIT_MSGQUEUE, Value: 1 << 20},
			// Counted in the box's own user namespace, so it is this box's alone.
			{Resource: unix.RLIMIT_NPROC, Value: uint64(l.Pids)},
		},
	}
	if kind != Ours && b.host.Root {
		launch.FirstFD = entry.FirstFD
		launch.Stage = &entry.StageDoc{User: launch.User, Work: "work"}
	}
	if launch.Stage == nil || b.host.cgroups == nil {
		// Not RLIMIT_AS: browsers reserve address space that they never use.
		launch.Init.Limits = append(launch.Init.Limits, entry.Limit{Resource: unix.RLIMIT_DATA, Value: uint64(l.Memory)})
	}
	if err := backend.Plan(launch); err != nil {
		closeAll(launch.Files)
		return nil, err //nolint:wrapcheck // the backend says what it is
	}
	return launch, nil
}

// Show has something of the host's staged, and gives the path at which the
// backend finds it. Without a stage that is where it lies.
func (l *Launch) Show(source string, socket bool) string {
	if l.Stage == nil {
		return source
	}
	at := "in/" + strconv.Itoa(len(l.Stage.Mounts))
	l.Stage.Mounts = append(l.Stage.Mounts, entry.StageBind{Source: source, Path: at, Socket: socket})
	return filepath.Join(entry.StageDir, at)
}

// Pass gives the backend's program a descriptor that reads these bytes, and
// says which.
func (l *Launch) Pass(name string, data []byte) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(data); err != nil {
		return 0, errors.Join(fmt.Errorf("fill %s: %w", name, err), f.Close())
	}
	if _, err := f.Seek(0, 0); err != nil {
		return 0, errors.Join(fmt.Errorf("rewind %s: %w", name, err), f.Close())
	}
	return l.PassFile(f), nil
}

// PassFile gives the backend's program a descriptor and says which.
func (l *Launch) PassFile(f *os.File) int {
	l.Files = append(l.Files, f)
	return l.FirstFD + len(l.Files) - 1
}

// run starts the processes and waits until the job's program runs.
func (b *Box) run(ctx context.Context, l *Launch) error {
	var mount *os.File
	if l.Stage != nil {
		var err error
		if b.work, mount, err = newWork(b.spec.Limits.Disk, b.owner); err != nil {
			return fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
		}
		defer func() { _ = mount.Close() }()
	}
	out, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("%w: %w", executor.ErrStart, err)
	}
	b.log = newLogPipe(out, b.id)
	defer func() { _ = in.Close() }()
	go b.log.copyTo(b.spec.Stdout, b.spec.Limits.LogBytes)
	if b.bare = l.Bare != ""; b.bare {
		if b.work, err = os.Open(l.Init.Work); err != nil {
			return fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
		}
	}
	var hand *os.File
	if l.HandOut {
		ours, theirs, err := socketPair()
		if err != nil {
			return fmt.Errorf("%w: %w", executor.ErrStart, err)
		}
		defer func() { _ = ours.Close() }()
		l.Init.SendWork, hand = l.PassFile(theirs), ours
	}
	if err := b.writeInit(l); err != nil {
		return fmt.Errorf("%w: %w", executor.ErrStart, err)
	}
	if err := b.fork(l, in, mount); err != nil {
		return fmt.Errorf("%w: %w", executor.ErrStart, err)
	}
	_ = in.Close()
	closeAll(l.Files)
	if err := b.awaitReady(ctx); err != nil {
		return err
	}
	if hand != nil {
		if b.work, err = receiveDir(hand); err != nil {
			return fmt.Errorf("%w: %w", executor.ErrStart, err)
		}
	}
	b.began = time.Now()
	b.findNamespace()
	return b.save()
}

func (b *Box) writeInit(l *Launch) error {
	raw, err := json.Marshal(l.Init)
	if err != nil {
		return fmt.Errorf("write what the box is to do: %w", err)
	}
	path := filepath.Join(b.dir, InitName)
	//nolint:gosec // its directory is closed; the box's user reads it
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		return fmt.Errorf("write what the box is to do: %w", err)
	}
	return os.Chmod(path, 0o644) //nolint:gosec,wrapcheck // as above, whatever the umask
}

// InitName is Init's order, in a launch's directory.
const InitName = "init.json"

// fork starts the process: through Stage, where there is one. That waits for
// its order, which it gets when it is in its control groups.
func (b *Box) fork(l *Launch, log, mount *os.File) error {
	cmd := proc.Command{Role: "box", Path: l.Argv[0], Args: l.Argv[1:], Env: l.Env, Dir: "/", Stdin: b.spec.Stdin, Stdout: log, Stderr: log, Files: l.Files}
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	if l.Stage == nil {
		var err error
		if b.child, err = b.host.spawner.Start(cmd); err != nil {
			return err //nolint:wrapcheck // it names the role
		}
		b.state.Process = b.child.Identity
		return b.save()
	}
	order, tell, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer func() { _ = tell.Close() }()
	for i := range l.Files {
		l.Stage.Keep = append(l.Stage.Keep, entry.FirstFD+i)
	}
	l.Stage.Argv, l.Stage.Env = l.Argv, l.Env
	cmd.Path, cmd.Args, cmd.Env = b.host.Exe, []string{"box", entry.RoleStage}, []string{}
	cmd.Files = append([]*os.File{order, mount}, l.Files...)
	b.child, err = b.host.spawner.Start(cmd)
	_ = order.Close()
	if err != nil {
		return err //nolint:wrapcheck // it names the role
	}
	b.state.Process = b.child.Identity
	if err := b.save(); err != nil {
		return err
	}
	if b.cgroup != nil {
		if err := b.cgroup.Add(b.child.PID); err != nil {
			return err //nolint:wrapcheck // it says what it is
		}
	}
	if err := json.NewEncoder(tell).Encode(l.Stage); err != nil {
		return fmt.Errorf("tell the box what to lay out: %w", err)
	}
	return nil
}

func (b *Box) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	select {
	case <-b.log.ready:
		return nil
	case <-b.log.done:
	case <-ctx.Done():
	}
	select {
	case <-b.log.ready:
		return nil
	default:
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", executor.ErrStart, err)
	}
	return fmt.Errorf("%w: %s", executor.ErrStart, b.log.failed.String())
}

// findNamespace finds the box's first process: when it dies, the kernel kills
// everything in its PID namespace, whatever that is doing.
func (b *Box) findNamespace() {
	own, err := proc.PIDNamespace(os.Getpid())
	if err != nil {
		return
	}
	for _, id := range proc.Descendants(b.child.Identity) {
		if ns, err := proc.PIDNamespace(id.PID); err == nil && ns != own {
			b.state.First, b.state.Namespace = id, ns
			return
		}
	}
}

func (b *Box) save() error {
	if err := statefile.WriteVolatile(filepath.Join(b.dir, stateName), b.state); err != nil {
		return fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
	}
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
