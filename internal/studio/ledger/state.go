package ledger

import (
	"errors"
	"fmt"
	"strconv"
)

// Limits are what a job may spend.
type Limits struct {
	Money  Micros // whole budget
	Calls  int    // calls that cost: reservations
	Counts int    // calls that cost nothing but are counted
}

// Statement is what a journal tells of a job.
type Statement struct {
	Job     string
	Limits  Limits
	Spent   Micros // settled
	Held    Micros // reserved and not settled yet; spent, should nobody settle it
	Overrun Micros // what calls cost beyond their reservations: a fault of the estimate, told apart
	Calls   int
	Counts  int
	Open    int    // reservations that are not settled yet
	Stopped string // why no more calls are let through; empty: they are
}

// Left is what can still be reserved.
func (s Statement) Left() Micros { return s.Limits.Money - s.Spent - s.Held }

// state is a statement with its open holds; only records change it, so what
// is in memory is what a replay gives.
type state struct {
	Statement
	seq   int64
	holds map[int64]Micros
	last  int64 // the last hold's number
}

func newState() *state { return &state{holds: map[int64]Micros{}} }

var errSense = errors.New("a record that makes no sense here")

// apply changes the state as a record says, or leaves it and says why not.
func (s *state) apply(r record) error {
	if r.seq != s.seq+1 || (r.seq == 1) != (r.verb == verbOpen) {
		return fmt.Errorf("%w: number %d after %d", errSense, r.seq, s.seq)
	}
	n, err := numbers(r)
	if err != nil {
		return err
	}
	switch r.verb {
	case verbOpen:
		s.Job = r.args[1]
		s.Limits = Limits{Money: Micros(n[0]), Calls: int(n[1]), Counts: int(n[2])}
	case verbReserve:
		if n[0] != s.last+1 || Micros(n[1]) > s.Left() {
			return errSense
		}
		s.last = n[0]
		s.holds[n[0]] = Micros(n[1])
		s.Held += Micros(n[1])
		s.Calls++
		s.Open++
	case verbSettle:
		held, ok := s.holds[n[0]]
		if !ok || Micros(n[1]) > held {
			return errSense
		}
		over, err := Sum(s.Overrun, Micros(n[2]))
		if err != nil {
			return err
		}
		delete(s.holds, n[0])
		s.Held -= held
		s.Open--
		s.Spent += Micros(n[1])
		s.Overrun = over
	case verbCount:
		s.Counts++
	case verbStop:
		s.Stopped = r.args[0]
	}
	s.seq = r.seq
	return nil
}

// numbers checks a record's arguments and gives those that are numbers.
func numbers(r record) ([]int64, error) {
	// How many arguments there are, and which are numbers.
	shape := map[string]struct{ args, from, to int }{
		verbOpen:    {5, 2, 5},
		verbReserve: {2, 0, 2},
		verbSettle:  {4, 0, 3},
		verbCount:   {},
		verbStop:    {1, 0, 0},
		verbResume:  {},
	}
	want, ok := shape[r.verb]
	if !ok || len(r.args) != want.args {
		return nil, fmt.Errorf("%w: %s with %d arguments", errSense, r.verb, len(r.args))
	}
	if r.verb == verbOpen && r.args[0] != version {
		return nil, fmt.Errorf("%w: version %s", errSense, r.args[0])
	}
	var n []int64
	for _, a := range r.args[want.from:want.to] {
		v, err := strconv.ParseInt(a, 10, 64)
		if err != nil || v < 0 {
			return nil, fmt.Errorf("%w: %s of %s", errSense, r.verb, a)
		}
		n = append(n, v)
	}
	return n, nil
}
