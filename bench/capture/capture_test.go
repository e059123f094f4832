package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/proofreel/proofreel/bench/internal/gauge"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/web/rig/beacon"
)

// A benchmark that can't start its parts, find the product's processes or read
// its films gives wrong figures without an error: this is all of it, once.
func TestTheProductIsMeasured(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "proofreel")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", exe, "../../cmd/proofreel").CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	o := options{product: exe, seconds: 1, runs: 1, width: 1280, height: 720, films: t.TempDir()}
	b, err := open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	cases := []benchCase{{"anim", ours, fastFPS}, {"anim", grabFast, fastFPS}}
	rows, err := b.measureAll(ctx, cases, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.CPU <= 0 || r.Whole <= 0 || r.Peak < 1<<20 || r.Bytes == 0 || r.StopMS <= 0 || r.PageFPS <= 0 {
			t.Errorf("%s: %+v", r.name(), r)
		}
		if r.Painted < 2 || r.Present < 1 || r.Present > r.Painted {
			t.Errorf("%s: %d of %d pictures in the film", r.name(), r.Present, r.Painted)
		}
	}
	if p := rows[0]; p.Verifier <= 0 || p.Verifier >= p.CPU || p.PeakAll <= p.Peak {
		t.Errorf("the verifier was not found: %+v", p)
	}
	if films, _ := os.ReadDir(o.films); len(films) != 2 {
		t.Errorf("films kept: %v", films)
	}
	s := summarize(o, rows)
	if len(s.Cases) != 2 || s.Publishable {
		t.Errorf("summary %+v", s)
	}
}

// The figures stand on this clock: it must count what a process and its ended
// children have used, as the kernel tells their parent.
func TestCPUOfAProcess(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `work() { i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; }; (work); work; echo; read x`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = out.Read(make([]byte, 1)) // the work is done
	id, err := proc.Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	got := usage([]proc.Identity{id})[id.PID]
	_ = in.Close()
	_ = cmd.Wait()
	want := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if d := want - got.cpu; d < -30*time.Millisecond || d > 30*time.Millisecond || got.cpu < 20*time.Millisecond {
		t.Errorf("%v, the kernel says %v", got.cpu, want)
	}
	if got.peak < 100<<10 || got.role == verifierRole {
		t.Errorf("%+v", got)
	}
}

// What lies before and behind the window, and what can't be read, counts for no
// recorder; a number that comes again is a repeat.
func TestCount(t *testing.T) {
	frames := []beacon.Sample{
		{Number: 9}, {Number: 10}, {Number: 10}, {Number: 11, Torn: true}, {Fault: "no beacon"}, {Number: 13}, {Number: 14},
	}
	var r row
	r.count(beacon.Report{Frames: frames, Unreadable: 1}, 10, 13)
	want := row{Painted: 4, Present: 3, Repeated: 1, Torn: 1, Bad: 1}
	if r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}

func fakeRow(workload, recorder string, run int, cpu float64) row {
	return row{benchCase: benchCase{workload, recorder, fastFPS}, Run: run, CPU: cpu, Present: 10, Painted: 10, Whole: cpu}
}

// A ratio is of one run, against x11grab in the same run: medians of different
// moments would compare the machine with itself.
func TestRatiosAreOfOneRun(t *testing.T) {
	rows := []row{
		fakeRow("anim", ours, 0, 0.2), fakeRow("anim", grabVeryfast, 0, 1),
		fakeRow("anim", ours, 1, 0.9), fakeRow("anim", grabVeryfast, 1, 3),
		fakeRow("anim", ours, 2, 4), // its x11grab is missing
	}
	r := result{Rows: rows}
	d, ok := r.ratio("x", "anim", ours, grabVeryfast, func(r row) float64 { return r.CPU }, 0.25, false)
	if want := (gauge.Spread{Median: 0.25, Min: 0.2, Max: 0.9 / 3}); !ok || !d.Reached || d.Is != want {
		t.Errorf("%+v, %v", d, ok)
	}
	if _, ok := r.ratio("x", "full", ours, grabVeryfast, func(r row) float64 { return r.CPU }, 1, true); ok {
		t.Error("a case that was not run has a ratio")
	}
}

// A loud machine or few runs must not pass for figures to publish.
func TestPublishable(t *testing.T) {
	quiet := []row{fakeRow("idle", ours, 0, 1), fakeRow("idle", ours, 1, 1)}
	loud := []row{fakeRow("idle", ours, 0, 1), fakeRow("idle", ours, 1, 1)}
	loud[0].Others = quietMost * 2
	for _, c := range []struct {
		rows []row
		runs int
		want bool
	}{{quiet, enoughRuns, true}, {quiet, enoughRuns - 1, false}, {loud, enoughRuns, false}} {
		if got := summarize(options{runs: c.runs}, c.rows); got.Publishable != c.want || (got.Why == "") != c.want {
			t.Errorf("runs %d: %v, %q", c.runs, got.Publishable, got.Why)
		}
	}
}

func TestSelected(t *testing.T) {
	names := map[string]bool{}
	for _, c := range allCases() {
		if names[c.name()] {
			t.Errorf("%s is there twice", c.name())
		}
		names[c.name()] = true
		if c.Recorder == grabVeryfast && len(grabArgs(c.Recorder)) == 0 {
			t.Errorf("%s has no arguments", c.name())
		}
	}
	if n := len(selected(allCases(), "idle 15,full/nobody")); n != 3 { // two and one
		t.Errorf("%d cases", n)
	}
}
