package beacon

import (
	"fmt"
	"slices"
	"strings"
)

// Sample is one frame of a film.
type Sample struct {
	// Index counts the film's frames from 0, in the order of presentation.
	Index int `json:"index"`
	// PTS is the presentation time in seconds.
	PTS float64 `json:"pts"`
	// Number is the painted frame that it shows; meaningless when Fault is set.
	Number uint32 `json:"number"`
	// Torn says that it shows parts of two painted frames.
	Torn bool `json:"torn,omitempty"`
	// Fault says why the beacon could not be read; empty when it was.
	Fault string `json:"fault,omitempty"`
}

// Repeat is a painted frame that is in the film more than once.
type Repeat struct {
	Number uint32 `json:"number"`
	Times  int    `json:"times"`
}

// Range is a run of painted frames, both ends included.
type Range struct {
	From uint32 `json:"from"`
	To   uint32 `json:"to"`
}

// Report says which painted frames a film holds. Torn frames count as showing their
// number; unreadable frames count for nothing but Unreadable.
type Report struct {
	Film string `json:"film"`
	// Frames is every frame of the film.
	Frames []Sample `json:"frames"`
	// First and Last are the lowest and the highest painted number in the film.
	First uint32 `json:"first"`
	Last  uint32 `json:"last"`
	// Present is each painted number in the film once, ascending.
	Present []uint32 `json:"present"`
	// Repeated is the numbers that are there more than once, ascending.
	Repeated []Repeat `json:"repeated"`
	// Missing is the numbers between First and Last that are not there, ascending;
	// MissingCount is how many numbers these ranges hold.
	Missing      []Range `json:"missing"`
	MissingCount int     `json:"missingCount"`
	// Torn, Unreadable and Backwards count frames: of two painted frames, without a
	// readable beacon, and with a lower number than the readable frame before.
	Torn       int `json:"torn"`
	Unreadable int `json:"unreadable"`
	Backwards  int `json:"backwards"`
}

func summarize(film string, samples []Sample) Report {
	r := Report{Film: film, Frames: samples, Present: []uint32{}, Repeated: []Repeat{}, Missing: []Range{}}
	times := make(map[uint32]int)
	var previous uint32
	for _, s := range samples {
		if s.Fault != "" {
			r.Unreadable++
			continue
		}
		if s.Torn {
			r.Torn++
		}
		if s.Number < previous {
			r.Backwards++
		}
		previous = s.Number
		times[s.Number]++
	}
	for number := range times {
		r.Present = append(r.Present, number)
	}
	slices.Sort(r.Present)
	for i, number := range r.Present {
		if times[number] > 1 {
			r.Repeated = append(r.Repeated, Repeat{number, times[number]})
		}
		if i == 0 || r.Present[i-1]+1 == number {
			continue
		}
		gap := Range{r.Present[i-1] + 1, number - 1}
		r.Missing = append(r.Missing, gap)
		r.MissingCount += int(gap.To-gap.From) + 1
	}
	if n := len(r.Present); n > 0 {
		r.First, r.Last = r.Present[0], r.Present[n-1]
	}
	return r
}

// maxListed keeps the words of a bad film readable; the JSON has everything.
const maxListed = 12

// String tells the report in a few lines of words.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d frames", r.Film, len(r.Frames))
	if n := len(r.Frames); n > 0 {
		fmt.Fprintf(&b, ", %.3f s to %.3f s", r.Frames[0].PTS, r.Frames[n-1].PTS)
	}
	if len(r.Present) == 0 {
		fmt.Fprintf(&b, "\nno painted frame can be read (%d unreadable)", r.Unreadable)
		return b.String()
	}
	fmt.Fprintf(&b, "\npainted %d to %d: %d present, %d missing, %d more than once", r.First, r.Last, len(r.Present), r.MissingCount, len(r.Repeated))
	fmt.Fprintf(&b, "\ntorn %d, unreadable %d, backwards %d", r.Torn, r.Unreadable, r.Backwards)
	for i, m := range r.Missing {
		if i == maxListed {
			fmt.Fprintf(&b, "\n  and %d more gaps", len(r.Missing)-i)
			break
		}
		fmt.Fprintf(&b, "\n  missing %d to %d", m.From, m.To)
	}
	return b.String()
}
