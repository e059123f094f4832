package price

import (
	"fmt"
	"slices"

	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// maxTokens is more than any call can have. What is above is no count.
const maxTokens = 1_000_000_000

// Tokens counts the tokens of one call, or of one of its parts.
type Tokens struct {
	Input, Write5m, Write1h, Read, Output int64
	write                                 int64 // both writes together, as some report only this
}

// Usage is what a call used, as its answer tells. Streams tell it several
// times, each time cumulated: Add keeps the most of each field.
type Usage struct {
	Tokens
	Parts   []Tokens // iterations, when the answer lists them
	Geo     string   // where it was served
	Seen    bool     // usage with output tokens was told at all
	Strange string   // why this can't be a call that we let through; empty: it can
}

// UsageError says that reported usage can't be true.
type UsageError struct{ Field, Reason string }

func (e *UsageError) Error() string { return fmt.Sprintf("usage.%s %s", e.Field, e.Reason) }

// Add takes a usage object in. A count that is no plain integer from 0 to a
// billion is a *UsageError.
func (u *Usage) Add(v strictjson.Value) error {
	if v.Kind == strictjson.Null {
		return nil
	}
	if v.Kind != strictjson.Object {
		return &UsageError{"", "is no object"}
	}
	if err := u.add(v); err != nil {
		return err
	}
	if out, ok := v.Get("output_tokens"); ok && out.Kind == strictjson.Number {
		u.Seen = true
	}
	if geo := v.Str("inference_geo"); geo != "" {
		u.Geo = geo
	}
	u.notice(v)
	return u.parts(v)
}

func (t *Tokens) add(v strictjson.Value) error {
	cached, _ := v.Get("cache_creation")
	for _, f := range []struct {
		from strictjson.Value
		name string
		to   *int64
	}{
		{v, "input_tokens", &t.Input},
		{v, "cache_creation_input_tokens", &t.write},
		{v, "cache_read_input_tokens", &t.Read},
		{v, "output_tokens", &t.Output},
		{cached, "ephemeral_5m_input_tokens", &t.Write5m},
		{cached, "ephemeral_1h_input_tokens", &t.Write1h},
	} {
		n, err := count(f.from, f.name)
		if err != nil {
			return err
		}
		*f.to = max(*f.to, n)
	}
	return nil
}

func count(v strictjson.Value, name string) (int64, error) {
	m, ok := v.Get(name)
	if !ok || m.Kind == strictjson.Null {
		return 0, nil
	}
	n, ok := m.Int()
	if !ok || n < 0 || n > maxTokens {
		return 0, &UsageError{name, "is no count of tokens"}
	}
	return n, nil
}

// notice keeps what only a call could have that we would not have let through.
func (u *Usage) notice(v strictjson.Value) {
	switch tier := v.Str("service_tier"); tier {
	case "", "standard", "batch":
	default:
		u.Strange = "service tier " + clip(tier)
	}
	switch speed := v.Str("speed"); speed {
	case "", "standard":
	default:
		u.Strange = "speed " + clip(speed)
	}
	if tools, ok := v.Get("server_tool_use"); ok {
		for i, n := range tools.Elems {
			if string(n.Text) != "0" && n.Kind == strictjson.Number {
				u.Strange = "server tools: " + clip(tools.Names[i])
			}
		}
	}
}

// parts reads iterations: samplings of one call, some of which are not in the
// fields beside them.
func (u *Usage) parts(v strictjson.Value) error {
	list, ok := v.Get("iterations")
	if !ok || list.Kind == strictjson.Null {
		return nil
	}
	if list.Kind != strictjson.Array {
		return &UsageError{"iterations", "is no list"}
	}
	parts := make([]Tokens, len(list.Elems))
	for i, e := range list.Elems {
		if kind := e.Str("type"); kind != "message" {
			u.Strange = "iteration " + clip(kind)
		}
		if err := parts[i].add(e); err != nil {
			return err
		}
	}
	if len(parts) >= len(u.Parts) {
		u.Parts = parts
	}
	return nil
}

func clip(s string) string { return s[:min(len(s), 40)] }

// written gives the cache writes of each lifetime. What is told without one
// was asked for with five minutes: the gateway lets no other through.
func (t Tokens) written() (m5, h1 int64) {
	return t.Write5m + max(0, t.write-t.Write5m-t.Write1h), t.Write1h
}

// prompt is the size of the whole input.
func (t Tokens) prompt() int64 {
	m5, h1 := t.written()
	return t.Input + m5 + h1 + t.Read
}

// Cost gives what the usage costs, each kind rounded up. Where a call lists
// its parts, their sum counts when it is more than the whole.
func (m Model) Cost(u Usage) (ledger.Micros, error) {
	whole, err := m.cost(u.Tokens, u.Geo)
	if err != nil {
		return 0, err
	}
	var parts ledger.Micros
	for _, t := range u.Parts {
		c, err := m.cost(t, u.Geo)
		if err == nil {
			parts, err = ledger.Sum(parts, c)
		}
		if err != nil {
			return 0, err
		}
	}
	return max(whole, parts), nil
}

func (m Model) cost(t Tokens, geo string) (ledger.Micros, error) {
	r := m.rates(t.prompt())
	m5, h1 := t.written()
	var sum ledger.Micros
	for _, part := range []struct {
		n    int64
		rate ledger.Micros
	}{{t.Input, r.Input}, {m5, r.Write5m}, {h1, r.Write1h}, {t.Read, r.Read}, {t.Output, r.Output}} {
		c, err := ledger.Cost(part.n, m.scaled(part.rate, geo))
		if err == nil {
			sum, err = ledger.Sum(sum, c)
		}
		if err != nil {
			return 0, fmt.Errorf("cost of %d tokens: %w", part.n, err)
		}
	}
	return sum, nil
}

func (m Model) rates(prompt int64) Rates {
	if m.Long != nil && prompt > m.Long.Above {
		return m.Long.Rates
	}
	return m.Rates
}

// scaled gives a rate where the call was served. A place that is not in the
// table, but for the one that has no extra, is as dear as the dearest.
func (m Model) scaled(rate ledger.Micros, geo string) ledger.Micros {
	percent := int64(100)
	if p, ok := m.GeoPercent[geo]; ok {
		percent = p
	} else if !slices.Contains([]string{"", "global", "not_available"}, geo) {
		percent = m.worstGeo()
	}
	return scale(rate, percent)
}

// scale gives a percentage of a rate, rounded up.
func scale(rate ledger.Micros, percent int64) ledger.Micros {
	return (rate*ledger.Micros(percent) + 99) / 100
}

func (m Model) worstGeo() int64 {
	worst := int64(100)
	for _, p := range m.GeoPercent {
		worst = max(worst, p)
	}
	return worst
}

// Worst is the worst case of a call whose prompt has at most this many tokens.
type Worst struct {
	Input  ledger.Micros // of the whole prompt
	Output ledger.Micros // of a million tokens that are written
}

// Worst gives the dearest that a prompt of at most n tokens can cost: all of
// it written to the cache for five minutes, in the dearest place.
func (m Model) Worst(n int64) (Worst, error) {
	r, geo := m.rates(n), m.worstGeo()
	// Each kind of token is rounded up by itself when it is settled.
	const roundings = 5
	in, err := ledger.Cost(n, scale(max(r.Input, r.Write5m, r.Read), geo))
	if err == nil && in > 0 {
		in, err = ledger.Sum(in, roundings)
	}
	if err != nil {
		return Worst{}, fmt.Errorf("worst case of %d tokens: %w", n, err)
	}
	return Worst{Input: in, Output: scale(r.Output, geo)}, nil
}

// Price gives the worst case with so many tokens written.
func (w Worst) Price(output int64) (ledger.Micros, error) {
	out, err := ledger.Cost(output, w.Output)
	if err != nil {
		return 0, err
	}
	return ledger.Sum(w.Input, out)
}

// Affords gives how many tokens can be written for an amount, at most most.
func (w Worst) Affords(amount ledger.Micros, most int64) int64 {
	if w.Output == 0 {
		return most
	}
	rest := amount - w.Input
	if rest < 0 {
		return 0
	}
	// Times a million this is still an int64; nine million dollars afford any
	// number of tokens that a model can write.
	rest = min(rest, 9_000_000*ledger.Dollar)
	return min(most, int64(rest)*1_000_000/int64(w.Output))
}
