// Package price says what a call to a model costs: before it, at worst, and
// after it, by the usage that was reported. The prices are a versioned file.
//
// Here lie prices, usage and their arithmetic. What is left of whose budget is
// the ledger's.
package price

import (
	"bytes"
	_ "embed" // the price file
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// Rates are the prices of a million tokens of each kind, in micro-dollars.
type Rates struct {
	Input   ledger.Micros `json:"input"`
	Write5m ledger.Micros `json:"write_5m"` // into the prompt cache, for five minutes
	Write1h ledger.Micros `json:"write_1h"`
	Read    ledger.Micros `json:"read"` // from the prompt cache
	Output  ledger.Micros `json:"output"`
}

// Long is what holds for prompts of more than Above tokens.
type Long struct {
	Above int64 `json:"above"`
	Rates Rates `json:"rates"`
}

// Model is a model's row.
type Model struct {
	Name      string `json:"model"`
	MaxOutput int64  `json:"max_output"` // tokens that the model writes at most
	Rates     Rates  `json:"rates"`
	Long      *Long  `json:"long,omitempty"`
	// GeoPercent is what all rates are multiplied by where the call was served,
	// in percent. The call does not choose the place: an account may.
	GeoPercent map[string]int64 `json:"geo_percent,omitempty"`
}

// Table is a price file.
type Table struct {
	Version string  `json:"version"`
	Models  []Model `json:"models"`
}

//go:embed prices.json
var prices []byte

// Default gives the prices that were known when this was built. Their source
// is the provider's price list, read on the day that is the version.
func Default() (Table, error) { return Load(bytes.NewReader(prices)) }

// Load reads a price file. A repeated or unknown name, a price that is missing
// or negative, and a model that stands there twice are errors.
func Load(r io.Reader) (Table, error) {
	const most = 1 << 20
	raw, err := io.ReadAll(io.LimitReader(r, most))
	if err != nil {
		return Table{}, fmt.Errorf("read the prices: %w", err)
	}
	if _, err := strictjson.Parse(raw, strictjson.Limits{Depth: 8, Values: 100_000}); err != nil {
		return Table{}, fmt.Errorf("read the prices: %w", err)
	}
	var t Table
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return Table{}, fmt.Errorf("read the prices: %w", err)
	}
	return t, t.check()
}

func (t Table) check() error {
	if t.Version == "" {
		return fmt.Errorf("the prices have no version")
	}
	seen := map[string]bool{}
	for _, m := range t.Models {
		if m.Name == "" || seen[m.Name] {
			return fmt.Errorf("prices: model %q is nameless, or there twice", m.Name)
		}
		seen[m.Name] = true
		if err := m.check(); err != nil {
			return fmt.Errorf("prices of %s: %w", m.Name, err)
		}
	}
	return nil
}

// dearest is above any price that there is: what is dearer is a typing error,
// and keeps the arithmetic far from its end.
const dearest = 100_000 * ledger.Dollar

func (m Model) check() error {
	rates := []Rates{m.Rates}
	if m.Long != nil {
		if m.Long.Above <= 0 {
			return fmt.Errorf("long prompts begin above %d tokens", m.Long.Above)
		}
		rates = append(rates, m.Long.Rates)
	}
	for _, r := range rates {
		for _, p := range []ledger.Micros{r.Input, r.Write5m, r.Write1h, r.Read, r.Output} {
			if p < 0 || p > dearest {
				return fmt.Errorf("%d micro-dollars for a million tokens", p)
			}
		}
		// A forgotten price would be a gift. A model that costs nothing has none at all.
		if none := (Rates{}); r != none && (r.Input == 0 || r.Write5m == 0 || r.Write1h == 0 || r.Output == 0) {
			return fmt.Errorf("some prices are there and some are missing")
		}
	}
	if m.MaxOutput <= 0 || m.MaxOutput > maxTokens {
		return fmt.Errorf("it writes at most %d tokens", m.MaxOutput)
	}
	for geo, percent := range m.GeoPercent {
		if percent < 100 || percent > 1000 {
			return fmt.Errorf("%d %% in %s", percent, geo)
		}
	}
	return nil
}

// Find gives a model's row by its exact name. There is no row for what has no
// price.
func (t Table) Find(name string) (Model, bool) {
	i := slices.IndexFunc(t.Models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return t.Models[i], true
}

// With gives a table in which these models are added, or replace those of
// their names.
func (t Table) With(models ...Model) (Table, error) {
	out := Table{Version: t.Version, Models: slices.Clone(t.Models)}
	for _, m := range models {
		out.Models = slices.DeleteFunc(out.Models, func(o Model) bool { return o.Name == m.Name })
		out.Models = append(out.Models, m)
	}
	return out, out.check()
}
