//go:build faultpoint

package gateway

import (
	"os"
	"time"
)

// faultpoint holds the process before the step that PROOFREEL_FAULTPOINT
// names, for as long as the file PROOFREEL_FAULTFILE exists: a test kills the
// process meanwhile. The file NAME.reached says that the point was reached.
func faultpoint(step string) {
	file := os.Getenv("PROOFREEL_FAULTFILE")
	if file == "" || os.Getenv("PROOFREEL_FAULTPOINT") != step {
		return
	}
	for {
		if _, err := os.Stat(file); err != nil {
			return
		}
		_ = os.WriteFile(file+".reached", nil, 0o600)
		time.Sleep(5 * time.Millisecond)
	}
}
