package sandbox

import (
	"strings"
	"testing"
)

// asExpected is what a perfect box and a perfect outside see.
func asExpected() (inside, outside []Observation) {
	for _, c := range Cases() {
		inside = append(inside, Observation{ID: c.ID, Open: c.Open})
		if c.Control != ControlNone {
			outside = append(outside, Observation{ID: c.ID, Open: true})
		}
	}
	return inside, outside
}

func find(t *testing.T, all []Observation, id string) *Observation {
	t.Helper()
	for i := range all {
		if all[i].ID == id {
			return &all[i]
		}
	}
	t.Fatalf("no case %s", id)
	return nil
}

// A probe that is green when something is not as listed is worse than none.
func TestGreen(t *testing.T) {
	tests := []struct {
		name   string
		change func(in, out []Observation) []Observation
		green  bool
	}{
		{"as listed", func(in, _ []Observation) []Observation { return in }, true},
		{"a door of the machine is open", func(in, _ []Observation) []Observation {
			find(t, in, "socket-vsock").Open = true
			return in
		}, false},
		{"the box's own door is shut", func(in, _ []Observation) []Observation {
			find(t, in, "door-2").Open = false
			return in
		}, false},
		{"a case is missing", func(in, _ []Observation) []Observation { return in[1:] }, false},
		{"nothing was seen", func(_, _ []Observation) []Observation { return nil }, false},
		{"a canary is dead", func(in, out []Observation) []Observation {
			find(t, out, "tcp-loopback-v4").Open = false
			return in
		}, false},
		{"the machine has no IPv6", func(in, out []Observation) []Observation {
			find(t, out, "tcp-loopback-v6").Open = false
			return in
		}, true},
	}
	for _, tt := range tests {
		in, out := asExpected()
		r := Report{Backend: "b", Results: Judge(false, tt.change(in, out), out)}
		if r.Green() != tt.green {
			t.Errorf("%s: green is %v: %s", tt.name, r.Green(), r.Summary())
		}
		if !r.Green() && !strings.Contains(r.Table(), "!") {
			t.Errorf("%s: the table marks nothing", tt.name)
		}
	}
	in, out := asExpected()
	if (Report{Results: Judge(false, in, out), Problems: []string{"a canary was reached"}}).Green() || (Report{}).Green() {
		t.Error("green with a problem, or with nothing seen")
	}
}

// Two cases of one name would hide each other.
func TestCasesAreTold(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		if seen[c.ID] || c.ID == "" || c.What == "" || c.Group == "" || c.try == nil {
			t.Errorf("case %+v", c.ID)
		}
		seen[c.ID] = true
	}
	if len(seen) < 150 {
		t.Errorf("%d cases only", len(seen))
	}
}

// What the box prints around the line is not the probe's.
func TestReadProbe(t *testing.T) {
	got, err := ReadProbe("noise\n" + ProbeWord + `[{"id":"a","open":true,"detail":"d"}]` + "\nmore\n")
	if err != nil || len(got) != 1 || got[0] != (Observation{"a", true, "d"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "noise", ProbeWord + "{", ProbeWord} {
		if _, err := ReadProbe(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// What a box prints is hostile: reading it may fail, and no more.
func FuzzReadProbe(f *testing.F) {
	f.Add("noise\n" + ProbeWord + `[{"id":"tcp-loopback-v4","open":true,"detail":"d"}]` + "\n")
	f.Add(ProbeWord + "[")
	f.Fuzz(func(t *testing.T, output string) {
		seen, err := ReadProbe(output)
		if err != nil {
			return
		}
		r := Report{Results: Judge(false, seen, nil)}
		if r.Green() {
			t.Error("green without a control")
		}
		_ = r.Table()
	})
}
