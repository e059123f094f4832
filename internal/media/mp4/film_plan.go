package mp4

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Run is a number of samples in a row that all last equally long.
type Run struct {
	// Count is the number of samples, Ticks how long each lasts; both over 0.
	Count int
	Ticks int64
}

// FilmPlan is what must be known of a film before its first byte is written:
// all but the samples' sizes.
type FilmPlan struct {
	// Durations covers all samples in order: one Run for a constant frame rate.
	Durations []Run
	// Keys are the indices of the samples to which players can seek, counted
	// from 0, rising; the first must be 0.
	Keys []int
	// Title is shown by players; empty: none.
	Title string
	// Created is the creation time; the zero time is written as unknown.
	Created time.Time
}

// ConstantRate are the durations of n samples of one tick each.
func ConstantRate(n int) []Run { return []Run{{Count: n, Ticks: 1}} }

// VariableRate are the durations of samples shown at the given ticks, each
// until the next, the last until endTick. Ticks must rise and endTick must be
// over the last; NewFilmWriter refuses others.
func VariableRate(ticks []int64, endTick int64) []Run {
	var runs []Run
	for i, tick := range ticks {
		next := endTick
		if i+1 < len(ticks) {
			next = ticks[i+1]
		}
		if n := len(runs); n > 0 && runs[n-1].Ticks == next-tick {
			runs[n-1].Count++
			continue
		}
		runs = append(runs, Run{Count: 1, Ticks: next - tick})
	}
	return runs
}

func (p *FilmPlan) validate() error {
	// With each factor bounded the totals cannot overflow: 2^25 samples of
	// less than 2^32 units.
	samples := 0
	for i, run := range p.Durations {
		if run.Count <= 0 || run.Ticks <= 0 || run.Ticks > math.MaxUint32/unitsPerTick {
			return fmt.Errorf("mp4: run %d of %d samples of %d ticks each", i, run.Count, run.Ticks)
		}
		if run.Count > maxSamples-samples {
			return fmt.Errorf("mp4: film of more than %d samples", maxSamples)
		}
		samples += run.Count
	}
	if samples == 0 {
		return errors.New("mp4: film of no samples")
	}
	if len(p.Keys) == 0 || p.Keys[0] != 0 {
		return errors.New("mp4: the first sample of a film must be a key")
	}
	for i, key := range p.Keys {
		if key >= samples || i > 0 && key <= p.Keys[i-1] {
			return fmt.Errorf("mp4: key %d is sample %d of %d", i, key, samples)
		}
	}
	return nil
}

// totals counts samples and ticks.
func (p *FilmPlan) totals() (samples int, ticks int64) {
	for _, run := range p.Durations {
		samples += run.Count
		ticks += int64(run.Count) * run.Ticks
	}
	return samples, ticks
}

// chunks returns the first sample of each chunk. A chunk holds the samples
// that begin in one second of the film, so that a player reads about a second
// at a time.
func (p *FilmPlan) chunks(fps int) []uint32 {
	var first []uint32
	sample, tick, second := uint32(0), int64(0), int64(-1)
	for _, run := range p.Durations {
		for range run.Count {
			if s := tick / int64(fps); s != second {
				second = s
				first = append(first, sample)
			}
			sample++
			tick += run.Ticks
		}
	}
	return first
}
