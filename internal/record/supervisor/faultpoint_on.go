//go:build faultpoint

package supervisor

import (
	"context"
	"os"
	"time"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// faultpoint holds the process in the phase that PROOFREEL_FAULTPOINT names,
// for as long as the file PROOFREEL_FAULTFILE exists: a test kills something
// meanwhile. The file NAME.reached says that the point was reached.
func faultpoint(_ context.Context, p recording.Phase) {
	file := os.Getenv("PROOFREEL_FAULTFILE")
	if file == "" || os.Getenv("PROOFREEL_FAULTPOINT") != string(p) {
		return
	}
	_ = os.WriteFile(file+".reached", nil, 0o600)
	for {
		if _, err := os.Stat(file); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
