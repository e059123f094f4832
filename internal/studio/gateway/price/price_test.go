package price

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// model costs, in dollars for a million tokens, 1 in, 5 out; long prompts and
// the place "us" cost more.
func model() Model {
	return Model{
		Name: "m", MaxOutput: 1000, GeoPercent: map[string]int64{"us": 110},
		Rates: Rates{Input: 1_000_000, Write5m: 1_250_000, Write1h: 2_000_000, Read: 100_000, Output: 5_000_000},
		Long:  &Long{Above: 1000, Rates: Rates{Input: 5_000_000, Write5m: 6_250_000, Write1h: 10_000_000, Read: 500_000, Output: 25_000_000}},
	}
}

func usage(t *testing.T, texts ...string) (Usage, error) {
	t.Helper()
	var u Usage
	for _, text := range texts {
		v, err := strictjson.Parse([]byte(text), strictjson.Limits{Depth: 9, Values: 99})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Add(v); err != nil {
			return u, err
		}
	}
	return u, nil
}

// What a call cost, by every field that can cost.
func TestCost(t *testing.T) {
	cases := []struct {
		name  string
		usage []string
		want  ledger.Micros
	}{
		{"plain", []string{`{"input_tokens":10,"output_tokens":10}`}, 60},
		{"cache by lifetimes", []string{`{"input_tokens":10,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":10},"cache_read_input_tokens":10,"output_tokens":0}`}, 10 + 25 + 20 + 1},
		{"cache without lifetimes", []string{`{"input_tokens":0,"cache_creation_input_tokens":20,"output_tokens":0}`}, 25},
		{"rounded up", []string{`{"input_tokens":0,"cache_read_input_tokens":1,"output_tokens":0}`}, 1},
		{"the most of each, not the sum", []string{`{"input_tokens":10,"output_tokens":1}`, `{"output_tokens":7}`, `{"input_tokens":10,"output_tokens":10}`}, 60},
		{"less than before", []string{`{"input_tokens":10,"output_tokens":10}`, `{"input_tokens":1,"output_tokens":2}`}, 60},
		{"long by the whole prompt", []string{`{"input_tokens":1,"cache_read_input_tokens":1000,"output_tokens":1}`}, 5 + 500 + 25},
		{"at the border", []string{`{"input_tokens":1000,"output_tokens":0}`}, 1000},
		{"another place", []string{`{"input_tokens":10,"output_tokens":10,"inference_geo":"us"}`}, 66},
		{"a place nobody knows", []string{`{"input_tokens":10,"output_tokens":10,"inference_geo":"moon"}`}, 66},
		{"the usual place", []string{`{"input_tokens":10,"output_tokens":10,"inference_geo":"global"}`}, 60},
		{"parts are more", []string{`{"input_tokens":10,"output_tokens":10,"iterations":[{"type":"message","input_tokens":10,"output_tokens":10},{"type":"message","input_tokens":10,"output_tokens":0}]}`}, 70},
		{"parts are less", []string{`{"input_tokens":10,"output_tokens":10,"iterations":[{"type":"message","input_tokens":1,"output_tokens":1}]}`}, 60},
		{"nulls", []string{`{"input_tokens":10,"cache_creation":null,"cache_read_input_tokens":null,"output_tokens":10,"server_tool_use":null,"iterations":null}`}, 60},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			u, err := usage(t, c.usage...)
			if err != nil || u.Strange != "" || !u.Seen {
				t.Fatalf("%+v, %v", u, err)
			}
			got, err := model().Cost(u)
			if err != nil || got != c.want {
				t.Errorf("%d, %v; want %d", got, err, c.want)
			}
		})
	}
}

