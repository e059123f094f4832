package cli

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
)

// The tool must read start's values as the command line does; and stdout is
// the protocol's, so the command itself prints nothing.
func TestMCP(t *testing.T) {
	line := []string{"--url=http://localhost:3000", "--fps=12", "--size=320x240", "--max-duration=90s", "--name=x", "--speed=4"}
	b := newBench()
	if o := b.run(append([]string{"start"}, line...)...); o.code != 0 {
		t.Fatal(o.err)
	}
	want := b.start

	if o := b.run("mcp"); o.code != 0 || o.out != "" || o.err != "" {
		t.Errorf("mcp: exit %d, %q, %q", o.code, o.out, o.err)
	}
	got, err := b.mcp.ParseStart(line)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-command line +tool):\n%s", d)
	}
	if _, err := b.mcp.ParseStart([]string{"--display=:0", "--size=320x240"}); fault.As(err).Code != fault.InvalidValue {
		t.Errorf("flags that do nothing together: %v", err)
	}
	if b.mcp.Recorder == nil || b.mcp.Version != "1.2.3" {
		t.Errorf("the server lacks its parts: %+v", b.mcp)
	}
}

// What could not be ended must show in the exit code, and not on stdout.
func TestMCPFails(t *testing.T) {
	b := newBench()
	b.err = errors.Join(fault.New(fault.StopTimeout, "Ask again.", "nothing moves"), errors.New("more"))
	if o := b.run("mcp"); o.code != fault.ExitFailed || o.out != "" {
		t.Errorf("exit %d, stdout %q", o.code, o.out)
	}
}
