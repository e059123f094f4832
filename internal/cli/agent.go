package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/agent/runner"
	"github.com/proofreel/proofreel/internal/studio/executor/process"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// runAgent is the hidden command by which our own binary is the runner in a
// box: "agent", in the job's folder. Like the way into a box it is no part of
// the tree: nobody types it, and its words are for an operator's log.
func runAgent(ctx context.Context, args []string, stdout, stderr io.Writer) (code int, handled bool) {
	if len(args) != 1 || args[0] != agent.Command {
		return 0, false
	}
	c, err := agentConfig(os.Getenv, stdout)
	if err == nil {
		err = runner.Run(ctx, c)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return fault.ExitFailed, true
	}
	return fault.ExitOK, true
}

func agentConfig(getenv func(string) string, stdout io.Writer) (runner.Config, error) {
	work, err := os.Getwd()
	if err != nil {
		return runner.Config{}, fmt.Errorf("find the job's folder: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return runner.Config{}, fmt.Errorf("find this program: %w", err)
	}
	// Where there is no box, a folder stands for its root.
	root := getenv(process.RootVar)
	c := runner.Config{
		Work: work, Run: filepath.Join("/", root, sandbox.RunDir), Program: exe,
		Output: stdout, Log: slog.New(slog.NewTextHandler(stdout, nil)),
	}
	if root != "" {
		c.Foreign = filepath.Join(root, agent.ForeignDir)
	}
	for _, name := range []string{"PATH", "HOME", "LANG", "TZ"} {
		if v := getenv(name); v != "" {
			c.Env = append(c.Env, name+"="+v)
		}
	}
	return c, nil
}
