package cell

import (
	"bytes"
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
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/entry"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// probeWithin bounds a probe, inside or outside.
const probeWithin = 2 * time.Minute

// Probe plants canaries, tries every case outside and in a real box of the
// backend's, and gives the report. guest says that the backend's boxes have a
// kernel of their own. An error means that there is no report.
func Probe(ctx context.Context, e executor.Executor, h *Host, guest bool) (sandbox.Report, error) {
	began := time.Now()
	report := sandbox.Report{Backend: e.Name(), Limits: h.LimitKind()}
	c, err := plant(h)
	if err != nil {
		return report, err
	}
	outside, err := c.tryOutside(ctx, h)
	if err != nil {
		return report, errors.Join(err, c.close())
	}
	c.takeHits()
	inside, problems, err := c.tryInside(ctx, e)
	if err != nil {
		return report, errors.Join(err, c.close())
	}
	report.Problems = problems
	for name := range c.takeHits() {
		report.Problems = append(report.Problems, "the canary at "+name+" was reached from the box")
	}
	report.Results = sandbox.Judge(guest, inside, outside)
	report.Took = time.Since(began)
	return report, c.close()
}

// tryOutside runs the same program on the bare machine: what it can't reach
// there, it proves nothing about inside.
func (c *canaries) tryOutside(ctx context.Context, h *Host) ([]sandbox.Observation, error) {
	t := c.targets
	t.Outside = true
	path := filepath.Join(c.dir, "outside.json")
	if err := writeJSON(path, t); err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer func() { _ = r.Close() }()
	child, err := h.spawner.Start(proc.Command{
		Role: "probe", Path: h.Exe, Args: []string{"box", entry.RoleProbe, path}, Env: []string{}, Dir: "/", Stdout: w,
	})
	_ = w.Close()
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the role
	}
	stop := context.AfterFunc(ctx, child.Kill)
	defer stop()
	timer := time.AfterFunc(probeWithin, child.Kill)
	defer timer.Stop()
	var out bytes.Buffer
	_, err = out.ReadFrom(r)
	if err := errors.Join(err, child.Err()); err != nil {
		return nil, fmt.Errorf("probe from outside: %w: %s", err, out.String())
	}
	return sandbox.ReadProbe(out.String()) //nolint:wrapcheck // it says what it is
}

// Small limits: the probe fills what it can.
const (
	probeWork = 24 << 20
	probeTmp  = 16 << 20
)

func (c *canaries) tryInside(ctx context.Context, e executor.Executor) ([]sandbox.Observation, []string, error) {
	t := c.targets
	var doors []sandbox.Door
	for i, socket := range c.doors {
		target := sandbox.RunDir + "/door" + strconv.Itoa(i) + ".sock"
		t.Doors = append(t.Doors, target)
		doors = append(doors, sandbox.Door{Socket: socket, Target: target})
	}
	t.WorkBytes, t.TmpBytes = probeWork, probeTmp
	raw, err := json.Marshal(t) //nolint:gosec // the secret is a canary's path
	if err != nil {
		return nil, nil, fmt.Errorf("write the probe's targets: %w", err)
	}
	var out bytes.Buffer
	box, err := e.Start(ctx, sandbox.Spec{
		JobID: "probe", Argv: []string{sandbox.Program, "box", entry.RoleProbe, "targets.json"},
		Env:   []string{"PATH=" + sandbox.Path},
		Files: []sandbox.File{{Name: "targets.json", Data: raw}}, Doors: doors, Stdout: &out,
		Limits: sandbox.Limits{Disk: probeWork, Tmp: probeTmp, Wall: probeWithin, LogBytes: 1 << 20},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("start the probe's box: %w", err)
	}
	exit, err := box.Wait(ctx)
	problems := ownerProblems(box)
	if err := errors.Join(err, box.Close()); err != nil {
		return nil, nil, fmt.Errorf("wait for the probe's box: %w", err)
	}
	if exit.Reason != executor.Exited || exit.Code != 0 {
		return nil, nil, fmt.Errorf("the probe ended with %s %d: %s", exit.Reason, exit.Code, out.String())
	}
	seen, err := sandbox.ReadProbe(out.String())
	return seen, problems, err //nolint:wrapcheck // it says what it is
}

// ownerProblems looks from outside under which user the box ran: a box that
// only maps root to another name is root's to the kernel.
func ownerProblems(box executor.Box) []string {
	var st unix.Stat_t
	if err := unix.Fstatat(int(box.Work().Fd()), "targets.json", &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return []string{"what the box wrote can't be seen outside: " + err.Error()}
	}
	if st.Uid == 0 {
		return []string{"the box runs as root of the host"}
	}
	if int(st.Uid) != box.Owner() {
		return []string{fmt.Sprintf("the box's files belong to %d and not to %d", st.Uid, box.Owner())}
	}
	return nil
}

func writeJSON(path string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
