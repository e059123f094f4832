package clock

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// uptime is what the kernel says to everybody, in steps of 10 ms.
func uptime(t *testing.T) time.Duration {
	t.Helper()
	raw, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	var s float64
	if _, err := fmt.Sscan(string(raw), &s); err != nil {
		t.Fatalf("/proc/uptime says %q", raw)
	}
	return time.Duration(s * float64(time.Second))
}

// The epoch of a recording is compared by other processes, so the clock must
// be the machine's and not the process's: that would be Go's monotonic clock.
func TestBoottimeIsTheMachinesUptime(t *testing.T) {
	const step = 10 * time.Millisecond
	before := uptime(t)
	got := Boottime()
	after := uptime(t)
	if got < before-step || got > after+step {
		t.Errorf("%v, the machine has been up for %v to %v", got, before, after)
	}
}

// A clock that steps back would put a frame before the one that it follows.
func TestBoottimeNeverGoesBack(t *testing.T) {
	last := Boottime()
	for range 100_000 {
		now := Boottime()
		if now < last {
			t.Fatalf("%v after %v", now, last)
		}
		last = now
	}
}

const childVar = "PROOFREEL_TEST_CLOCK"

func TestMain(m *testing.M) {
	if os.Getenv(childVar) != "" {
		fmt.Println(int64(Boottime()))
		return
	}
	os.Exit(m.Run())
}

// step stamps events by its own reading and the supervisor by another's: a
// clock that begins with the process would put them anywhere.
func TestProcessesReadTheSameClock(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before := Boottime()
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childVar+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	after := Boottime()
	var got time.Duration
	if _, err := fmt.Sscan(string(out), &got); err != nil {
		t.Fatalf("the child says %q", out)
	}
	if got < before || got > after {
		t.Errorf("the child read %v between %v and %v", got, before, after)
	}
}
