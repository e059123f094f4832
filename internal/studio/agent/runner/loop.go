package runner

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/proofreel/proofreel/internal/studio/agent"
)

// loop is our own agent: a model, a conversation and tools.
type loop struct {
	s     *session
	model *model
	talk  *talk
	tools []tool
}

// reminders is how often a model that stops without a film is asked to go on.
const reminders = 2

// calls is how many tool calls of one message are done.
const calls = 16

func newLoop(s *session, base string) *loop {
	l := &loop{s: s, tools: s.tools()}
	l.model = newModel(s, base)
	l.talk = newTalk(rules+own, l.tools, "This is JOB.md:\n\n"+s.brief)
	return l
}

// run asks the model and does what it asks for, until it has no more to ask.
func (l *loop) run(ctx context.Context) agent.End {
	reminded := 0
	for turn := 1; turn <= l.s.order.Turns; turn++ {
		l.s.report.set(func(r *agent.Report) { r.Phase, r.Turn = agent.Writing, turn })
		answer, err := l.ask(ctx)
		if err != nil {
			l.s.log.Warn("the model does not answer", "turn", turn, "error", err)
			return endOf(ctx, err)
		}
		uses := l.talk.hear(answer)
		switch {
		case len(uses) > 0:
			l.talk.answer(l.do(ctx, uses))
		case answer.StopReason == anthropic.StopReasonRefusal:
			return agent.Refused
		case answer.StopReason == anthropic.StopReasonMaxTokens, answer.StopReason == anthropic.StopReasonPauseTurn:
			l.talk.say("Go on. Write long files in pieces.")
		case answer.StopReason == anthropic.StopReasonModelContextWindowExceeded:
			l.talk.shrink()
			l.talk.say("The conversation was cut to make room. Go on.")
		default:
			missing := l.missing()
			if missing == "" || reminded == reminders {
				return agent.Finished
			}
			reminded++
			l.talk.say(missing)
		}
		if ctx.Err() != nil {
			return endOf(ctx, ctx.Err())
		}
	}
	return agent.TurnsOut
}

// ask calls the model. What the gateway refuses is made smaller once, and the
// model is told why.
func (l *loop) ask(ctx context.Context) (*anthropic.Message, error) {
	l.talk.fit()
	answer, err := l.model.call(ctx, l.talk)
	var denied *deniedError
	if !errors.As(err, &denied) {
		return answer, err
	}
	l.s.log.Warn("denied", "error", err)
	l.talk.shrink()
	l.talk.deny(denied.text)
	return l.model.call(ctx, l.talk)
}

// missing says what there is to do before the job can end; empty: nothing.
func (l *loop) missing() string {
	if _, err := os.Stat(l.s.path(agent.SceneName)); err != nil {
		return "There is no scene.js in the work folder yet. Write it, look at it, and render it."
	}
	if _, err := l.s.check(); err != nil {
		return fmt.Sprintf("The film is not there as it was ordered: %v. Call render.", err)
	}
	return ""
}

// do does the calls of one message, in their order.
func (l *loop) do(ctx context.Context, uses []use) []answered {
	results := make([]answered, 0, len(uses))
	for i, u := range uses {
		results = append(results, answered{u.id, l.one(ctx, i, u)})
	}
	return results
}

func (l *loop) one(ctx context.Context, i int, u use) result {
	switch {
	case u.bad != "":
		return failed("%s", u.bad)
	case i >= calls:
		return failed("not done: at most %d calls in one message", calls)
	case ctx.Err() != nil:
		return failed("not done: the time is up")
	}
	for _, t := range l.tools {
		if t.name == u.name {
			l.s.report.set(func(r *agent.Report) { r.Phase = t.phase })
			res := t.run(ctx, u.input)
			l.s.log.Info("tool", "name", u.name, "failed", res.failed, "bytes", len(res.text), "pictures", len(res.pictures))
			return res
		}
	}
	return failed("there is no tool of this name")
}

// endOf says what an error of the model's means for the job.
func endOf(ctx context.Context, err error) agent.End {
	var denied *deniedError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return agent.TimeOut
	case ctx.Err() != nil:
		return agent.Broken
	case errors.Is(err, errBudget):
		return agent.BudgetOut
	case errors.As(err, &denied), errors.Is(err, errShut):
		return agent.Denied
	default:
		return agent.Upstream
	}
}
