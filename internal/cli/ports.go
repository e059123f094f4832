package cli

import (
	"context"
	"encoding/json"
	"time"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/record/doctor"
	"github.com/proofreel/proofreel/internal/record/supervisor"
	"github.com/proofreel/proofreel/internal/serve/mcpserver"
	"github.com/proofreel/proofreel/internal/studio/renderer"
)

// Recorder does what the commands about recordings ask for. An empty id means
// the only recording that runs.
type Recorder interface {
	Start(ctx context.Context, o supervisor.StartOptions) (supervisor.StartResult, error)
	Status(ctx context.Context, id string) (supervisor.StatusResult, error)
	Stop(ctx context.Context, id string, o supervisor.StopOptions) (supervisor.Stopped, error)
	Recover(ctx context.Context, id string, o supervisor.StopOptions) (supervisor.Stopped, error)
	Step(ctx context.Context, id, text string) (supervisor.EventResult, error)
	Result(ctx context.Context, id string, pass bool, text string) (supervisor.EventResult, error)
	List(ctx context.Context) (supervisor.ListResult, error)
	Discard(ctx context.Context, id string) (supervisor.DiscardResult, error)
	Prune(ctx context.Context, olderThan time.Duration) (supervisor.PruneResult, error)
	Supervise(ctx context.Context, dir string) error // in the process that start detaches
	Finish(ctx context.Context, dir string) error    // in the one that takes over from a dead supervisor
}

// Clipper makes clips of recordings that have ended. An empty id means the
// newest that has a film.
type Clipper interface {
	// Clip makes a clip. Of the options, the recording is chosen by id.
	Clip(ctx context.Context, id string, o clip.Options) (clip.Result, error)
	// AfterStop gives the clip that goes with stop's answer: when it is asked
	// for, or else when the display was not the recording's own. It is made
	// once; as long as its files are there, it is the same, byte for byte. nil
	// when there is none to make.
	AfterStop(ctx context.Context, id string, asked bool) (json.RawMessage, error)
}

// Studio does what the commands about scenes ask for.
type Studio interface {
	Render(ctx context.Context, o renderer.RenderOptions) (renderer.RenderResult, error)
	Stills(ctx context.Context, o renderer.StillOptions) (renderer.StillResult, error)
	Sheet(ctx context.Context, o renderer.SheetOptions) (renderer.SheetResult, error)
	Check(ctx context.Context, o renderer.CheckOptions) (renderer.CheckResult, error)
	Preview(ctx context.Context, o renderer.PreviewOptions) (renderer.PreviewResult, error)
	Close() // ends what it holds; call it once
}

// Deps is what the commands work with.
type Deps struct {
	// Open gives the recorder. It is called only once the whole command line
	// is known to be right, so that a wrong one has no effect.
	Open func() (Recorder, error)
	// Clips gives the clipper, as Open gives the recorder.
	Clips func() (Clipper, error)
	// Studio gives the studio, as Open gives the recorder.
	Studio func() (Studio, error)
	// NewScene begins a scene: nothing that draws is needed for that.
	NewScene func(o renderer.NewOptions) (renderer.NewResult, error)
	// Generate makes a film of a prompt. Errors of what it was told are faults.
	Generate func(ctx context.Context, o GenerateOptions) (GenerateResult, error)
	// Setup chooses a box; want names the only one to be tried, or is empty.
	Setup func(ctx context.Context, want string) (SetupResult, error)
	// Stdin reads standard input to its end, 16 KiB at most.
	Stdin func() (string, error)
	// Doctor checks the machine.
	Doctor func(ctx context.Context) (doctor.Report, error)
	// ParsePublish checks that this version can publish to a target, and gives
	// the target in a form that means the same in every directory.
	ParsePublish func(target string) (string, error)
	// Getenv reads the environment.
	Getenv func(name string) string
	// Wait sleeps, or returns the context's error.
	Wait func(ctx context.Context, d time.Duration) error
	// ServeMCP serves the client on standard input and output until it goes.
	ServeMCP func(ctx context.Context, o mcpserver.Options) error
	// Version is this program's.
	Version string
}
