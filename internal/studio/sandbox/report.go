package sandbox

import (
	"fmt"
	"strings"
	"time"
)

// Sight is what a try saw.
type Sight string

// The sights.
const (
	Open  Sight = "open"
	Shut  Sight = "shut"
	Blank Sight = "" // not tried
)

// Observation is what one case saw in one place.
type Observation struct {
	ID     string `json:"id"`
	Open   bool   `json:"open"`
	Detail string `json:"detail"`
}

// Sight puts it in a word.
func (o Observation) Sight() Sight {
	if o.Open {
		return Open
	}
	return Shut
}

// Result is a row of a report.
type Result struct {
	ID       string `json:"id"`
	Group    string `json:"group"`
	What     string `json:"what"`
	Expected Sight  `json:"expected"`
	Seen     Sight  `json:"seen"`
	Control  Sight  `json:"control"` // what the same try saw outside the box; blank where it would do harm there
	Detail   string `json:"detail"`
	Problem  string `json:"problem,omitempty"` // why the row is not as it should be
}

// Report is what the conformance probe saw of a backend.
type Report struct {
	Backend  string        `json:"backend"`
	Limits   string        `json:"limits"` // what enforces memory and process limits
	Results  []Result      `json:"results"`
	Problems []string      `json:"problems,omitempty"` // of the probe as a whole
	Took     time.Duration `json:"took"`
}

// Green says whether jobs may run: every case was seen, what is open is
// exactly what is listed, and every canary could be reached from outside.
func (r Report) Green() bool {
	if len(r.Results) == 0 || len(r.Problems) > 0 {
		return false
	}
	for _, row := range r.Results {
		if row.Problem != "" {
			return false
		}
	}
	return true
}

// Summary says in a line how it went.
func (r Report) Summary() string {
	var bad []string
	for _, row := range r.Results {
		if row.Problem != "" {
			bad = append(bad, row.ID+" ("+row.Problem+")")
		}
	}
	bad = append(bad, r.Problems...)
	if len(bad) == 0 {
		return fmt.Sprintf("%s: all %d cases are as they should be", r.Backend, len(r.Results))
	}
	return fmt.Sprintf("%s: %d of %d cases are not as they should be: %s", r.Backend, len(bad), len(r.Results), strings.Join(bad, "; "))
}

// Table shows every case: expected, seen, control, detail.
func (r Report) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s %-9s %-8s %-5s %-8s %s\n", r.Backend, "group", "expected", "seen", "outside", "detail")
	for _, row := range r.Results {
		mark := " "
		if row.Problem != "" {
			mark = "!"
		}
		fmt.Fprintf(&b, "%s%-27s %-9s %-8s %-5s %-8s %s\n", mark, row.ID, row.Group, row.Expected, row.Seen, row.Control, strings.TrimSpace(row.Problem+" "+row.Detail))
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "! %s\n", p)
	}
	return b.String()
}

// Judge makes a report's rows of what was seen inside and outside. guest says
// that the box has a kernel of its own.
func Judge(guest bool, inside, outside []Observation) []Result {
	in, out := byID(inside), byID(outside)
	var rows []Result
	for _, c := range Cases() {
		row := Result{ID: c.ID, Group: c.Group, What: c.What, Expected: Shut}
		if c.Open || guest && c.Guest {
			row.Expected = Open
		}
		seen, ok := in[c.ID]
		if ok {
			row.Seen, row.Detail = seen.Sight(), seen.Detail
		}
		control, tried := out[c.ID]
		if tried {
			row.Control = control.Sight()
		}
		switch {
		case !ok:
			row.Problem = "not seen"
		case row.Seen != row.Expected:
			row.Problem = "should be " + string(row.Expected)
		case c.Control == ControlMust && !control.Open:
			row.Problem = "the canary can't be reached from outside either: " + control.Detail
		}
		rows = append(rows, row)
	}
	return rows
}

func byID(all []Observation) map[string]Observation {
	out := map[string]Observation{}
	for _, o := range all {
		out[o.ID] = o
	}
	return out
}
