package clip

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/proofreel/proofreel/internal/edit/still"
	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// nearby is how far from its entry in the damage log a picture may be: less
// than a stretch that would be cut.
const nearby = 500 * time.Millisecond

// errUnlogged ends the look at the film: one change is enough.
var errUnlogged = errors.New("the film shows a change that the damage log lacks")

// distrust gives the damage log up when the film shows a change that it lacks:
// a log that lost entries would have the clip cut what happened. Only pictures
// without an entry are decoded, with those before them: in a whole log these
// are the keyframes with which an engine keeps a still film alive.
func (m *maker) distrust(ctx context.Context) error {
	odd := m.src.unlogged()
	if len(odd) == 0 {
		return nil
	}
	var list []scene
	for _, n := range odd {
		for _, sample := range []int{int(m.src.shows[n-1]), n} {
			if len(list) == 0 || list[len(list)-1].sample != sample {
				list = append(list, scene{sample: sample})
			}
		}
	}
	t := m.src.track
	var before *still.Detector
	var at time.Duration
	next := 0
	err := m.decode(ctx, m.src.needed(list), image.Pt(t.Width, t.Height), func(f *pixel.Frame) error {
		sample := list[next].sample
		next++
		at = m.src.time(m.src.samples[sample].Tick)
		picture := still.Picture{Y: f.Y, U: f.U, V: f.V, YStride: f.Width, CStride: f.Width / 2}
		if _, isOdd := slices.BinarySearch(odd, sample); isOdd {
			if err := before.Add(at, picture); err != nil {
				return fmt.Errorf("compare two pictures: %w", err)
			}
			found := before.Finish(m.src.time(m.src.ticks)).Changes
			if len(found) > 0 && found[len(found)-1].To >= at {
				return errUnlogged
			}
		}
		before = still.NewDetector(t.Width, t.Height, t.FPS)
		return before.Add(at, picture) //nolint:wrapcheck // it says what is wrong
	})
	if errors.Is(err, errUnlogged) {
		m.src.damage = nil
		m.note(fmt.Sprintf("The log of changes lacks what the film shows at %.1f s, so the film itself was asked what is still.", at.Seconds()))
		return nil
	}
	return err
}

// unlogged are the samples with a picture of their own for which the damage
// log has no entry: none nearby, and none since the picture before.
func (s *source) unlogged() (odd []int) {
	times := make([]time.Duration, len(s.damage))
	for i, d := range s.damage {
		times[i] = d.At
	}
	slices.Sort(times)
	half := time.Second / time.Duration(2*s.track.FPS) // the log's times are rounded
	for n := 1; n < len(s.samples); n++ {
		if int(s.shows[n]) != n {
			continue
		}
		at := s.time(s.samples[n].Tick)
		from := min(at-nearby, s.time(s.samples[s.shows[n-1]].Tick)+half)
		i, _ := slices.BinarySearch(times, from)
		if i == len(times) || times[i] > at+nearby {
			odd = append(odd, n)
		}
	}
	return odd
}

// readEvents takes the steps and results, and notes what is lost of them.
func (s *source) readEvents(dir *recording.Dir, man recording.Manifest) {
	events, bad, err := dir.ReadEvents()
	if err != nil {
		s.notes = append(s.notes, "The steps could not be read: the clip has no captions.")
		return
	}
	s.events = events
	if bad > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%d %s of the events could not be read: a step or a result may be missing.", bad, plural(bad)))
	}
	steps := 0
	for _, e := range events {
		if e.Kind == recording.EventStep {
			steps++
		}
	}
	if told := stepsTold(man); told > steps {
		s.notes = append(s.notes, fmt.Sprintf("The recording had %d steps when it was stopped; %d of them can be read.", told, steps))
	}
}

func plural(lines int) string {
	if lines == 1 {
		return "line"
	}
	return "lines"
}

// stepsTold is how many steps the answer of stop has; 0 when it can't be read.
func stepsTold(man recording.Manifest) int {
	var answer struct {
		Steps []json.RawMessage `json:"steps"`
	}
	if json.Unmarshal(man.Result, &answer) != nil {
		return 0
	}
	return len(answer.Steps)
}
