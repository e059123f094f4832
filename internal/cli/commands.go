package cli

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/doctor"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// answer is what a command found or did. How it is printed is not its matter.
type answer struct {
	data   any
	raw    json.RawMessage // printed in data's place, byte for byte
	effect fault.Effect
}

type progressFunc func(contract.Progress)

func (s *startCmd) run(ctx context.Context, c *call) (answer, error) {
	if err := s.check(c); err != nil {
		return answer{}, err
	}
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	res, err := r.Start(ctx, s.options())
	return answer{data: res, effect: fault.EffectRecordingStarted}, err
}

// check refuses flags that would do nothing beside the others, and settles
// where the film goes.
func (s *startCmd) check(c *call) error {
	if s.Display != "new" {
		for _, flag := range []string{"size", "url", "browser"} {
			if c.given[flag] {
				return fault.New(fault.InvalidValue, "Leave out --"+flag+", or leave out --display.",
					"--%s is for an own display, and --display %s films one that is there", flag, s.Display)
			}
		}
	}
	if s.Browser == "none" && c.given["url"] {
		return fault.New(fault.InvalidValue, "Leave out --url, or choose a browser.", "--url needs a browser, and --browser is none")
	}
	if c.given["uploads-workspace"] && s.Publish != "uploads.sh" {
		return fault.New(fault.InvalidValue, "Add --publish uploads.sh.", "--uploads-workspace is for --publish uploads.sh only")
	}
	spec, err := c.ParsePublish(string(s.Publish))
	s.Publish = target(spec)
	return err
}

func (s *startCmd) options() supervisor.StartOptions {
	speed, _ := strconv.Atoi(string(s.Speed)) // a choice of three numbers
	o := supervisor.StartOptions{
		Name: string(s.Name), URL: string(s.URL),
		FPS: int(s.FPS), Rate: string(s.Rate),
		Width: s.Size.width, Height: s.Size.height,
		Display: string(s.Display), Browser: string(s.Browser),
		Cursor: string(s.Cursor), Keys: bool(s.Keys), Engine: string(s.Engine),
		MaxDuration: time.Duration(s.MaxDuration), MinFree: int64(s.MinFree),
		Publish: string(s.Publish),
		Stills:  string(s.Stills), Speed: speed, Position: string(s.Position),
		UntilPID: int(s.UntilPID), StartupTimeout: time.Duration(s.StartupTimeout),
	}
	if o.Publish == "uploads.sh" {
		o.Workspace = string(s.UploadsWorkspace)
	}
	if o.Display != "new" {
		o.URL, o.Browser, o.Width, o.Height = "", "none", 0, 0
	}
	if o.Browser == "none" {
		o.URL = ""
	}
	return o
}

func (s *stepCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	res, err := r.Step(ctx, string(s.ID), string(s.Text))
	return answer{data: res, effect: fault.EffectEventRecorded}, err
}

func (s *resultCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	res, err := r.Result(ctx, string(s.ID), s.Verdict == "pass", string(s.Text))
	return answer{data: res, effect: fault.EffectEventRecorded}, err
}

func (s *statusCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	res, err := r.Status(ctx, string(s.ID))
	return answer{data: res, effect: fault.EffectNone}, err
}

func (s *stopCmd) run(ctx context.Context, c *call) (answer, error) {
	if s.Clip && s.NoClip {
		return answer{}, fault.New(fault.Usage, "Use one of them.", "--clip and --no-clip can't be used together")
	}
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	res, err := r.Stop(ctx, string(s.ID), supervisor.StopOptions{Timeout: time.Duration(s.Timeout), Progress: c.progress})
	if err != nil || bool(s.NoClip) {
		return stopped(res), err
	}
	return withClip(ctx, c, res, bool(s.Clip))
}

func (s *recoverCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	res, err := r.Recover(ctx, string(s.ID), supervisor.StopOptions{Timeout: time.Duration(s.Timeout), Progress: c.progress})
	return stopped(res), err
}

func stopped(s supervisor.Stopped) answer {
	return answer{data: s.Result, raw: s.Data, effect: s.Effect}
}

func (*listCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	res, err := r.List(ctx)
	return answer{data: res, effect: fault.EffectNone}, err
}

func (s *discardCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	res, err := r.Discard(ctx, string(s.ID))
	return answer{data: res, effect: fault.EffectNone}, err
}

func (s *pruneCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	res, err := r.Prune(ctx, time.Duration(s.OlderThan))
	return answer{data: res, effect: fault.EffectNone}, err
}

func (*doctorCmd) run(ctx context.Context, c *call) (answer, error) {
	report, err := c.Doctor(ctx)
	if err != nil {
		return answer{}, err
	}
	if report.OK {
		return answer{data: report, effect: fault.EffectNone}, nil
	}
	return answer{data: report}, doctorFault(report)
}

// doctorFault puts what is amiss into one error: the message names every
// failed check, the hint every remedy.
func doctorFault(report doctor.Report) error {
	var wrong, fixes []string
	for _, check := range report.Checks {
		if check.OK || check.Level != doctor.Error {
			continue
		}
		wrong = append(wrong, check.Name+": "+check.Detail)
		if check.Fix != "" {
			fixes = append(fixes, check.Fix)
		}
	}
	return fault.New(fault.DoctorFailed, strings.Join(fixes, "; "),
		"a recording would not work here: %s", strings.Join(wrong, "; "))
}

// Version is the answer of version.
type Version struct {
	Name          string `json:"name"`
	Version       string `json:"version"`
	SchemaVersion int    `json:"schemaVersion"`
}

func (*versionCmd) run(_ context.Context, c *call) (answer, error) {
	return answer{data: Version{"proofreel", c.Version, contract.SchemaVersion}, effect: fault.EffectNone}, nil
}

func (s *helpCmd) run(_ context.Context, c *call) (answer, error) {
	m, err := NewManifest(c.Version)
	if err != nil {
		return answer{}, err
	}
	if s.Command == "" {
		return answer{data: m, effect: fault.EffectNone}, nil
	}
	name := strings.TrimSpace(string(s.Command) + " " + string(s.Sub))
	if part, ok := m.part(name); ok {
		return answer{data: part, effect: fault.EffectNone}, nil
	}
	if group, ok := m.group(name); ok {
		return answer{data: group, effect: fault.EffectNone}, nil
	}
	return answer{}, fault.New(fault.Usage, "proofreel help lists the commands.", "there is no command %s", name)
}

func (s *superviseCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	return answer{effect: fault.EffectNone}, r.Supervise(ctx, string(s.Dir))
}

func (s *finishCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	return answer{effect: fault.EffectNone}, r.Finish(ctx, string(s.Dir))
}

// watchEvery is how often watch looks, and watchDead how often in a row it
// finds no supervisor before it believes that none will come: one that starts
// and one that takes over are not there at once.
const (
	watchEvery = 500 * time.Millisecond
	watchDead  = 6
)

// run looks at the recording until it has ended, or until nobody works on it
// any more.
func (s *watchCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	id, dead := string(s.ID), 0
	for {
		res, err := r.Status(ctx, id)
		if err != nil {
			return answer{}, err
		}
		c.watching(res)
		if dead++; res.SupervisorAlive {
			dead = 0
		}
		if res.Phase.Terminal() || dead == watchDead {
			return answer{data: res, effect: fault.EffectNone}, nil
		}
		id = res.RecordingID
		if err := c.Wait(ctx, watchEvery); err != nil {
			return answer{}, err
		}
	}
}
