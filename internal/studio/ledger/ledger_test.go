package ledger

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/host/statefile"
)

// A cost that is rounded down, or overflows into something small, is a gift.
func TestCost(t *testing.T) {
	cases := []struct {
		n    int64
		rate Micros
		want Micros
		bad  bool
	}{
		{0, 5 * Dollar, 0, false},
		{1, 5 * Dollar, 5, false},
		{1, 1, 1, false},
		{1_000_000, 1, 1, false},
		{1_000_001, 1, 2, false},
		{128_000, 20 * Dollar, 2_560_000, false},
		{3, 100_000, 1, false},
		{math.MaxInt64, 1_000_000, math.MaxInt64, false},
		{math.MaxInt64, 1_000_001, 0, true},
		{math.MaxInt64, math.MaxInt64, 0, true},
		{-1, 1, 0, true},
		{1, -1, 0, true},
	}
	for _, c := range cases {
		got, err := Cost(c.n, c.rate)
		if (err != nil) != c.bad || got != c.want {
			t.Errorf("Cost(%d, %d) = %d, %v; want %d", c.n, c.rate, got, err, c.want)
		}
	}
	if _, err := Sum(math.MaxInt64, 1); err == nil {
		t.Error("a sum overflowed")
	}
	if _, err := Sum(5, -1); err == nil {
		t.Error("a negative amount was added")
	}
	for m, want := range map[Micros]string{1_500_000: "$1.500000", -1: "-$0.000001", math.MinInt64: "-$9223372036854.775808"} {
		if got := m.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func create(t *testing.T, l Limits) (*Budget, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j.ledger")
	b, err := Create(path, "j", l, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = b.Close() })
	return b, path
}

func hold(t *testing.T, b *Budget, least, most Micros) *Hold {
	t.Helper()
	h, err := b.Reserve(least, most)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The life of a budget; each step must be in the journal as it is in memory.
func TestBudget(t *testing.T) {
	b, path := create(t, Limits{Money: 100, Calls: 4, Counts: 1})
	check := func(want Statement) {
		t.Helper()
		want.Job, want.Limits = "j", Limits{Money: 100, Calls: 4, Counts: 1}
		read, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, b.Statement()) + cmp.Diff(want, read); d != "" {
			t.Error(d)
		}
	}
	first := hold(t, b, 10, 60)
	check(Statement{Held: 60, Calls: 1, Open: 1})
	second := hold(t, b, 10, 60)
	if second.Granted() != 40 {
		t.Errorf("%d were granted of the 40 that are left", second.Granted())
	}
	var gone *ExhaustedError
	if _, err := b.Reserve(1, 1); !errors.As(err, &gone) || *gone != (ExhaustedError{0, 1}) {
		t.Errorf("beyond the budget: %v", err)
	}
	if err := first.Settle(25, Used); err != nil {
		t.Error(err)
	}
	check(Statement{Spent: 25, Held: 40, Calls: 2, Open: 1})
	if err := first.Settle(1, Used); !errors.Is(err, ErrSettled) {
		t.Errorf("settled twice: %v", err)
	}
	if err := second.Settle(50, Used); err != nil {
		t.Error(err)
	}
	check(Statement{Spent: 65, Overrun: 10, Calls: 2})
	if err := hold(t, b, 5, 5).Settle(-1, Used); err != nil {
		t.Error(err)
	}
	if err := hold(t, b, 5, 5).Settle(0, Refused); err != nil {
		t.Error(err)
	}
	check(Statement{Spent: 70, Overrun: 10, Calls: 4})
	if _, err := b.Reserve(0, 0); !errors.Is(err, ErrCalls) {
		t.Errorf("a fifth call: %v", err)
	}
	if err := errors.Join(b.Count(), b.Stop("alarm_usage"), b.Stop("again")); err != nil {
		t.Error(err)
	}
	check(Statement{Spent: 70, Overrun: 10, Calls: 4, Counts: 1, Stopped: "alarm_usage"})
	if _, err := b.Reserve(0, 0); !errors.Is(err, ErrStopped) {
		t.Errorf("after the stop: %v", err)
	}
	if err := b.Count(); !errors.Is(err, ErrStopped) {
		t.Errorf("after the stop: %v", err)
	}
	if _, err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.Reserve(0, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// What was reserved and not settled is spent: at the end, and after a crash.
func TestOpenReservationsAreSpent(t *testing.T) {
	b, path := create(t, Limits{Money: 100, Calls: 9})
	hold(t, b, 30, 30)
	if err := hold(t, b, 20, 20).Settle(5, Used); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path) // as a process that is killed here leaves it
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Close()
	if err != nil || s.Spent != 35 || s.Held != 0 {
		t.Errorf("at the end: %+v, %v", s, err)
	}
	crashed := filepath.Join(t.TempDir(), "c.ledger")
	if err := os.WriteFile(crashed, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Open(crashed, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := again.Close(); err != nil || s.Spent != 35 || s.Calls != 2 {
		t.Errorf("after the crash: %+v, %v", s, err)
	}
}

// Two processes with one budget would both spend it.
func TestOneOwner(t *testing.T) {
	b, path := create(t, Limits{Money: 1, Calls: 1})
	if _, err := Open(path, Options{}); !errors.Is(err, statefile.ErrLocked) {
		t.Errorf("a second owner: %v", err)
	}
	if _, err := Create(path, "j", Limits{}, Options{}); err == nil {
		t.Error("the journal was made anew")
	}
	if _, err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenOrCreate(path, "other", Limits{}, Options{}); err == nil {
		t.Error("another job's journal was taken")
	}
	again, err := OpenOrCreate(path, "j", Limits{Money: 1_000_000}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := again.Close(); s.Limits.Money != 1 {
		t.Errorf("the limits grew to %+v", s.Limits)
	}
}

// A torn end is what a crash leaves; anything else that is not as written is
// never taken for less money spent.
func TestDamage(t *testing.T) {
	b, path := create(t, Limits{Money: 100, Calls: 9})
	for range 3 {
		if err := hold(t, b, 10, 10).Settle(4, Used); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	without := func(i int) []byte {
		return bytes.Join([][]byte{bytes.Join(lines[:i], nil), bytes.Join(lines[i+1:], nil)}, nil)
	}
	forged := record{seq: 8, ms: 1, verb: verbSettle, args: []string{"3", "0", "0", "used"}}.append(nil)
	cases := []struct {
		name  string
		raw   []byte
		spent Micros // -1: it must be refused
	}{
		{"whole", whole, 12},
		{"last line torn", whole[:len(whole)-5], 18},
		{"last line without its end", whole[:len(whole)-1], 18},
		{"zeros behind", append(bytes.Clone(whole), make([]byte, 100)...), 12},
		{"a line missing", without(2), -1},
		{"the first line missing", without(0), -1},
		{"a line doubled", append(bytes.Clone(whole), lines[6]...), -1},
		{"a byte changed", bytes.Replace(whole, []byte("settle 1 4"), []byte("settle 1 0"), 1), -1},
		{"torn in the middle", bytes.Replace(whole, []byte("reserve 2"), []byte("reser\n2"), 1), -1},
		{"settled twice", append(bytes.Clone(whole), forged...), -1},
		{"empty", nil, -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "d.ledger")
			if err := os.WriteFile(path, c.raw, 0o600); err != nil {
				t.Fatal(err)
			}
			b, err := Open(path, Options{})
			if c.spent < 0 {
				var bad *CorruptError
				if !errors.As(err, &bad) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := b.Close()
			if err != nil || s.Spent != c.spent {
				t.Errorf("spent %d, %v; want %d", s.Spent, err, c.spent)
			}
			if _, err := Read(path); err != nil {
				t.Errorf("what was mended can't be read: %v", err)
			}
		})
	}
}

// A budget whose journal can't be written lets nothing more through, and
// forgets nothing.
func TestUnwritable(t *testing.T) {
	b, _ := create(t, Limits{Money: 100, Calls: 9})
	h := hold(t, b, 10, 10)
	_ = b.f.Close()
	if err := h.Settle(1, Used); err == nil {
		t.Error("settled without a record")
	}
	if _, err := b.Reserve(1, 1); err == nil {
		t.Error("reserved without a record")
	}
	if s := b.Statement(); s.Held != 10 || s.Calls != 1 {
		t.Errorf("%+v", s)
	}
}

// A settlement that can't be booked must not free its hold, nor spend it
// by half.
func TestOverrunBeyondMoney(t *testing.T) {
	b, _ := create(t, Limits{Money: 100, Calls: 9})
	if err := hold(t, b, 10, 10).Settle(math.MaxInt64, Used); err != nil {
		t.Fatal(err)
	}
	h := hold(t, b, 20, 20)
	before := b.Statement()
	if err := h.Settle(math.MaxInt64, Used); !errors.Is(err, ErrTooMuch) {
		t.Errorf("settled: %v", err)
	}
	if d := cmp.Diff(before, b.Statement()); d != "" {
		t.Error(d)
	}
}

// Two calls can't both pass on the last cent.
func TestRace(t *testing.T) {
	b, _ := create(t, Limits{Money: 35, Calls: 1000})
	var wg sync.WaitGroup
	var mu sync.Mutex
	passed := 0
	for range 50 {
		wg.Go(func() {
			if _, err := b.Reserve(10, 10); err == nil {
				mu.Lock()
				passed++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if passed != 3 {
		t.Errorf("%d calls passed, the budget is for 3", passed)
	}
}

// Names and reasons stand in lines of words.
func TestWords(t *testing.T) {
	for _, bad := range []string{"", "a b", "a\nb", strings.Repeat("x", 129), "../x"} {
		if _, err := Create(filepath.Join(t.TempDir(), "x"), bad, Limits{}, Options{}); err == nil {
			t.Errorf("a job named %q", bad)
		}
	}
	b, _ := create(t, Limits{})
	if err := b.Stop("two words"); err == nil {
		t.Error("a reason of two words")
	}
}

// Journals are read after crashes: no bytes may panic, or pass for a journal
// in which more was spent than there was.
func FuzzReplay(f *testing.F) {
	s := []record{
		{1, 1, verbOpen, []string{version, "j", "100", "9", "9"}},
		{2, 1, verbReserve, []string{"1", "50"}},
		{3, 1, verbSettle, []string{"1", "20", "0", "used"}},
		{4, 1, verbCount, nil},
	}
	var raw []byte
	for _, r := range s {
		raw = r.append(raw)
	}
	f.Add(raw)
	f.Add(raw[:len(raw)-3])
	f.Fuzz(func(t *testing.T, in []byte) {
		s, whole, err := replay(in)
		if err != nil {
			return
		}
		if whole < 0 || whole > int64(len(in)) {
			t.Fatalf("%d whole bytes of %d", whole, len(in))
		}
		if s.Spent+s.Held > s.Limits.Money || s.Spent < 0 || s.Held < 0 {
			t.Fatalf("%+v", s.Statement)
		}
	})
}

func BenchmarkReserveAndSettle(b *testing.B) {
	budget, err := Create(filepath.Join(b.TempDir(), "j"), "j", Limits{Money: math.MaxInt64, Calls: math.MaxInt}, Options{Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		h, err := budget.Reserve(10, 10)
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Settle(3, Used); err != nil {
			b.Fatal(err)
		}
	}
	_, _ = budget.Close()
}
