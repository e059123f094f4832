package entry

import (
	"fmt"
	"io"

	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Main does what the hidden command "box ROLE [PATH]" is there for, and gives
// the process's exit status. As stage it returns on an error only.
func Main(role, path string, stdout io.Writer) (code int, err error) {
	switch role {
	case RoleStage:
		return 1, Stage()
	case RoleInit:
		return Init(path)
	case RoleProbe:
		return 0, sandbox.Try(path, stdout) //nolint:wrapcheck // it says what it is
	default:
		return 1, fmt.Errorf("box has no role %q", role)
	}
}
