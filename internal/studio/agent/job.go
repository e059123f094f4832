package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"time"
	"unicode/utf8"

	"github.com/proofreel/proofreel/docs"
	"github.com/proofreel/proofreel/examples"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// FPS is the frame rate of every film.
const FPS = 30

// Paths in the box, below sandbox.WorkDir and sandbox.RunDir.
const (
	BriefName  = "JOB.md"
	JobName    = "job.json"
	GuideName  = "GUIDE.md"
	Examples   = "examples"
	SceneName  = "scene.js"
	DoorName   = "door.sock"
	ReportName = "report.sock"
)

// Job is one film to be made, as it is written into a box.
type Job struct {
	ID      string // as sandbox.Spec.JobID
	Brief   string // a stranger's words, valid UTF-8, at most 16 KiB
	Seconds float64
	Width   int // even pixels
	Height  int
	Style   string // a name of scene.StyleNames; empty: the author's choice
	Model   string
	Token   string // the gateway's, for this job

	// Turns bounds the calls to the model; 0: 80.
	Turns int
	// MaxTokens bounds what the model writes in one call; 0: 16,000.
	MaxTokens int64
	// Thinking has the model think before it answers, as much as it likes.
	// Not every server that speaks the Messages API takes it.
	Thinking bool
	// Wall is the box's own wall clock. The runner leaves itself a part of it
	// to finish the film; 0: 40 minutes.
	Wall time.Duration

	// Door and Report are the host's unix sockets: the gateway's for this job,
	// and the one that ServeReports reads. Mode 0666.
	Door, Report string
}

// Order is the content of job.json: what the runner reads.
type Order struct {
	Agent     string  `json:"agent"`
	Model     string  `json:"model"`
	Token     string  `json:"token"`
	Turns     int     `json:"turns"`
	MaxTokens int64   `json:"max_tokens"`
	Thinking  bool    `json:"thinking"`
	Seconds   float64 `json:"seconds"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	WallMS    int64   `json:"wall_ms"`
}

// ErrJob says that no such film can be ordered.
var ErrJob = errors.New("job of an agent")

// withDefaults fills in what is not set.
func (j Job) withDefaults() Job {
	if j.Turns == 0 {
		j.Turns = 80
	}
	if j.MaxTokens == 0 {
		j.MaxTokens = 16_000
	}
	if j.Wall == 0 {
		j.Wall = 40 * time.Minute
	}
	return j
}

func (j Job) validate() error {
	const longest = 16 << 10
	side := func(n int) bool { return n >= scene.MinSide && n <= scene.MaxSide && n%2 == 0 }
	_, unknown := scene.StyleNamed(j.Style)
	switch {
	case j.Brief == "" || len(j.Brief) > longest || !utf8.ValidString(j.Brief):
		return fmt.Errorf("%w: the brief has 1 to %d bytes of valid UTF-8", ErrJob, longest)
	case math.IsNaN(j.Seconds) || j.Seconds < scene.MinDuration || j.Seconds > scene.MaxDuration:
		return fmt.Errorf("%w: %g seconds", ErrJob, j.Seconds)
	case !side(j.Width) || !side(j.Height):
		return fmt.Errorf("%w: %d x %d pixels", ErrJob, j.Width, j.Height)
	case j.Style != "" && unknown != nil:
		return fmt.Errorf("%w: %w", ErrJob, unknown)
	case j.Model == "" || j.Token == "":
		return fmt.Errorf("%w: no model, or no token", ErrJob)
	case j.Turns < 1 || j.Turns > MaxTurns || j.MaxTokens < 1 || j.Wall < 0:
		return fmt.Errorf("%w: %d turns of %d tokens in %v", ErrJob, j.Turns, j.MaxTokens, j.Wall)
	}
	return nil
}

// Spec makes the box of a job with this agent. Limits and Stdout are the
// caller's to set, Limits.Wall as Job.Wall. Errors wrap ErrJob.
func Spec(a Agent, j Job) (sandbox.Spec, error) {
	if j = j.withDefaults(); a.Name == "" || len(a.Argv) == 0 {
		return sandbox.Spec{}, fmt.Errorf("%w: no agent", ErrJob)
	}
	if err := j.validate(); err != nil {
		return sandbox.Spec{}, err
	}
	files, err := j.files(a)
	if err != nil {
		return sandbox.Spec{}, err
	}
	return sandbox.Spec{
		JobID: j.ID, Argv: a.Argv, Inputs: a.Inputs, Files: files, Netlink: a.Netlink,
		Env: []string{"PATH=" + sandbox.Path, "HOME=" + sandbox.Home, "LANG=C.UTF-8", "TZ=UTC"},
		Doors: []sandbox.Door{
			{Socket: j.Door, Target: path.Join(sandbox.RunDir, DoorName)},
			{Socket: j.Report, Target: path.Join(sandbox.RunDir, ReportName)},
		},
		Limits: sandbox.Limits{Wall: j.Wall},
	}, nil
}

// files are what lies in the work directory when the agent starts.
func (j Job) files(a Agent) ([]sandbox.File, error) {
	brief, err := j.briefFile()
	if err != nil {
		return nil, err
	}
	order, err := json.MarshalIndent(Order{
		Agent: a.Name, Model: j.Model, Token: j.Token, Turns: j.Turns, MaxTokens: j.MaxTokens, Thinking: j.Thinking,
		Seconds: j.Seconds, Width: j.Width, Height: j.Height, WallMS: j.Wall.Milliseconds(),
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJob, err)
	}
	files := []sandbox.File{
		{Name: BriefName, Data: brief}, {Name: JobName, Data: order}, {Name: GuideName, Data: []byte(docs.Scene)},
	}
	err = fs.WalkDir(examples.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err //nolint:wrapcheck // wrapped below
		}
		data, err := examples.Files.ReadFile(name)
		files = append(files, sandbox.File{Name: path.Join(Examples, name), Data: data})
		return err //nolint:wrapcheck // as above
	})
	if err != nil {
		return nil, fmt.Errorf("%w: the examples in the binary: %w", ErrJob, err)
	}
	return files, nil
}
