package workflow

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/exit"
	"github.com/proofreel/proofreel/internal/studio/exit/boxed"
	"github.com/proofreel/proofreel/internal/studio/gateway"
	"github.com/proofreel/proofreel/internal/studio/job"
	"github.com/proofreel/proofreel/internal/studio/ledger"
	"github.com/proofreel/proofreel/internal/studio/screen"
	"github.com/proofreel/proofreel/internal/studio/workflow/inproc"
)

// screenTime bounds the screening.
const screenTime = time.Minute

// run is one job under way, and what it holds.
type run struct {
	w     *Workflow
	o     Order
	began time.Time
	dir   string
	lock  *statefile.Lock
	box   executor.Box // nil: none

	screened, written gateway.Summary
	ended             executor.Exit // of the author's box

	mu   sync.Mutex
	tell func(Event)
	last Event
	said agent.Report // the newest; hostile
}

func (w *Workflow) newRun(o Order, tell func(Event)) (*run, error) {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,47}$`).MatchString(o.ID) {
		return nil, fmt.Errorf("a job can't be called %q", o.ID)
	}
	if tell == nil {
		tell = func(Event) {}
	}
	r := &run{w: w, o: o, began: time.Now(), dir: filepath.Join(w.jobs(), o.ID), tell: tell}
	// The lock first: what has one can be found, should this process die.
	var err error
	if r.lock, err = statefile.TryLock(w.lockPath(o.ID)); err != nil {
		return nil, fmt.Errorf("lock the job: %w", err)
	}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("make the job's directory: %w", err), r.lock.Remove())
	}
	return r, nil
}

// say tells of a change, once.
func (r *run) say(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Turn = max(e.Turn, r.last.Turn); e != r.last {
		r.last = e
		r.tell(e)
	}
}

// heard takes a report out of the box in.
func (r *run) heard(a agent.Report) {
	r.mu.Lock()
	r.said = a
	r.mu.Unlock()
	e := Event{Turn: min(a.Turn, r.o.Tier.Turns)}
	switch a.Phase {
	case agent.Starting:
		e.Phase = job.Starting
	case agent.Writing:
		e.Phase = job.Writing
	case agent.Checking:
		e.Phase = job.Checking
	case agent.Rendering:
		e.Phase, e.Percent = job.Rendering, a.Percent
	default: // that there is a film is seen, not believed
		return
	}
	r.say(e)
}

func (r *run) report() agent.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said
}

// screen asks whether the prompt is a brief that is allowed.
func (r *run) screen(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, screenTime)
	defer cancel()
	l := inproc.Listen()
	door, err := r.w.gateway.Open(gateway.JobConfig{
		ID: screenID(r.o.ID), Model: r.o.Tier.ScreenModel, Budget: r.o.Tier.ScreenBudget, Calls: 1, Expiry: time.Now().Add(2 * screenTime),
	}, l)
	if err != nil {
		return err //nolint:wrapcheck // it says which door
	}
	defer func() { r.screened = door.Close() }()
	client := &http.Client{Transport: &http.Transport{DialContext: l.Dial, DisableCompression: true, DisableKeepAlives: true}}
	verdict, err := screen.Check(ctx, screen.Config{Client: client, Base: "http://llm.internal", Token: door.Token(), Model: r.o.Tier.ScreenModel}, r.o.Prompt)
	if err != nil {
		r.w.c.Log.Warn("the screen gave no verdict", "job", r.o.ID, "error", err)
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return err //nolint:wrapcheck // it is looked for
	}
	if verdict == screen.Unchecked && (ctx.Err() != nil || upstreamFailed(door.Close())) {
		return fault.New(fault.ModelFailed, "Look at the key and its account; with --upstream, whether the server is there, speaks the Messages API and has the model.",
			"the model that screens the prompt gave no answer")
	}
	return verdict.Fault() //nolint:wrapcheck // it is the user's error
}

// upstreamFailed says whether the model's server, and not its answer, is to
// blame: the gateway could not reach it, was refused, or got what is no answer
// of the API.
func upstreamFailed(s gateway.Summary) bool {
	for rule, n := range s.Denied {
		if n > 0 && strings.HasPrefix(rule, "upstream_") {
			return true
		}
	}
	return false
}

// write has the agent work in its box. When it returns without an error, the
// box is dead and holds what may be a film.
func (r *run) write(ctx context.Context) (executor.Box, error) {
	tier := r.o.Tier
	doorPath, reportPath := filepath.Join(r.dir, agent.DoorName), filepath.Join(r.dir, agent.ReportName)
	doorSocket, err := socket(ctx, doorPath)
	if err != nil {
		return nil, err
	}
	door, err := r.w.gateway.Open(gateway.JobConfig{
		ID: r.o.ID, Model: tier.Model, Budget: tier.Budget, Calls: tier.Turns + spareCalls, Expiry: time.Now().Add(tier.Wall + time.Minute),
	}, doorSocket)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says which door
	}
	defer func() { r.written = door.Close() }()
	reportSocket, err := socket(ctx, reportPath)
	if err != nil {
		return nil, err
	}
	stop := r.listen(ctx, reportSocket)
	defer stop()

	spec, err := agent.Spec(r.w.c.Agent, agent.Job{
		ID: r.o.ID, Brief: r.o.Prompt, Seconds: r.o.Seconds, Width: r.o.Width, Height: r.o.Height, Style: r.o.Style,
		Model: tier.Model, Token: door.Token(), Turns: tier.Turns, Thinking: tier.Thinking, Wall: tier.Wall,
		Door: doorPath, Report: reportPath,
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what it is
	}
	spec.Limits = tier.Limits
	spec.Limits.Wall = tier.Wall
	if r.w.c.BoxLog != nil {
		spec.Stdout = boxLog{r}
	}
	if r.box, err = r.w.c.Executor.Start(ctx, spec); err != nil {
		return nil, fmt.Errorf("start the author's box: %w", err)
	}
	if r.ended, err = r.box.Wait(ctx); err != nil {
		return nil, fmt.Errorf("wait for the author: %w", err)
	}
	// Also when it has ended: from here on nothing in it may change.
	if err := r.box.Kill(); err != nil {
		return nil, fmt.Errorf("kill the author's box: %w", err)
	}
	return r.box, nil
}

// spareCalls are calls beyond the agent's turns: those that it makes again.
const spareCalls = 20

type boxLog struct{ r *run }

func (b boxLog) Write(p []byte) (int, error) {
	b.r.w.c.BoxLog(b.r.o.ID, p)
	return len(p), nil
}

// listen takes reports in until stop is called.
func (r *run) listen(ctx context.Context, l net.Listener) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := agent.ServeReports(ctx, l, r.heard); err != nil && ctx.Err() == nil {
			r.w.c.Log.Warn("the box's reports", "job", r.o.ID, "error", err)
		}
	}()
	return func() {
		if r.box != nil { // the last word of one that is dead may still be on its way
			select {
			case <-done:
			case <-time.After(lastWord):
			case <-ctx.Done():
			}
		}
		cancel()
		<-done
	}
}

const lastWord = 500 * time.Millisecond

// leave takes the film out of the dead box.
func (r *run) leave(ctx context.Context, box executor.Box) (Result, error) {
	want := exit.Want{
		Width: r.o.Width, Height: r.o.Height, FPS: agent.FPS, Seconds: r.o.Seconds, MaxBytes: exit.MaxBytes,
		PosterFrame: r.report().Poster,
	}
	pub, err := exit.Leave(ctx, exit.Config{
		Work: box.Work(), Owner: uint32(box.Owner()), Want: want, Mode: r.o.Exit,
		Runner: boxed.Runner{Executor: r.w.c.Executor, JobID: r.o.ID, Limits: r.o.Tier.Limits},
		Film:   r.o.Film, Poster: r.o.Poster, Log: r.w.c.Log,
	})
	if err != nil {
		return Result{}, err //nolint:wrapcheck // it is told apart by its type
	}
	spent, err := ledger.Sum(r.screened.Spent, r.written.Spent)
	if err != nil {
		return Result{}, fmt.Errorf("add up what was spent: %w", err)
	}
	return Result{
		Published: pub, Seconds: float64(pub.Frames) / agent.FPS, Turns: r.written.Calls, Spent: spent,
		Took: time.Since(r.began),
	}, nil
}

// release gives back all that the job held.
func (r *run) release() error {
	var errs []error
	if r.box != nil {
		errs = append(errs, r.box.Close())
	}
	errs = append(errs, r.w.forget(r.o.ID))
	errs = append(errs, r.lock.Remove())
	return errors.Join(errs...)
}

// socket listens at a path to which a box's user may connect; the directory
// keeps everybody else out.
func socket(ctx context.Context, path string) (net.Listener, error) {
	var c net.ListenConfig
	l, err := c.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen for the box: %w", err)
	}
	if err := os.Chmod(path, 0o666); err != nil { //nolint:gosec // see above
		return nil, errors.Join(fmt.Errorf("open the box's socket: %w", err), l.Close())
	}
	return l, nil
}
