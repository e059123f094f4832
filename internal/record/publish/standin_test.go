package publish

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// The stand-in for the CLI of uploads.sh is this test binary under the name
// "uploads". It writes down how it was called and does what it was told for
// that call.

// behaviour is what the stand-in does in one call.
type behaviour struct {
	Stdout string
	Stderr string
	Exit   int
	Hang   bool          // for ever, with a child that hangs as well
	Work   time.Duration // writes a line to stderr every 0.1 s for this time
	Kill   bool          // ends by SIGKILL
}

// call is how the stand-in was called.
type call struct {
	Args  []string
	Env   []string
	PID   int
	Child int
}

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "uploads" {
		standIn()
	}
	os.Exit(m.Run())
}

// standIn finds its orders in a directory that an UPLOADS_ variable names, for
// no other variable of the tests reaches it.
func standIn() {
	dir := os.Getenv("UPLOADS_STAND_IN")
	n := 0
	for ; ; n++ { // calls come one after the other
		if _, err := os.Stat(filepath.Join(dir, callName(n))); err != nil {
			break
		}
	}
	var plan []behaviour
	raw, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err == nil {
		err = json.Unmarshal(raw, &plan)
	}
	if err != nil || n >= len(plan) {
		fmt.Fprintln(os.Stderr, "stand-in: no order for call", n, err)
		os.Exit(99)
	}
	b, c := plan[n], call{Args: os.Args[1:], Env: os.Environ(), PID: os.Getpid()}
	if b.Hang {
		sleeper := exec.Command("/bin/sleep", "600")
		sleeper.Stdout = os.Stdout // holds the pipe open
		if sleeper.Start() == nil {
			c.Child = sleeper.Process.Pid
		}
	}
	raw, _ = json.Marshal(c)
	if err := os.WriteFile(filepath.Join(dir, callName(n)), raw, 0o600); err != nil {
		os.Exit(98)
	}
	fmt.Fprint(os.Stderr, b.Stderr)
	for began := time.Now(); time.Since(began) < b.Work; time.Sleep(100 * time.Millisecond) {
		fmt.Fprintln(os.Stderr, "sent a piece")
	}
	if b.Hang {
		select {}
	}
	if b.Kill {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	fmt.Fprint(os.Stdout, b.Stdout)
	os.Exit(b.Exit)
}

func callName(n int) string { return "call-" + strconv.Itoa(n) + ".json" }

// installStandIn gives the environment in which the stand-in is found, and the
// directory of its calls.
func installStandIn(t *testing.T, plan ...behaviour) (env []string, dir string) {
	t.Helper()
	dir = t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "uploads")); err != nil {
		t.Fatal(err)
	}
	return []string{
		"PATH=relative:" + bin + ":/usr/bin:/bin", "HOME=/home/agent", "UPLOADS_STAND_IN=" + dir, "UPLOADS_TOKEN=" + token,
		"AWS_SECRET_ACCESS_KEY=never", "PROOFREEL_HOME=/elsewhere", "LD_PRELOAD=/evil.so", "DISPLAY=:9", "LANG=C.UTF-8",
	}, dir
}

// token is the secret that must not appear anywhere.
const token = "up_team_s3cr3tS3cr3t"

func calls(t *testing.T, dir string) []call {
	t.Helper()
	var out []call
	for n := 0; ; n++ {
		raw, err := os.ReadFile(filepath.Join(dir, callName(n)))
		if err != nil {
			return out
		}
		var c call
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
}
