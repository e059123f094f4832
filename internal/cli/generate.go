package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/executor/machine"
	"github.com/proofreel/proofreel/internal/studio/job"
	"github.com/proofreel/proofreel/internal/studio/workflow"
)

// GenerateOptions say which film is made, and with what.
type GenerateOptions struct {
	Order    job.Order
	Out      string // the film's path
	Poster   string
	Tier     string
	Model    string // empty: the tier's
	Upstream string // empty: the provider's, or the template author
	KeyFile  string // empty: the environment
	Budget   int64  // micro-dollars; -1: the tier's
	Box      string // empty: the chosen one
	Exit     string
	Insecure bool

	Progress func(workflow.Event)
}

// GenerateResult is the answer of generate.
type GenerateResult struct {
	Author      string   `json:"author"` // model, or template: no model made this
	Model       string   `json:"model"`
	Path        string   `json:"path"`
	Poster      string   `json:"poster"`
	Width       int      `json:"width"`
	Height      int      `json:"height"`
	FPS         int      `json:"fps"`
	Frames      int      `json:"frames"`
	Seconds     float64  `json:"seconds"`
	Bytes       int64    `json:"bytes"`
	SHA256      string   `json:"sha256"` // of the film
	PosterBytes int64    `json:"posterBytes"`
	PosterFrame int      `json:"posterFrame"` // -1: not known
	Box         string   `json:"box"`         // gvisor, bwrap, or process: none
	Exit        string   `json:"exit"`        // reencode or remux
	Turns       int      `json:"turns"`       // calls to the author's model
	SpentUSD    string   `json:"spentUsd"`
	Took        float64  `json:"took"` // seconds
	Notes       []string `json:"notes"`
}

// SetupResult is the answer of setup.
type SetupResult struct {
	Box   machine.Choice  `json:"box"`
	Path  string          `json:"path"` // where the choice is written down
	Tried []machine.Tried `json:"tried"`
}

func (s *generateCmd) run(ctx context.Context, c *call) (answer, error) {
	o, err := s.options(c)
	if err != nil {
		return answer{}, err
	}
	res, err := c.Generate(ctx, o)
	return answer{data: res, effect: fault.EffectFilmRendered}, err
}

// options checks what can be checked before anything is done.
func (s *generateCmd) options(c *call) (GenerateOptions, error) {
	prompt := string(s.Prompt)
	if prompt == "-" {
		var err error
		if prompt, err = c.Stdin(); err != nil {
			return GenerateOptions{}, fault.Wrap(err, fault.PromptInvalid, "Send the prompt to standard input, 16 KiB at most.", "the prompt can't be read")
		}
		prompt = strings.TrimRight(prompt, "\n")
	}
	o := GenerateOptions{
		Order: job.Order{Prompt: prompt, Seconds: int(s.Seconds), Style: string(s.Style), Aspect: job.Aspect(s.Aspect)},
		Out:   string(s.Out), Poster: strings.TrimSuffix(string(s.Out), filepath.Ext(string(s.Out))) + ".jpg",
		Tier: string(s.Tier), Model: string(s.Model), Upstream: string(s.Upstream), KeyFile: string(s.KeyFile),
		Budget: -1, Box: string(s.Box), Exit: string(s.Exit), Insecure: bool(s.InsecureDev),
		Progress: func(e workflow.Event) { c.making(makingOf(e)) },
	}
	if c.given["budget"] {
		o.Budget = int64(s.Budget)
	}
	if err := o.Order.Check(); err != nil {
		return GenerateOptions{}, err //nolint:wrapcheck // it is the user's error
	}
	return o, s.together(o)
}

// together refuses flags that would do nothing beside the others.
func (s *generateCmd) together(o GenerateOptions) error {
	switch {
	case strings.ToLower(filepath.Ext(o.Out)) != ".mp4":
		return fault.New(fault.InvalidValue, "Name a file that ends in .mp4.", "--out: the film is an MP4")
	case o.Upstream != "" && o.Model == "":
		return fault.New(fault.InvalidValue, "Add --model with the name of one that the server has.", "--upstream needs --model")
	case o.Upstream == "" && o.Budget == 0:
		return fault.New(fault.InvalidValue, "Give an amount, or name a server that costs nothing with --upstream.", "--budget 0 is for --upstream only")
	case o.Insecure && o.Box != "":
		return fault.New(fault.Usage, "Use one of them.", "--box and --insecure-dev can't be used together")
	}
	return nil
}

func makingOf(e workflow.Event) contract.Progress {
	step := e.Phase.Step()
	return contract.Progress{
		SchemaVersion: contract.SchemaVersion, Event: "progress", Phase: string(e.Phase),
		Step: min(step+1, job.Steps), TotalSteps: job.Steps, Percent: e.Percent, Turn: e.Turn,
	}
}

func (s *setupCmd) run(ctx context.Context, c *call) (answer, error) {
	res, err := c.Setup(ctx, string(s.Box))
	return answer{data: res, effect: fault.EffectBoxChosen}, err
}
