package cli

import (
	"fmt"
	"io"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/executor/entry"
)

// boxCommand is the hidden command by which our own binary is the way into a
// box: "box ROLE [PATH]". It is no part of the tree, and is looked for before
// anything else is done: where it runs, among them as the first process beside
// a hostile job, there should be as little of this program as can be.
const boxCommand = "box"

// runBox does what the command says. handled is false for every other.
func runBox(args []string, stdout, stderr io.Writer) (code int, handled bool) {
	if len(args) < 2 || len(args) > 3 || args[0] != boxCommand {
		return 0, false
	}
	path := ""
	if len(args) == 3 {
		path = args[2]
	}
	code, err := entry.Main(args[1], path, stdout)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return fault.ExitFailed, true
	}
	return code, true
}
