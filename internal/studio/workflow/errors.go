package workflow

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/exit"
	"github.com/proofreel/proofreel/internal/studio/gateway"
	"github.com/proofreel/proofreel/internal/studio/job"
)

// endPhase is the phase that an end is told as.
func endPhase(ctx context.Context, err error) job.Phase {
	var f *fault.Error
	switch {
	case err == nil:
		return job.Done
	case ctx.Err() != nil:
		return job.Cancelled
	case errors.As(err, &f) && (f.Code == fault.PromptRefused || f.Code == fault.PromptInvalid || f.Code == fault.PromptUnchecked):
		return job.Refused
	default:
		return job.Failed
	}
}

// fault makes the error for whoever ordered; left is that of what could not be
// removed, or nil. The cause goes to the log: it may hold paths, and words out
// of the box.
func (r *run) fault(ctx context.Context, err, left error) error {
	r.w.c.Log.Warn("the job ends without a film", "job", r.o.ID, "error", err, "box", r.ended.Reason, "said", r.report().End.String())
	var (
		own     *fault.Error
		refused *exit.RefusedError
		price   *gateway.NoPriceError
	)
	switch {
	case ctx.Err() != nil && left != nil:
		return left
	case ctx.Err() != nil:
		return fault.New(fault.Interrupted, "Everything of the job is gone; order it again.", "the job was cancelled")
	case errors.As(err, &refused) && refused.Reason == exit.Missing && refused.Item == exit.Film:
		return r.noFilm()
	case errors.As(err, &own):
		return own
	case errors.As(err, &price):
		return fault.New(fault.InvalidValue, "Name a model that the price table has. For a server that costs nothing, say --budget 0.",
			"nobody knows what the model %q costs", price.Model)
	case errors.Is(err, executor.ErrUnavailable), errors.Is(err, executor.ErrStart):
		return fault.Wrap(err, fault.BoxUnavailable, "proofreel doctor looks at the box, proofreel setup chooses one.", "no box could be started")
	}
	return diskFault(err)
}

// diskFault tells a disk that is full where jobs are kept from what nobody expects.
func diskFault(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fault.Wrap(err, fault.DiskFull, "Free some space where recordings are kept (PROOFREEL_HOME).", "there is no space for the job's files")
	}
	return err
}

// noFilm says why there is none, by what the outside knows first, and by what
// the box says of itself last.
func (r *run) noFilm() error {
	denied := r.written.Denied
	switch said := r.report().End; {
	case r.ended.Reason == executor.Wall:
		return fault.New(fault.GenerateTimeout, "Order a shorter or simpler film.", "the author's time was up before there was a film")
	case r.ended.Reason == executor.Memory, r.ended.Reason == executor.Disk, r.ended.Reason == executor.Pids:
		return fault.New(fault.GenerateFailed, "Order a simpler film.", "the author's box went beyond its limit: %s", r.ended.Reason)
	case denied["budget_exhausted"] > 0 || denied["calls_exhausted"] > 0 || said == agent.BudgetOut || said == agent.TurnsOut:
		return fault.New(fault.BudgetExhausted, "Order a shorter or simpler film, or raise the budget.", "the model's budget was used up before there was a film")
	case said == agent.TimeOut:
		return fault.New(fault.GenerateTimeout, "Order a shorter or simpler film.", "the author's time was up before there was a film")
	case said == agent.Upstream || said == agent.Refused || said == agent.Denied:
		return fault.New(fault.ModelFailed, "Try again later; with --upstream, look whether the server is there and has the model.", "the model gave no answer that a film could be made of")
	default:
		return fault.New(fault.GenerateFailed, "Try again, or say the brief in other words.", "the author ended without a film")
	}
}

// left is the error of what could not be removed. A film that was published
// stays.
func (r *run) left(err error, res Result) error {
	f := fault.Wrap(err, fault.CleanupFailed, "The next job's start tries again to remove it.", "something of the job could not be removed")
	if res.Film.Path == "" {
		return f
	}
	return f.WithArtifact(res.Film.Path).WithEffect(fault.EffectFilmRendered)
}
