// Command gateway measures what the gateway adds to a call: latency and
// throughput beside Go's own httputil.ReverseProxy, with the same provider,
// client and sockets, in one run; and its memory over many calls. It prints a
// table and writes the figures as JSON.
//
// Here live the load, the plain proxy and the table; the gateway is the
// product's own.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/proofreel/proofreel/bench/internal/gauge"
)

// The targets.
const (
	mostAdded = time.Millisecond // to the median of a call
	leastRate = 0.5              // of the plain proxy's requests a second
	mostGrown = 1.25             // memory after all calls, to that after the first tenth
)

type options struct {
	jsonFile string
	seconds  float64
	calls    int
	conns    int
}

func main() {
	var o options
	flag.StringVar(&o.jsonFile, "json", "bench/out/gateway.json", "where the figures go as JSON; empty for nowhere")
	flag.Float64Var(&o.seconds, "seconds", 1.5, "for which each load runs, 0.5 to 60; there are 84 of them")
	flag.IntVar(&o.calls, "calls", 100_000, "calls over which memory is watched, 1000 or more")
	flag.IntVar(&o.conns, "conns", 64, "connections at once, 1 to 1000")
	flag.Parse()
	if flag.NArg() > 0 || o.seconds < 0.5 || o.seconds > 60 || o.calls < 1000 || o.conns < 1 || o.conns > 1000 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// figures are what is written as JSON.
type figures struct {
	Conns  int      `json:"connections"`
	Loads  []load   `json:"loads"`
	Memory []memory `json:"memory"`
	Grown  float64  `json:"grown"` // heap at the end to heap after a tenth
	Met    bool     `json:"met"`
}

// load is one kind of call, through both.
type load struct {
	Name    string  `json:"name"`
	Plain   side    `json:"plain"`
	Ours    side    `json:"ours"`
	AddedMS float64 `json:"addedP50Ms"`
	Rate    float64 `json:"rateRatio"`
	CPU     float64 `json:"cpuRatio"` // the plain way's CPU time a call to ours
	Met     bool    `json:"met"`
}

func run(o options) error {
	r, err := newRig(o.conns)
	if err != nil {
		return err
	}
	defer r.close()
	f := figures{Conns: o.conns, Met: true}
	for _, k := range kinds() {
		l, err := r.measure(k, time.Duration(o.seconds*float64(time.Second)))
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		f.Loads = append(f.Loads, l)
		f.Met = f.Met && l.Met
	}
	if f.Memory, err = r.memory(o.calls); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	f.Grown = f.Memory[len(f.Memory)-1].HeapMB / f.Memory[0].HeapMB
	f.Met = f.Met && f.Grown <= mostGrown
	table(os.Stdout, f)
	if err := gauge.Save(o.jsonFile, f); err != nil {
		return err
	}
	if !f.Met {
		return errors.New("a target is missed")
	}
	return nil
}
