package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/proofreel/proofreel/bench/internal/gauge"
)

// quiet is how many cores others may have used, in the median and at most, for
// figures that can be published.
const (
	quietMedian = 0.05
	quietMost   = 0.20
	enoughRuns  = 5
)

// result is what the command prints and keeps.
type result struct {
	At          time.Time    `json:"at"`
	Cores       int          `json:"cores"`
	Seconds     int          `json:"seconds"`
	Runs        int          `json:"runs"`
	Others      gauge.Spread `json:"others"`
	Publishable bool         `json:"publishable"`
	Why         string       `json:"why,omitempty"` // not
	Cases       []caseResult `json:"cases"`
	Due         []due        `json:"due"`
	Rows        []row        `json:"rows"`
}

// caseResult is a case over all its runs.
type caseResult struct {
	benchCase
	CPU, Verifier, Whole, XServer, PageFPS   gauge.Spread
	PeakMB, PeakAllMB, StopMS, MB            gauge.Spread
	Painted, Present, Repeated, Torn, Others gauge.Spread
	Share                                    gauge.Spread // of the painted pictures, those in the film
	PerPicture                               gauge.Spread // CPU milliseconds for each of those
}

func summarize(o options, rows []row) result {
	r := result{At: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), Seconds: o.seconds, Runs: o.runs, Rows: rows}
	r.Others = gauge.Over(rows, func(r row) float64 { return r.Others })
	switch {
	case o.runs < enoughRuns:
		r.Why = fmt.Sprintf("%d runs, at least %d are needed", o.runs, enoughRuns)
	case r.Others.Median > quietMedian || r.Others.Max > quietMost:
		r.Why = fmt.Sprintf("the machine was not quiet: others used %.2f cores in the median, %.2f at most; %.2f and %.2f are allowed",
			r.Others.Median, r.Others.Max, quietMedian, quietMost)
	default:
		r.Publishable = true
	}
	for _, c := range allCases() {
		of := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.benchCase != c })
		if len(of) > 0 {
			r.Cases = append(r.Cases, sumUp(c, of))
		}
	}
	r.Due = r.dues()
	return r
}

func sumUp(c benchCase, rows []row) caseResult {
	s := func(figure func(row) float64) gauge.Spread { return gauge.Over(rows, figure) }
	return caseResult{
		benchCase: c,
		CPU:       s(func(r row) float64 { return r.CPU }), Verifier: s(func(r row) float64 { return r.Verifier }),
		Whole: s(func(r row) float64 { return r.Whole }), XServer: s(func(r row) float64 { return r.XServer }),
		PageFPS: s(func(r row) float64 { return r.PageFPS }),
		PeakMB:  s(func(r row) float64 { return float64(r.Peak) / (1 << 20) }), PeakAllMB: s(func(r row) float64 { return float64(r.PeakAll) / (1 << 20) }),
		StopMS: s(func(r row) float64 { return r.StopMS }), MB: s(func(r row) float64 { return float64(r.Bytes) / 1e6 }),
		Painted: s(func(r row) float64 { return float64(r.Painted) }), Present: s(func(r row) float64 { return float64(r.Present) }),
		Repeated: s(func(r row) float64 { return float64(r.Repeated) }), Torn: s(func(r row) float64 { return float64(r.Torn + r.Bad) }),
		Others: s(func(r row) float64 { return r.Others }),
		Share:  s(func(r row) float64 { return float64(r.Present) / float64(max(r.Painted, 1)) }), PerPicture: s(row.perPicture),
	}
}

// find is a case's figures; ok is false when it was not run.
func (r result) find(workload, recorder string) (c caseResult, ok bool) {
	for _, c := range r.Cases {
		if c.workload() == workload && c.Recorder == recorder {
			return c, true
		}
	}
	return c, false
}

func (r result) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "workload\trecorder\tCPU s/s\tmin..max\tof it verifier\tms/picture\twhole life\tX server\tpage fps\tin film\tof painted\trepeated\ttorn\tpeak MB\tMB\tstop ms\t")
	for _, c := range r.Cases {
		if c.Recorder == nobody {
			_, _ = fmt.Fprintf(t, "%s\t%s\t\t\t\t\t\t%.3f\t%.1f\t\t%.0f\t\t\t\t\t\t\n", c.workload(), c.Recorder, c.XServer.Median, c.PageFPS.Median, c.Painted.Median)
			continue
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%.4f\t%.4f..%.4f\t%.3f\t%.1f\t%.3f\t%.3f\t%.1f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.2f\t%.0f\t\n",
			c.workload(), c.Recorder, c.CPU.Median, c.CPU.Min, c.CPU.Max, c.Verifier.Median, c.PerPicture.Median, c.Whole.Median, c.XServer.Median, c.PageFPS.Median,
			c.Present.Median, c.Painted.Median, c.Repeated.Median, c.Torn.Median, c.PeakMB.Median, c.MB.Median, c.StopMS.Median)
	}
	_ = t.Flush()
	_, _ = fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "figure\tis\tmin..max\tdue\t\t")
	for _, d := range r.Due {
		_, _ = fmt.Fprintf(t, "%s\t%.3f\t%.3f..%.3f\t%s %.2f\t%s\t\n", d.Figure, d.Is.Median, d.Is.Min, d.Is.Max, d.sign(), d.Limit, map[bool]string{true: "reached", false: "MISSED"}[d.Reached])
	}
	_ = t.Flush()
	_, _ = fmt.Fprintf(w, "\n%d runs of %d s on %d cores; others used %.2f cores in the median (%.2f..%.2f)\n", r.Runs, r.Seconds, r.Cores, r.Others.Median, r.Others.Min, r.Others.Max)
	if !r.Publishable {
		_, _ = fmt.Fprintln(w, "NOT FOR PUBLICATION: "+r.Why)
	}
}
