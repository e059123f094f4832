package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
)

// What is no command of a box's must reach the parser, and a role that is none
// must fail: a box that starts nothing would look like one that has done it.
func TestRunBox(t *testing.T) {
	for _, args := range [][]string{nil, {"box"}, {"start"}, {"boxes", "init"}, {"box", "a", "b", "c"}, {"--help"}} {
		if _, handled := runBox(args, nil, nil); handled {
			t.Errorf("%q is taken", args)
		}
	}
	var stderr bytes.Buffer
	if code, handled := runBox([]string{"box", "nothing"}, nil, &stderr); !handled || code != fault.ExitFailed || !strings.Contains(stderr.String(), "nothing") {
		t.Errorf("an unknown role: %d %v %s", code, handled, &stderr)
	}
}
