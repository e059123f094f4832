package agent

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Names of the agents, as job.json has them.
const (
	OwnName        = "proofreel"
	ClaudeCodeName = "claude-code"
)

// Command is the hidden command that runs an agent in a box.
const Command = "agent"

// ForeignDir is where a foreign agent's files are in the box.
const ForeignDir = "/opt/agent"

// Agent is a program that writes a scene in a box. All are run by our runner,
// which reports and sees to it that there is a film; it starts a foreign one as
// its child.
type Agent struct {
	Name    string
	Argv    []string        // in the box
	Inputs  []sandbox.Mount // what it is made of
	Netlink bool            // as sandbox.Spec.Netlink
}

// Own is the agent of this program.
func Own() Agent {
	return Agent{Name: OwnName, Argv: []string{sandbox.Program, Command}}
}

// ClaudeCode is Claude Code's command line. program is its native binary on
// this host; one that is not there is an error.
func ClaudeCode(program string) (Agent, error) {
	full, err := filepath.Abs(program)
	if err != nil {
		return Agent{}, fmt.Errorf("find Claude Code: %w", err)
	}
	// What a package manager makes of it may be a link: a box sees files only.
	if full, err = filepath.EvalSymlinks(full); err != nil {
		return Agent{}, fmt.Errorf("find Claude Code: %w", err)
	}
	if st, err := os.Stat(full); err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
		return Agent{}, fmt.Errorf("find Claude Code: %s is no program", full)
	}
	return Agent{
		Name: ClaudeCodeName, Argv: []string{sandbox.Program, Command},
		Inputs: []sandbox.Mount{{Source: full, Target: path.Join(ForeignDir, "claude")}}, Netlink: true,
	}, nil
}
