package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// side is what was measured of one of the two: the median of all rounds.
type side struct {
	P50MS float64 `json:"p50Ms"`
	P99MS float64 `json:"p99Ms"`
	Rate  float64 `json:"requestsPerSecond"`
	CPUMS float64 `json:"cpuMsPerCall"` // of client, proxy and provider together
	// Failed counts calls without a whole answer. ReverseProxy has some under
	// load: a stream that begins while it still waits for the end of the
	// request's body is cut off.
	Failed int `json:"failed"`
}

// rounds is how often the two take turns. What is compared is what was
// measured side by side: the median of the rounds' differences and ratios, so
// that a machine that is busy for a while does not decide.
const rounds = 7

// measure measures a kind of call on both sides, in turns.
func (r *rig) measure(k kind, d time.Duration) (load, error) {
	l := load{Name: k.name}
	var plain, ours []side
	var added, ratio, cpu []float64
	for range rounds {
		p, err := r.round(r.toPlain, k, d)
		if err != nil {
			return l, fmt.Errorf("through the plain proxy: %w", err)
		}
		o, err := r.round(r.toOurs, k, d)
		if err != nil {
			return l, fmt.Errorf("through the gateway: %w", err)
		}
		plain, ours = append(plain, p), append(ours, o)
		added = append(added, o.P50MS-p.P50MS)
		ratio = append(ratio, o.Rate/p.Rate)
		cpu = append(cpu, p.CPUMS/o.CPUMS)
	}
	l.Plain, l.Ours = middle(plain), middle(ours)
	l.AddedMS, l.Rate, l.CPU = median(added), median(ratio), median(cpu)
	l.Met = l.AddedMS <= float64(mostAdded)/1e6 && l.Rate >= leastRate && l.Ours.Failed == 0
	return l, nil
}

// round measures one side once: paced for the latency, and then as fast as it
// goes for the rate.
func (r *rig) round(to *http.Client, k kind, d time.Duration) (side, error) {
	times, failed, err := r.load(to, k, d, k.paced)
	if err != nil {
		return side{}, err
	}
	s := side{P50MS: ms(times, 0.5), P99MS: ms(times, 0.99), Failed: failed}
	began, cpu := time.Now(), used()
	times, failed, err = r.load(to, k, d, 0)
	if err != nil {
		return side{}, err
	}
	s.Rate = float64(len(times)) / time.Since(began).Seconds()
	s.CPUMS = float64(used()-cpu) / 1e6 / float64(len(times))
	s.Failed += failed
	return s, nil
}

// used is the CPU time that this process has used.
func used() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// middle gives the median of each figure.
func middle(all []side) side {
	of := func(figure func(side) float64) float64 {
		var v []float64
		for _, s := range all {
			v = append(v, figure(s))
		}
		return median(v)
	}
	m := side{
		P50MS: of(func(s side) float64 { return s.P50MS }), P99MS: of(func(s side) float64 { return s.P99MS }),
		Rate: of(func(s side) float64 { return s.Rate }), CPUMS: of(func(s side) float64 { return s.CPUMS }),
	}
	for _, s := range all {
		m.Failed += s.Failed
	}
	return m
}

// load makes calls over all connections for a time: paced to so many a second,
// or as fast as they go. It gives how long each took, and how many failed.
func (r *rig) load(to *http.Client, k kind, d time.Duration, paced int) ([]time.Duration, int, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed int
	var last error
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for i := range r.conns {
		wg.Go(func() {
			every := time.Duration(0)
			if paced > 0 {
				every = time.Second * time.Duration(r.conns) / time.Duration(paced)
				time.Sleep(every * time.Duration(i) / time.Duration(r.conns)) // not all at once
			}
			var own []time.Duration
			var bad int
			var err error
			for next := time.Now(); time.Now().Before(end); {
				began := time.Now()
				if e := r.call(to, k.body); e == nil {
					own = append(own, time.Since(began))
				} else {
					bad, err = bad+1, e
				}
				if next = next.Add(every); paced > 0 {
					time.Sleep(time.Until(next))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
			failed += bad
			last = cmp.Or(last, err)
		})
	}
	wg.Wait()
	if len(all) <= failed {
		return nil, failed, fmt.Errorf("%d calls of %d failed: %w", failed, len(all)+failed, last)
	}
	slices.Sort(all)
	return all, failed, nil
}

func (r *rig) call(to *http.Client, body []byte) error {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://llm.internal/v1/messages", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", r.job.Token())
	resp, err := to.Do(req)
	if err != nil {
		return fmt.Errorf("call: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", resp.Status)
	}
	return nil
}

func ms(sorted []time.Duration, q float64) float64 {
	return float64(sorted[int(float64(len(sorted)-1)*q)]) / 1e6
}

// memory is the process's memory after so many calls.
type memory struct {
	Calls  int     `json:"calls"`
	HeapMB float64 `json:"heapMb"` // live, after a collection
	RSSMB  float64 `json:"rssMb"`
}

// memory makes calls and looks at the memory after each tenth of them.
func (r *rig) memory(calls int) ([]memory, error) {
	k := kinds()[0]
	var all []memory
	for tenth := 1; tenth <= 10; tenth++ {
		var left atomic.Int64
		left.Store(int64(calls / 10))
		var wg sync.WaitGroup
		var mu sync.Mutex
		var failed error
		for range r.conns {
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					if err := r.call(r.toOurs, k.body); err != nil {
						mu.Lock()
						failed = errors.Join(failed, err)
						mu.Unlock()
						return
					}
				}
			})
		}
		wg.Wait()
		if failed != nil {
			return nil, failed
		}
		runtime.GC()
		runtime.GC() // what finalizers and pools let go of in the first
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		all = append(all, memory{Calls: calls / 10 * tenth, HeapMB: float64(m.HeapAlloc) / 1e6, RSSMB: rss()})
	}
	return all, nil
}

// rss is the process's resident memory in megabytes; 0 where it can't be read.
func rss() float64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			return kb / 1000
		}
	}
	return 0
}

func table(w io.Writer, f figures) {
	fmt.Fprintf(w, "%d connections; plain is httputil.ReverseProxy. Latency is at a modest pace, requests a second as fast as they go.\n\n", f.Conns)
	fmt.Fprintln(w, "| call | p50 plain | p50 ours | added | p99 plain | p99 ours | req/s plain | req/s ours | ratio | CPU ratio | failed | met |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, l := range f.Loads {
		fmt.Fprintf(w, "| %s | %.2f ms | %.2f ms | %.2f ms | %.2f ms | %.2f ms | %.0f | %.0f | %.2f | %.2f | %d, %d | %v |\n",
			l.Name, l.Plain.P50MS, l.Ours.P50MS, l.AddedMS, l.Plain.P99MS, l.Ours.P99MS, l.Plain.Rate, l.Ours.Rate, l.Rate, l.CPU, l.Plain.Failed, l.Ours.Failed, l.Met)
	}
	fmt.Fprintln(w, "\n| calls | live heap | resident |\n|---|---|---|")
	for _, m := range f.Memory {
		fmt.Fprintf(w, "| %d | %.1f MB | %.0f MB |\n", m.Calls, m.HeapMB, m.RSSMB)
	}
	fmt.Fprintf(w, "\nMemory grew by the factor %.2f. Targets: added at most %v, at least %.1f of the plain proxy's rate, memory at most %.2f. Met: %v.\n",
		f.Grown, mostAdded, leastRate, mostGrown, f.Met)
}
