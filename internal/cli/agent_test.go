package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// What is no runner's command must reach the parser, and a runner without a job
// must fail: a box that does nothing would look like one that has done it.
func TestRunAgent(t *testing.T) {
	for _, args := range [][]string{nil, {"start"}, {"agents"}, {"agent", "x"}, {"--help"}} {
		if _, handled := runAgent(t.Context(), args, nil, nil); handled {
			t.Errorf("%q is taken", args)
		}
	}
	t.Chdir(t.TempDir())
	var out, stderr bytes.Buffer
	if code, handled := runAgent(t.Context(), []string{"agent"}, &out, &stderr); !handled || code != fault.ExitFailed || !strings.Contains(stderr.String(), "job.json") {
		t.Errorf("without a job: %d %v %s", code, handled, &stderr)
	}
}

// The agent's programs get the box's environment and nothing else of ours.
func TestAgentConfig(t *testing.T) {
	env := map[string]string{"PATH": "/usr/bin", "HOME": "/work", "SECRET": "x"}
	c, err := agentConfig(func(k string) string { return env[k] }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Env, " "); got != "PATH=/usr/bin HOME=/work" || c.Run != sandbox.RunDir {
		t.Errorf("environment %q, doors at %s", got, c.Run)
	}
}
