package gateway

import (
	"context"
	"errors"

	"github.com/proofreel/proofreel/internal/studio/gateway/policy"
	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// What a prompt's tokens are at most, when nobody has counted them. A token is
// at least a byte of text. Tools bring instructions of the provider's that are
// not in the request: some 700 tokens at the most, and about as many for each
// tool that the provider defines.
const (
	perRequest = 1_000
	perTool    = 1_000
	perImage   = 500
)

// bound gives how many tokens a request's prompt can have at most.
func bound(r *policy.Request) int64 {
	n := r.TextBytes + perRequest
	if r.Tools > 0 {
		n += perTool * int64(min(r.Tools, 3)) // the provider defines two
	}
	for _, i := range r.Images {
		w, h := int64(i.Width), int64(i.Height)
		// Two formulas are known: pixels by 750, and squares of 28 pixels. Large
		// pictures are made smaller first, which is not counted on.
		n += perImage + max(w*h/750, ((w+27)/28)*((h+27)/28))
	}
	return n
}

// payment is a call's reservation.
type payment struct {
	hold      *ledger.Hold
	maxTokens int64
	done      bool
}

// reserve takes the call's worst case out of the job's budget. Its max_tokens
// is lowered to the caps, and then to what is left.
func (c *call) reserve(ctx context.Context) (*payment, *denial) {
	j := c.j
	want := min(c.req.MaxTokens, j.caps.MaxTokens, j.model.MaxOutput)
	least := min(want, j.caps.MinTokens)
	if c.req.Thinking.Budget > 0 {
		least = min(want, max(least, 2*policy.MinThinking))
	}
	prompt := bound(c.req)
	worst, err := j.model.Worst(prompt)
	if err != nil {
		return nil, status(500, "ledger", "the call's price can't be told, so it is not made")
	}
	if most, err := worst.Price(want); err != nil || most > j.budget.Statement().Left() {
		if tighter, ok := c.measure(ctx, prompt); ok {
			worst = tighter
		}
	}
	from, err1 := worst.Price(least)
	to, err2 := worst.Price(want)
	if err := errors.Join(err1, err2); err != nil {
		return nil, unpaid(&ledger.ExhaustedError{Left: j.budget.Statement().Left(), Needed: worst.Input})
	}
	faultpoint("reserve")
	hold, err := j.budget.Reserve(from, to)
	if err != nil {
		var gone *ledger.ExhaustedError
		if !errors.As(err, &gone) && !errors.Is(err, ledger.ErrCalls) && !errors.Is(err, ledger.ErrStopped) && !errors.Is(err, ledger.ErrClosed) {
			j.alarm("ledger", err.Error(), false)
		}
		return nil, unpaid(err)
	}
	faultpoint("reserved")
	return &payment{hold: hold, maxTokens: worst.Affords(hold.Granted(), want)}, nil
}

// measure has the provider count the prompt, when the safe bound is too dear.
// The count is an estimate of the provider's: some are added to it.
func (c *call) measure(ctx context.Context, loose int64) (price.Worst, bool) {
	if !c.j.g.up.c.Counts || c.j.budget.Count() != nil {
		return price.Worst{}, false
	}
	n, d := c.count(ctx)
	if d != nil {
		return price.Worst{}, false
	}
	n += n/20 + 200
	if n >= loose {
		return price.Worst{}, false
	}
	w, err := c.j.model.Worst(n)
	return w, err == nil
}

// settle books what a call cost. Only the first one counts.
func (c *call) settle(p *payment, cost ledger.Micros, why ledger.Why) {
	if p.done {
		return
	}
	p.done = true
	faultpoint("settle")
	if err := p.hold.Settle(cost, why); err != nil && !errors.Is(err, ledger.ErrSettled) {
		c.j.alarm("ledger", err.Error(), false)
	}
	faultpoint("settled")
}

// settleFull books the whole reservation: what the call cost is not known.
func (c *call) settleFull(p *payment, why string) {
	if !p.done {
		c.j.log.Warn("billed in full", "why", why)
	}
	c.settle(p, p.hold.Granted(), ledger.Full)
}

// settleUsage books what the usage says. Usage that can't be true, or that
// only a call could have that we would not let through, is billed in full and
// stops the job: something passes us by.
func (c *call) settleUsage(p *payment, u price.Usage) {
	if p.done {
		return
	}
	cost, err := c.j.model.Cost(u)
	switch {
	case err != nil:
		c.settleStrange(p, "usage", err.Error())
		return
	case u.Strange != "":
		c.settleStrange(p, "usage", u.Strange)
		return
	}
	granted := p.hold.Granted()
	c.settle(p, cost, ledger.Used)
	c.j.mu.Lock()
	t := &c.j.tokens
	t.Input, t.Output, t.Read = t.Input+u.Input, t.Output+u.Output, t.Read+u.Read
	t.Write5m, t.Write1h = t.Write5m+u.Write5m, t.Write1h+u.Write1h
	c.j.mu.Unlock()
	if cost > granted {
		c.j.alarm("overrun", "a call cost "+cost.String()+" of "+granted.String()+" reserved", true)
	}
}

func (c *call) settleStrange(p *payment, kind, detail string) {
	c.settleFull(p, detail)
	c.j.alarm(kind, detail, true)
}
