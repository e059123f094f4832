package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// helperVar makes the test binary act as another program.
const helperVar = "PROC_TEST_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helperVar) {
	case "":
		goleak.VerifyTestMain(m)
	case "parent":
		helperParent()
	}
}

// helperParent starts a child by a Spawner, says its PID and waits to be
// killed.
func helperParent() {
	s := NewSpawner()
	c, err := s.Start(Command{Role: "sleep", Path: "/bin/sleep", Args: []string{"600"}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(c.PID)
	_, _ = io.Copy(io.Discard, os.Stdin)
	select {}
}

// bounded is far more than anything here takes on a busy machine.
const bounded = 30 * time.Second

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(bounded); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func testSpawner(t *testing.T) *Spawner {
	s := NewSpawner()
	t.Cleanup(s.Close)
	return s
}

func startShell(t *testing.T, s *Spawner, script string, env ...string) *Child {
	t.Helper()
	c, err := s.Start(Command{Role: "test", Path: "/bin/sh", Args: []string{"-c", script}, Env: append(os.Environ(), env...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	return c
}

// A process's name may hold everything that the fields are told apart by.
func TestParseStat(t *testing.T) {
	tail := " S 7 1 1 0 -1 4194560 1 2 3 4 30 12 0 0 20 0 1 0 5555 100 200"
	want := Stat{State: 'S', PPID: 7, CPU: 42, Start: 5555}
	tests := []struct {
		in   string
		want Stat
		fail bool
	}{
		{"42 (sh)" + tail, want, false},
		{"42 (a) b) R 1 (c d)" + tail + "\n", want, false},
		{"42 ()" + tail, want, false},
		{"42 (sh) S 7", Stat{}, true},
		{"42 sh S 7 1", Stat{}, true},
		{"42 (sh) SS" + tail[2:], Stat{}, true},
		{"42 (sh)" + strings.Replace(tail, "5555", "-1", 1), Stat{}, true},
		{"", Stat{}, true},
	}
	for _, tt := range tests {
		got, err := parseStat([]byte(tt.in))
		if (err != nil) != tt.fail || !tt.fail && got != tt.want {
			t.Errorf("parseStat(%q) = %+v, %v", tt.in, got, err)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (sh) S 7 1 1 0 -1 4194560 1 2 3 4 30 12 0 0 20 0 1 0 5555 100 200"))
	f.Add([]byte("1 ) S"))
	f.Fuzz(func(_ *testing.T, raw []byte) { _, _ = parseStat(raw) })
}

// Nobody but the process that was named may ever be signalled.
func TestIdentity(t *testing.T) {
	s := testSpawner(t)
	c := startShell(t, s, "exec sleep 600")
	other, reboot := c.Identity, c.Identity
	other.Start++
	reboot.Boot = "another"
	for name, id := range map[string]Identity{"recycled": other, "other boot": reboot, "none": {}, "negative": {PID: -1}} {
		if id.Alive() {
			t.Errorf("%s is alive", name)
		}
		if err := id.Signal(unix.SIGKILL); !errors.Is(err, ErrGone) {
			t.Errorf("%s: signal gives %v", name, err)
		}
		if err := id.signalByPID(unix.SIGKILL); !errors.Is(err, ErrGone) {
			t.Errorf("%s: signal by PID gives %v", name, err)
		}
	}
	if !c.Alive() {
		t.Fatal("the wrong process was hit")
	}
	if err := c.signalByPID(unix.SIGKILL); err != nil {
		t.Error(err)
	}
	<-c.Done()
	if c.Alive() || !errors.Is(c.Signal(unix.SIGTERM), ErrGone) {
		t.Error("a reaped child is alive")
	}
	if self, err := Self(); err != nil || self.PID != os.Getpid() || !self.Alive() {
		t.Errorf("Self = %+v, %v", self, err)
	}
}

// A zombie holds its PID and is dead all the same.
func TestZombieIsNotAlive(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read x")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	eventually(t, "the child is a zombie", func() bool { st, err := ReadStat(id.PID); return err == nil && st.State == 'Z' })
	if id.Alive() {
		t.Error("a zombie is alive")
	}
	_ = cmd.Wait()
}

// A Spawner must not lose its children to the end of some goroutine's thread,
// and they must die with its process, also by kill -9.
func TestChildrenDieWithParent(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVar+"=parent")
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
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("helper: %q", line)
	}
	id, err := Of(pid)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "the grandchild died", func() bool { return !id.Alive() })
}

func TestCloseEndsChildren(t *testing.T) {
	s := NewSpawner()
	c := startShell(t, s, "exec sleep 600")
	s.Close()
	<-c.Done()
}

// Stop must end what ignores the signal, what is stopped, and must leave time
// to what works.
func TestStop(t *testing.T) {
	tests := []struct {
		name, script string
		pause        bool
		killed       bool
	}{
		{"obeys", "exec sleep 600", false, false},
		{"ignores", "trap '' TERM; echo up; exec sleep 600", false, true},
		{"stopped", "exec sleep 600", true, false},
		{"works", "trap 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; exit 0' TERM; echo up; while :; do sleep 0.02; done", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := testSpawner(t)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			c, err := s.Start(Command{Role: "test", Path: "/bin/sh", Args: []string{"-c", tt.script}, Stdout: w})
			_ = w.Close()
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(tt.script, "echo up") {
				if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			if tt.pause {
				_ = c.Signal(unix.SIGSTOP)
				eventually(t, "it is stopped", func() bool { st, err := c.Stat(); return err == nil && st.State == 'T' })
			}
			patience := bounded
			if tt.killed {
				patience = 200 * time.Millisecond
			}
			if killed := c.Stop(context.Background(), unix.SIGTERM, patience, nil); killed != tt.killed {
				t.Errorf("killed = %v", killed)
			}
			if c.Alive() || len(s.Live()) > 0 {
				t.Error("it lives")
			}
		})
	}
}

// The context bounds Stop whatever the patience.
func TestStopBoundedByContext(t *testing.T) {
	c := startShell(t, testSpawner(t), "trap '' TERM; exec sleep 600")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	eventually(t, "it ignores the signal", func() bool { return ignores(c.PID, unix.SIGTERM) })
	if !c.Stop(ctx, unix.SIGTERM, time.Hour, nil) {
		t.Error("it was not killed")
	}
}

func ignores(pid int, sig unix.Signal) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(raw)) {
		if hex, found := strings.CutPrefix(line, "SigIgn:"); found {
			mask, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
			return err == nil && mask&(1<<(sig-1)) != 0
		}
	}
	return false
}

// Kill must end the whole group: a shell's children hold files and displays.
func TestKillEndsGroup(t *testing.T) {
	c := startShell(t, testSpawner(t), "sleep 600 & wait")
	var below []Identity
	eventually(t, "it has a child", func() bool { below = Descendants(c.Identity); return len(below) == 1 })
	c.Kill()
	eventually(t, "the child's child died", func() bool { return !below[0].Alive() })
}

// What a program leaves behind is found by its environment and its arguments,
// but only by the whole of them.
func TestFinding(t *testing.T) {
	s := testSpawner(t)
	value := "id-" + strconv.Itoa(os.Getpid())
	a := startShell(t, s, "sleep 600 & wait", MarkerName+"="+value, "OTHER=1")
	startShell(t, s, "exec sleep 600", MarkerName+"="+value+"0")
	eventually(t, "the shell and its child are found", func() bool { return len(Marked(value)) == 2 })
	if got := WithEnv(MarkerName+"="+value, "OTHER=1"); len(got) != 2 {
		t.Errorf("by two variables: %v", got)
	}
	if got := WithEnv(MarkerName+"="+value, "OTHER=2"); len(got) != 0 {
		t.Errorf("by one that does not fit: %v", got)
	}
	if got := WithEnv(); len(got) != 0 {
		t.Errorf("by nothing: %v", got)
	}
	arg := "--dir=/" + value
	plain, err := s.Start(Command{Role: "test", Path: "/bin/sh", Args: []string{"-c", "sleep 600; :", arg}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plain.Kill)
	longer, err := s.Start(Command{Role: "test", Path: "/bin/sh", Args: []string{"-c", "sleep 600; :", arg + "x"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(longer.Kill)
	joined, err := s.Start(Command{Role: "test", Path: "/bin/sh", Args: []string{"-c", "sleep 600; :", "one " + arg}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(joined.Kill)
	got := map[Identity]bool{}
	eventually(t, "both are found", func() bool {
		clear(got)
		for _, id := range WithArgument(arg) {
			got[id] = true
		}
		return len(got) == 2
	})
	if diff := cmp.Diff(map[Identity]bool{plain.Identity: true, joined.Identity: true}, got); diff != "" {
		t.Error(diff)
	}
	if !a.Alive() {
		t.Error("looking hurt")
	}
}

// Everything ends, also what is stopped and what was started meanwhile, and
// adopted orphans do not stay zombies.
func TestKillAllAndOrphans(t *testing.T) {
	if err := AdoptOrphans(); err != nil {
		t.Fatal(err)
	}
	s := testSpawner(t)
	value := "orphan-" + strconv.Itoa(os.Getpid())
	c := startShell(t, s, "sleep 600 & exit 0", MarkerName+"="+value)
	<-c.Done()
	var found []Identity
	// In the middle of its exec a process has no environment to be read.
	eventually(t, "the orphan is found", func() bool { found = Marked(value); return len(found) == 1 })
	eventually(t, "it is adopted", func() bool { st, err := found[0].Stat(); return err == nil && st.PPID == os.Getpid() })
	_ = found[0].Signal(unix.SIGSTOP)
	eventually(t, "it is stopped", func() bool { st, err := found[0].Stat(); return err == nil && st.State == 'T' })
	Wake(found)
	eventually(t, "it is awake", func() bool { st, err := found[0].Stat(); return err == nil && st.State != 'T' })
	_ = found[0].Signal(unix.SIGSTOP)
	if left := KillAll(append(found, Identity{}), bounded); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	live := startShell(t, s, "exec sleep 600")
	eventually(t, "the orphan is reaped", func() bool {
		s.ReapOrphans()
		_, err := ReadStat(found[0].PID)
		return errors.Is(err, ErrGone)
	})
	live.Kill() // its own Wait must still get it
	var exit *exec.ExitError
	if !errors.As(live.Err(), &exit) {
		t.Errorf("the child's end was taken away: %v", live.Err())
	}
}

// A process that ends in between must be no error, and no end of a search.
func TestStartFailures(t *testing.T) {
	s := testSpawner(t)
	if _, err := s.Start(Command{Role: "ghost", Path: "/nonexistent"}); err == nil || !strings.Contains(err.Error(), "ghost") {
		t.Errorf("error %v", err)
	}
	if _, err := Of(1 << 30); !errors.Is(err, ErrGone) {
		t.Errorf("a PID that can't be: %v", err)
	}
	if len(s.Live()) != 0 {
		t.Error("a child that never was")
	}
}

func TestTail(t *testing.T) {
	var tail Tail
	for range 1000 {
		_, _ = fmt.Fprintln(&tail, "0123456789")
	}
	_, _ = fmt.Fprint(&tail, "end")
	if got := tail.String(); len(got) != tailBytes || !strings.HasSuffix(got, "0123456789\nend") {
		t.Errorf("%d bytes, ends in %q", len(got), got[len(got)-14:])
	}
}
