package executortest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Traits say what a backend is held to.
type Traits struct {
	Isolates   bool  // it is a box; else only the end of things is tested
	HostTasks  bool  // the box's processes are the host's, and can be looked for by their arguments
	KernelPids bool  // the limit on processes is met by fork failing
	Output     int64 // bytes that a job prints to test the limit of the log
}

// bounded is far more than anything here takes on a busy machine.
const bounded = 2 * time.Minute

// Run holds a backend to what executor promises.
func Run(t *testing.T, open Opener, traits Traits) {
	dir := stateDir(t)
	e, err := open(dir)
	if err != nil {
		t.Fatalf("%v (install what is missing: make install-box)", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &suite{e: e, dir: dir, traits: traits, open: open}
	t.Run("job", s.job)
	t.Run("refused", s.refused)
	t.Run("limits", s.limits)
	t.Run("attacks", s.attacks)
	s.nothingLeft(t)
	t.Run("together", s.together)
	t.Run("kill", s.kill)
	t.Run("orphans", s.orphans)
}

// stateDir makes a directory with a short path: sockets lie below.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "boxes")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

type suite struct {
	e      executor.Executor
	dir    string
	traits Traits
	open   Opener
}

// result is what became of a box.
type result struct {
	executor.Exit
	log string
	box executor.Box // dead; its work directory is there until the test ends
}

// run runs a box to its end.
func (s *suite) run(t *testing.T, spec sandbox.Spec) result {
	t.Helper()
	var log bytes.Buffer
	if spec.JobID == "" {
		spec.JobID = "test"
	}
	spec.Stdout = &log
	ctx, cancel := context.WithTimeout(t.Context(), bounded)
	defer cancel()
	box, err := s.e.Start(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	exit, err := box.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return result{exit, log.String(), box}
}

func shell(script string) []string { return []string{"/bin/sh", "-c", script} }

// A job gets what it was given and nothing else, and what it leaves is found.
func (s *suite) job(t *testing.T) {
	in, err := os.CreateTemp(s.dir, "in")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if _, err := in.WriteString("from stdin"); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CANARY_OF_THE_SERVER", "leak")
	r := s.run(t, sandbox.Spec{
		Argv:  shell(`cat; echo; cat a/JOB.md; echo; env | grep -v -e ^PWD -e ^OLDPWD -e ^SHLVL -e ^_ -e ^PROOFREEL_ | sort; mkdir -p out; echo film > out/final; ln -s /etc/passwd out/link; exit 7`),
		Env:   []string{"PATH=/usr/bin:/bin", "TOKEN=t"},
		Files: []sandbox.File{{Name: "a/JOB.md", Data: []byte("the brief")}},
		Stdin: in,
	})
	if r.Reason != executor.Exited || r.Code != 7 {
		t.Errorf("ended with %s %d", r.Reason, r.Code)
	}
	if diff := cmp.Diff("from stdin\nthe brief\nPATH=/usr/bin:/bin\nTOKEN=t\n", r.log); diff != "" {
		t.Error(diff)
	}
	if got := readWork(t, r.box, "out/final"); got != "film\n" {
		t.Errorf("out/final holds %q", got)
	}
	var st os.FileInfo
	if st, err = r.box.Work().Stat(); err != nil || !st.IsDir() {
		t.Errorf("the work directory: %v", err)
	}
	if err := r.box.Close(); err != nil {
		t.Error(err)
	}
	s.nothingLeft(t)
}

// readWork reads a file of the work directory by its descriptor.
func readWork(t *testing.T, b executor.Box, name string) string {
	t.Helper()
	root, err := os.OpenRoot("/proc/self/fd/" + itoa(int(b.Work().Fd())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	raw, err := root.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A start that fails must say so, and leave nothing that runs or lies about.
func (s *suite) refused(t *testing.T) {
	sh := shell("sleep 600")
	tests := []struct {
		name string
		spec sandbox.Spec
		want error
	}{
		{"no program", sandbox.Spec{Argv: []string{"/nonexistent"}}, executor.ErrStart},
		{"relative program", sandbox.Spec{Argv: []string{"sh"}}, sandbox.ErrSpec},
		{"no job", sandbox.Spec{JobID: "../x", Argv: sh}, sandbox.ErrSpec},
		{"over the root", sandbox.Spec{Argv: sh, Inputs: []sandbox.Mount{{Source: "/usr", Target: "/"}}}, sandbox.ErrSpec},
		{"over /proc", sandbox.Spec{Argv: sh, Inputs: []sandbox.Mount{{Source: "/usr", Target: "/proc/x"}}}, sandbox.ErrSpec},
		{"file outside", sandbox.Spec{Argv: sh, Files: []sandbox.File{{Name: "../x"}}}, sandbox.ErrSpec},
		{"no limit", sandbox.Spec{Argv: sh, Limits: sandbox.Limits{Memory: -1}}, sandbox.ErrSpec},
	}
	if s.traits.Isolates {
		tests = append(tests, []struct {
			name string
			spec sandbox.Spec
			want error
		}{
			{"input is missing", sandbox.Spec{Argv: sh, Inputs: []sandbox.Mount{{Source: "/nonexistent", Target: "/in"}}}, executor.ErrStart},
			{"door is missing", sandbox.Spec{Argv: sh, Doors: []sandbox.Door{{Socket: "/nonexistent", Target: sandbox.RunDir + "/d"}}}, executor.ErrStart},
		}...)
	}
	for _, tt := range tests {
		if tt.spec.JobID == "" {
			tt.spec.JobID = "refused"
		}
		box, err := s.e.Start(t.Context(), tt.spec)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil {
			_ = box.Close()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if box, err := s.e.Start(ctx, sandbox.Spec{JobID: "late", Argv: sh}); err == nil {
		_ = box.Close() // it was quicker than the context: fine
	}
	s.nothingLeft(t)
}

// Boxes side by side must not meet, neither by files nor by users.
func (s *suite) together(t *testing.T) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	owners := map[int]int{}
	for i := range 3 {
		wg.Go(func() {
			box, err := s.e.Start(t.Context(), sandbox.Spec{JobID: "side-" + itoa(i), Argv: shell("echo mine > mine; sleep 600")})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = box.Close() })
			mu.Lock()
			owners[box.Owner()]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if s.traits.HostTasks && os.Getuid() == 0 && s.traits.Isolates && len(owners) != 3 {
		t.Errorf("users of three boxes: %v", owners)
	}
}

// Kill ends what runs, twice too, and Wait says so.
func (s *suite) kill(t *testing.T) {
	box, err := s.e.Start(t.Context(), sandbox.Spec{JobID: "kill", Argv: shell("trap '' TERM; echo up; sleep 600")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := box.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait gives %v", err)
	}
	for range 2 {
		if err := box.Kill(); err != nil {
			t.Error(err)
		}
	}
	if exit, err := box.Wait(t.Context()); err != nil || exit.Reason != executor.Killed {
		t.Errorf("%+v, %v", exit, err)
	}
	for range 2 {
		_ = box.Close()
	}
}

// The boxes of a server that was killed die, and what they left is reaped;
// those of a server that lives are not touched.
func (s *suite) orphans(t *testing.T) {
	living, err := s.e.Start(t.Context(), sandbox.Spec{JobID: "living", Argv: shell("sleep 600")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = living.Close() }()
	cmd := exec.Command(os.Args[0]) //nolint:gosec,noctx // this very program; it is killed below
	cmd.Env = append(os.Environ(), serverVar+"="+s.dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
		t.Fatalf("the server says %q, %v", line, err)
	}
	if n := len(s.boxDirs(t)); n < 2 {
		t.Fatalf("%d boxes before the server was killed", n)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	reaped, err := s.e.Reap(t.Context())
	if err != nil || reaped != 1 {
		t.Errorf("reaped %d, %v", reaped, err)
	}
	if s.traits.HostTasks {
		word := "orphan-" + filepath.Base(s.dir)
		if left := proc.WithArgument(word); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if exit, err := living.Wait(ctx); err == nil {
		t.Errorf("reaping hurt a box of a living server: %+v", exit)
	}
	if err := living.Close(); err != nil {
		t.Error(err)
	}
	s.nothingLeft(t)
}

func (s *suite) boxDirs(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, "boxes", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// nothingLeft holds that no box of this test has left state behind, and no
// control group.
func (s *suite) nothingLeft(t *testing.T) {
	t.Helper()
	dirs := s.boxDirs(t)
	if len(dirs) > 0 {
		t.Errorf("left: %s", strings.Join(dirs, " "))
	}
}
