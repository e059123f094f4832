package main

import (
	"slices"

	"github.com/proofreel/proofreel/bench/internal/gauge"
)

// due is a figure that our recorder is held to: a ratio of it to x11grab with
// veryfast, from the same run.
type due struct {
	Figure  string       `json:"figure"`
	Is      gauge.Spread `json:"is"` // over the runs, each run's ratio by itself
	Limit   float64      `json:"limit"`
	AtLeast bool         `json:"atLeast"` // else at most
	Reached bool         `json:"reached"` // by the median
}

func (d due) sign() string {
	if d.AtLeast {
		return "≥"
	}
	return "≤"
}

// dues computes every figure whose cases were run.
func (r result) dues() []due {
	cpu := func(r row) float64 { return r.CPU }
	encode := func(r row) float64 { return r.CPU - r.Verifier }
	whole := func(r row) float64 { return r.Whole }
	present := func(r row) float64 { return float64(r.Present) }
	page := func(r row) float64 { return r.PageFPS }
	var all []due
	add := func(d due, ok bool) {
		if ok {
			all = append(all, d)
		}
	}
	add(r.ratio("CPU, idle, vfr, ÷ x11grab", "idle", ours, grabVeryfast, cpu, 0.03, false))
	add(r.ratio("CPU, idle, vfr, start and stop included", "idle", ours, grabVeryfast, whole, 0.03, false))
	add(r.ratio("CPU, idle, cfr, ÷ x11grab, start and stop included", "idle", oursCFR, grabVeryfast, whole, 0.10, false))
	for _, w := range []struct {
		name  string
		limit float64
	}{{"typing", 0.25}, {"scroll", 0.8}, {"anim", 0.6}, {"full", 0.8}} {
		add(r.ratio("CPU, "+w.name+", ÷ x11grab", w.name, ours, grabVeryfast, cpu, w.limit, false))
		add(r.ratio("CPU, "+w.name+", without verifier", w.name, ours, grabVeryfast, encode, w.limit, false))
		add(r.ratio("CPU, "+w.name+", engine at x11grab's settings", w.name, oursVeryfast, grabVeryfast, cpu, w.limit, false))
	}
	for _, w := range []string{"scroll", "full"} {
		add(r.ratio("CPU for each picture in the film, "+w+", ÷ x11grab", w, ours, grabVeryfast, row.perPicture, 0.8, false))
	}
	add(r.ratio("CPU, idle 15 fps, ÷ x11grab lossless", "idle 15 fps", ours, grabLossless, cpu, 0.1, false))
	for _, w := range []string{"idle", "typing", "scroll", "anim", "full"} {
		add(r.ratio("distinct frames, "+w+", ÷ x11grab", w, ours, grabVeryfast, present, 1, true))
	}
	for _, w := range []string{"idle", "typing"} {
		c, ok := r.find(w, ours)
		add(due{Figure: "distinct frames, " + w + ", of all painted", Is: c.Share, Limit: 0.98, AtLeast: true, Reached: c.Share.Median >= 0.98}, ok)
	}
	for _, w := range []string{"typing", "anim"} {
		add(r.ratio("page's fps, "+w+", recorded ÷ not", w, ours, nobody, page, 0.97, true))
		add(r.ratio("page's fps, "+w+", ÷ with x11grab (1 % is the measure's own noise)", w, ours, grabVeryfast, page, 0.99, true))
	}
	for _, w := range []string{"anim", "full"} {
		add(r.memory(w))
	}
	return all
}

// ratio is a figure of one recorder over that of another, run by run.
func (r result) ratio(name, workload, recorder, other string, figure func(row) float64, limit float64, atLeast bool) (due, bool) {
	values := r.pairs(workload, recorder, other, func(a, b row) float64 { return figure(a) / figure(b) })
	d := due{Figure: name, Is: gauge.SpreadOf(values), Limit: limit, AtLeast: atLeast}
	d.Reached = d.Is.Median <= limit
	if atLeast {
		d.Reached = d.Is.Median >= limit
	}
	return d, len(values) > 0
}

// memory is how much more of it we take than x11grab, in MB.
func (r result) memory(workload string) (due, bool) {
	const allowed = 32
	values := r.pairs(workload, ours, grabVeryfast, func(a, b row) float64 { return float64(a.Peak-b.Peak) / (1 << 20) })
	d := due{Figure: "peak MB of engine and encoder, " + workload + ", − x11grab's", Is: gauge.SpreadOf(values), Limit: allowed}
	d.Reached = d.Is.Median <= allowed
	return d, len(values) > 0
}

// pairs computes a figure from two recorders' rows of the same run.
func (r result) pairs(workload, recorder, other string, figure func(a, b row) float64) []float64 {
	var values []float64
	for _, a := range r.Rows {
		if a.workload() != workload || a.Recorder != recorder {
			continue
		}
		i := slices.IndexFunc(r.Rows, func(b row) bool {
			return b.workload() == workload && b.Recorder == other && b.Run == a.Run
		})
		if i >= 0 {
			values = append(values, figure(a, r.Rows[i]))
		}
	}
	return values
}
