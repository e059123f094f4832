// Package workflow makes a film of a prompt, in the one order in which that is
// safe: the prompt is checked and screened; an agent in a box writes a scene;
// the box is killed; what it made is examined, encoded afresh in a second box,
// and published. Whatever happens, on every path what a job held is released:
// its boxes are dead, its sockets and files gone.
//
// The order lives here, with the bounds of each step and the meaning of its
// errors. How a step is done is its own package's: screen, executor, gateway,
// agent, exit.
package workflow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/exit"
	"github.com/proofreel/proofreel/internal/studio/gateway"
	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/job"
	"github.com/proofreel/proofreel/internal/studio/ledger"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Config is what jobs need of their surroundings.
type Config struct {
	Executor executor.Executor
	Upstream gateway.Upstream
	Prices   *price.Table // nil: the built-in table
	Agent    agent.Agent  // zero: agent.Own
	// Dir is where jobs keep their sockets and journals while they run. It is
	// made when it is not there, and is nobody else's. Sockets have short
	// names: 60 bytes at most.
	Dir string
	Log *slog.Logger // nil: nowhere
	// BoxLog gets what boxes print, for people who debug an author. It is
	// hostile text. nil: nowhere.
	BoxLog func(job string, p []byte)
}

// Order is one film to be made.
type Order struct {
	ID            string // lower case letters, digits, dashes; at most 48
	Prompt        string // as job.CheckPrompt has it
	Seconds       float64
	Width, Height int
	Style         string // empty: the author's choice
	Tier          Tier
	Exit          exit.Mode
	// Film and Poster are the paths to be published; what lies there is
	// replaced once all is well.
	Film, Poster string
}

// Tier is what a job may use.
type Tier struct {
	Name         string
	Model        string // of the author
	ScreenModel  string
	Budget       ledger.Micros // of the author
	ScreenBudget ledger.Micros
	Turns        int
	Wall         time.Duration // of the author's box
	Limits       sandbox.Limits
	Thinking     bool
}

// Event says that a job does something else now, or how far it is. What of it
// comes out of the box is a word of a fixed vocabulary or a number in bounds.
type Event struct {
	Phase   job.Phase
	Percent int // of Rendering
	Turn    int // calls to the model so far
}

// Result is a film that was published.
type Result struct {
	exit.Published
	Seconds float64       // of the film
	Turns   int           // calls to the author's model
	Spent   ledger.Micros // on the author and the screen
	Took    time.Duration
}

// Workflow runs jobs. It may be used from several goroutines.
type Workflow struct {
	c       Config
	gateway *gateway.Gateway
}

// Open prepares the directory and the gateway. It starts nothing.
func Open(c Config) (*Workflow, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Agent.Name == "" {
		c.Agent = agent.Own()
	}
	if c.Prices == nil {
		own, err := price.Default()
		if err != nil {
			return nil, fmt.Errorf("read the prices: %w", err)
		}
		c.Prices = &own
	}
	w := &Workflow{c: c}
	for _, d := range []string{c.Dir, w.jobs(), w.journals()} {
		if err := ownDir(d); err != nil {
			return nil, fmt.Errorf("prepare the jobs' directory: %w", err)
		}
	}
	var err error
	w.gateway, err = gateway.New(gateway.Config{
		Upstream: c.Upstream, Dir: w.journals(), Prices: c.Prices, Log: c.Log,
		// The agent is dead when a door is closed: nobody waits for an answer.
		Timeouts: gateway.Timeouts{Close: 3 * time.Second},
	})
	if err != nil {
		return nil, fmt.Errorf("open the gateway: %w", err)
	}
	return w, nil
}

// Close drops idle connections. Jobs must have ended; the executor stays open.
func (w *Workflow) Close() { w.gateway.Close() }

func (w *Workflow) jobs() string     { return filepath.Join(w.c.Dir, "jobs") }
func (w *Workflow) journals() string { return filepath.Join(w.c.Dir, "journals") }

// priced says whether all models have a price: one is not asked for the sake
// of another that can't be. Else it is a *gateway.NoPriceError.
func (w *Workflow) priced(models ...string) error {
	for _, m := range models {
		if _, ok := w.c.Prices.Find(m); !ok {
			return &gateway.NoPriceError{Model: m, Version: w.c.Prices.Version}
		}
	}
	return nil
}

// ownDir makes a directory that nobody else may enter, or checks that it is one.
func ownDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err //nolint:wrapcheck // wrapped by the caller
	}
	st, err := os.Lstat(path)
	if err != nil {
		return err //nolint:wrapcheck // as above
	}
	if !st.IsDir() || st.Mode().Perm()&0o077 != 0 || !ownedByUs(st) {
		return fmt.Errorf("%s is not a directory of ours alone", path)
	}
	return nil
}

// Run makes a film. tell is called with every change, one call at a time, the
// last with an end phase; it must not block. It is not called when the job can't
// begin: its name is in use, or its directory can't be made. Errors are faults,
// but for those that nobody expects. When ctx ends the job is cancelled; Run
// returns when everything of it is gone, or with cleanup_failed.
func (w *Workflow) Run(ctx context.Context, o Order, tell func(Event)) (res Result, err error) {
	r, err := w.newRun(o, tell)
	if err != nil {
		return Result{}, diskFault(err)
	}
	defer func() {
		left := r.release()
		if left != nil {
			left = r.left(left, res)
			err = errors.Join(err, left)
		}
		r.say(Event{Phase: endPhase(ctx, err)})
		if err != nil {
			res, err = Result{}, r.fault(ctx, err, left)
		}
	}()
	r.say(Event{Phase: job.Queued})
	if err := job.CheckPrompt(o.Prompt); err != nil {
		return Result{}, err //nolint:wrapcheck // it is the user's error
	}
	if err := w.priced(o.Tier.ScreenModel, o.Tier.Model); err != nil {
		return Result{}, err
	}
	r.say(Event{Phase: job.Screening})
	if err := r.screen(ctx); err != nil {
		return Result{}, err
	}
	r.say(Event{Phase: job.Starting})
	box, err := r.write(ctx)
	if err != nil {
		return Result{}, err
	}
	r.say(Event{Phase: job.Validating})
	return r.leave(ctx, box)
}
