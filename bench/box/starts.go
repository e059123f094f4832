package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// way is one way to run /bin/true. ready is when it ran, where that is told.
type way struct {
	name string
	run  func(ctx context.Context) (ready time.Duration, err error)
}

func starts(ctx context.Context, o options, boxes []executor.Executor) ([]Start, error) {
	ways := []way{
		{"no box", bare("/bin/true")},
		{"bwrap, the bare tool", bare("bwrap", "--unshare-all", "--ro-bind", "/", "/", "/bin/true")},
	}
	if os.Getuid() == 0 {
		ways = append(ways, way{"runsc do, the bare tool", bare(o.runsc, "--network=none", "--ignore-cgroups", "do", "/bin/true")})
	}
	for _, b := range boxes {
		ways = append(ways, way{"our box: " + b.Name(), boxed(b)})
	}
	took, ready := make([][]time.Duration, len(ways)), make([][]time.Duration, len(ways))
	for range o.repeats {
		for i, w := range ways {
			began := time.Now()
			r, err := w.run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			took[i], ready[i] = append(took[i], time.Since(began)), append(ready[i], r)
		}
	}
	var out []Start
	for i, w := range ways {
		s := Start{Way: w.name}
		s.Median, s.Best = median(took[i])
		s.Ready, _ = median(ready[i])
		out = append(out, s)
	}
	return out, nil
}

func bare(name string, args ...string) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
		return 0, nil
	}
}

func boxed(e executor.Executor) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		began := time.Now()
		box, err := e.Start(ctx, sandbox.Spec{JobID: "bench", Argv: []string{"/bin/true"}})
		if err != nil {
			return 0, err
		}
		ready := time.Since(began)
		exit, err := box.Wait(ctx)
		if err != nil {
			return 0, err
		}
		if exit.Code != 0 {
			return 0, fmt.Errorf("it ended with %+v", exit)
		}
		return ready, box.Close()
	}
}