// A count that is no count must not become a small cost.
func TestUsageThatCantBeTrue(t *testing.T) {
	for _, bad := range []string{
		`{"output_tokens":-1}`, `{"output_tokens":1.5}`, `{"output_tokens":1e3}`, `{"output_tokens":"5"}`, `{"input_tokens":99999999999999999999}`,
		`{"input_tokens":1000000001}`, `{"cache_creation":{"ephemeral_1h_input_tokens":-5}}`, `{"iterations":[{"type":"message","output_tokens":-1}]}`,
		`{"iterations":{}}`, `[]`, `5`, `{"output_tokens":true}`,
	} {
		var u *UsageError
		if _, err := usage(t, bad); !errors.As(err, &u) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// What only a call could have that we do not let through must be seen.
func TestStrange(t *testing.T) {
	for _, strange := range []string{
		`{"service_tier":"priority","output_tokens":1}`, `{"speed":"fast","output_tokens":1}`, `{"server_tool_use":{"web_search_requests":1},"output_tokens":1}`,
		`{"iterations":[{"type":"compaction","output_tokens":1}],"output_tokens":1}`, `{"iterations":[{"type":"advisor_message"}],"output_tokens":1}`,
	} {
		if u, err := usage(t, strange); err != nil || u.Strange == "" {
			t.Errorf("%s: %+v, %v", strange, u, err)
		}
	}
	if u, _ := usage(t, `{"input_tokens":5}`); u.Seen {
		t.Error("usage without output tokens counts as usage")
	}
}

// No usage within the bounds costs more than the worst case that was reserved
// for it: else the budget does not hold.
func TestWorstIsWorst(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := model()
		n := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(rt, name) }
		prompt := n("prompt", 3000)
		left := prompt
		part := func(name string) int64 {
			v := n(name, left)
			left -= v
			return v
		}
		var u Usage
		u.Read, u.Write5m, u.Input = part("read"), part("write"), part("input")
		u.Output = n("output", 1000)
		u.Geo = rapid.SampledFrom([]string{"", "us", "eu"}).Draw(rt, "geo")
		w, err := m.Worst(prompt)
		if err != nil {
			rt.Fatal(err)
		}
		most, err := w.Price(u.Output)
		cost, cerr := m.Cost(u)
		if err != nil || cerr != nil || cost > most {
			rt.Fatalf("%+v costs %d of at most %d (%v, %v)", u, cost, most, err, cerr)
		}
		// What an amount affords does not cost more than the amount.
		amount := w.Input + ledger.Micros(n("rest", 100_000))
		tokens := w.Affords(amount, 1_000_000)
		if p, err := w.Price(tokens); err != nil || p > amount {
			rt.Fatalf("%d tokens cost %d of %d, %v", tokens, p, amount, err)
		}
	})
	w := Worst{Input: 10, Output: 5_000_000}
	for amount, want := range map[ledger.Micros]int64{0: 0, 9: 0, 10: 0, 15: 1, 1 << 62: 50} {
		if got := w.Affords(amount, 50); got != want {
			t.Errorf("%d affords %d, want %d", amount, got, want)
		}
	}
}

// A price file with a typing error gives money away.
func TestLoad(t *testing.T) {
	row := `{"model":"m","max_output":10,"rates":{"input":1,"write_5m":1,"write_1h":1,"read":1,"output":1}}`
	good := `{"version":"1","models":[` + row + `]}`
	if _, err := Load(strings.NewReader(good)); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]string{
		"no version":      strings.Replace(good, `"version":"1",`, ``, 1),
		"twice":           strings.Replace(good, row, row+","+row, 1),
		"a name twice":    strings.Replace(good, `"input":1`, `"input":5,"input":1`, 1),
		"unknown name":    strings.Replace(good, `"input"`, `"Input_"`, 1),
		"a price missing": strings.Replace(good, `,"output":1`, ``, 1),
		"negative":        strings.Replace(good, `"output":1`, `"output":-1`, 1),
		"absurd":          strings.Replace(good, `"output":1`, `"output":999999999999999`, 1),
		"fraction":        strings.Replace(good, `"output":1`, `"output":0.5`, 1),
		"no output":       strings.Replace(good, `"max_output":10`, `"max_output":0`, 1),
		"cheaper place":   strings.Replace(good, `"rates"`, `"geo_percent":{"us":10},"rates"`, 1),
		"long from zero":  strings.Replace(good, `"rates"`, `"long":{"above":0,"rates":{}},"rates"`, 1),
		"no JSON":         "x",
		"nameless":        strings.Replace(good, `"model":"m"`, `"model":""`, 1),
	} {
		if _, err := Load(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// The built-in prices are sound, and a row can be replaced by the operator's.
func TestDefault(t *testing.T) {
	d, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	m, ok := d.Find("claude-opus-5-5")
	if !ok || m.Rates.Output != 20*ledger.Dollar {
		t.Errorf("%+v", m)
	}
	for _, unknown := range []string{"", "claude", "claude-opus-5-5 ", "CLAUDE-OPUS-5-5", "claude-opus-5-5-20260101"} {
		if _, ok := d.Find(unknown); ok {
			t.Errorf("%q has a price", unknown)
		}
	}
	m.Rates.Output++
	free := Model{Name: "local", MaxOutput: 100}
	with, err := d.With(m, free)
	if err != nil || len(with.Models) != len(d.Models)+1 {
		t.Errorf("%v", err)
	}
	if got, _ := with.Find(m.Name); got.Rates.Output != m.Rates.Output {
		t.Error("the row was not replaced")
	}
}
