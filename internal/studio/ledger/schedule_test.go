package ledger

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// checks has a property tried so many times, unless the command line says
// otherwise.
func checks(t *testing.T, n int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f == nil || f.Value.String() != f.DefValue {
		return
	}
	if err := flag.Set("rapid.checks", fmt.Sprint(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("rapid.checks", f.DefValue) })
}

// plan is what one caller does: calls one after the other.
type plan struct {
	Least, Most, Cost Micros
	End               int // how the call ends; see the constants
}

const (
	endUsed = iota
	endAborted
	endNever // the caller vanishes: its hold stays open
	endCount = 3
)

// The budget holds: over random schedules of concurrent calls, aborts and
// crashes, no more is reserved than there is, and no call that went out is
// missing in what is read afterwards.
func TestSchedules(t *testing.T) {
	checks(t, schedules)
	dir := t.TempDir()
	var files atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		money := Micros(rapid.Int64Range(0, 300).Draw(rt, "money"))
		calls := rapid.IntRange(0, 12).Draw(rt, "calls")
		plans := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) plan {
			p := plan{Least: Micros(rapid.Int64Range(0, 80).Draw(rt, "least")), End: rapid.IntRange(0, endCount-1).Draw(rt, "end")}
			p.Most = p.Least + Micros(rapid.Int64Range(0, 80).Draw(rt, "more"))
			p.Cost = Micros(rapid.Int64Range(0, 200).Draw(rt, "cost"))
			return p
		}), 1, 4), 1, 4).Draw(rt, "plans")
		torn := rapid.IntRange(0, 20).Draw(rt, "torn")

		path := filepath.Join(dir, fmt.Sprint(files.Add(1)))
		b, err := Create(path, "j", Limits{Money: money, Calls: calls}, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		var out, cost atomic.Int64 // calls that went out, and what they truly cost
		var snapshot []byte
		var before int64
		var wg sync.WaitGroup
		for _, list := range plans {
			wg.Go(func() { run(rt, b, list, &out, &cost) })
		}
		wg.Go(func() { // the crash: what is on disk at some moment
			before = out.Load()
			snapshot, _ = os.ReadFile(path)
		})
		wg.Wait()

		end := b.Statement()
		check(rt, end, money, calls)
		if int64(end.Calls) != out.Load() {
			rt.Fatalf("%d calls went out, %d are counted", out.Load(), end.Calls)
		}
		if Micros(cost.Load()) > end.Spent+end.Held+end.Overrun {
			rt.Fatalf("the calls cost %d, booked are %+v", cost.Load(), end)
		}
		if closed, err := b.Close(); err != nil || closed.Held != 0 || closed.Spent != end.Spent+end.Held {
			rt.Fatalf("closed with %+v, %v after %+v", closed, err, end)
		}
		recovered(rt, path, snapshot, before, torn, money, calls)
		_ = os.Remove(path)
	})
}

func run(rt *rapid.T, b *Budget, list []plan, out, cost *atomic.Int64) {
	for _, p := range list {
		h, err := b.Reserve(p.Least, p.Most)
		var gone *ExhaustedError
		if errors.As(err, &gone) || errors.Is(err, ErrCalls) {
			continue
		}
		if err != nil {
			rt.Errorf("reserve: %v", err)
			return
		}
		out.Add(1)
		if h.Granted() < p.Least || h.Granted() > p.Most {
			rt.Errorf("%d were granted, asked were %d to %d", h.Granted(), p.Least, p.Most)
		}
		switch p.End {
		case endUsed:
			cost.Add(int64(p.Cost)) // may be beyond what was granted
			err = h.Settle(p.Cost, Used)
		case endAborted:
			cost.Add(int64(min(p.Cost, h.Granted())))
			err = h.Settle(0, Full)
		case endNever:
			cost.Add(int64(min(p.Cost, h.Granted())))
		}
		if err != nil {
			rt.Errorf("settle: %v", err)
		}
	}
}

func check(rt *rapid.T, s Statement, money Micros, calls int) {
	if s.Spent+s.Held > money || s.Left() < 0 || s.Calls > calls {
		rt.Fatalf("beyond %d and %d calls: %+v", money, calls, s)
	}
}

// recovered opens what a crash left, with a piece of a record behind it.
func recovered(rt *rapid.T, path string, raw []byte, before int64, torn int, money Micros, calls int) {
	s, whole, err := replay(raw)
	if err != nil {
		rt.Fatal(err) // Create had returned: its record is there
	}
	next := record{seq: s.seq + 1, ms: 1, verb: verbReserve, args: []string{num(s.last + 1), "0"}}.append(nil)
	if whole == int64(len(raw)) {
		raw = append(raw, next[:min(torn, len(next)-1)]...)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		rt.Fatal(err)
	}
	b, err := Open(path, Options{})
	if err != nil {
		rt.Fatal(err)
	}
	end, err := b.Close()
	if err != nil {
		rt.Fatal(err)
	}
	check(rt, end, money, calls)
	if int64(end.Calls) < before || end.Held != 0 || end.Open != 0 {
		rt.Fatalf("%d calls had gone out before the crash: %+v", before, end)
	}
}
