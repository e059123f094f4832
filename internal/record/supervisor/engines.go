package supervisor

import (
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/capture"
	"github.com/proofreel/proofreel/internal/record/capture/grab"
	"github.com/proofreel/proofreel/internal/record/capture/x11"
)

// enginesFor lists the capture engines to try, in order.
func enginesFor(name string) ([]capture.Engine, error) {
	switch name {
	case "", "auto":
		return []capture.Engine{x11.New(), &grab.Engine{}}, nil
	case "x11":
		return []capture.Engine{x11.New()}, nil
	case grab.Name:
		return []capture.Engine{&grab.Engine{}}, nil
	default:
		return nil, fault.New(fault.InvalidValue, "Use --engine auto.", "there is no capture engine %q", name)
	}
}
