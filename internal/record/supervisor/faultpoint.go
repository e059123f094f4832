//go:build !faultpoint

package supervisor

import (
	"context"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// faultpoint is where a test binary (build tag faultpoint) can hold the
// supervisor in a phase. The product's does nothing here.
func faultpoint(context.Context, recording.Phase) {}
