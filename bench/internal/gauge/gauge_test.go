package gauge

import (
	"testing"
	"time"
)

func TestParseBusy(t *testing.T) {
	for _, c := range []struct {
		stat string
		want time.Duration
		bad  bool
	}{
		{"cpu  100 10 50 9000 7 2 3 4 60 5\ncpu0 1 2\n", 169 * 10 * time.Millisecond, false},
		{"cpu  1 2 3\n", 0, true},
		{"intr 1 2 3 4 5 6 7 8 9\n", 0, true},
		{"cpu a b c d e f g h i\n", 0, true},
		{"", 0, true},
	} {
		got, err := parseBusy(c.stat)
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("%q: %v, %v", c.stat, got, err)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{4, 1}, Spread{2.5, 1, 4}},
		{[]float64{5, 1, 3}, Spread{3, 1, 5}},
	} {
		if got := SpreadOf(c.in); got != c.want {
			t.Errorf("%v: %+v", c.in, got)
		}
	}
}
