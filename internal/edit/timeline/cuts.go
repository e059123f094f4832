package timeline

import (
	"cmp"
	"slices"
)

// cut is a stretch of ticks that is left out, to not included.
type cut struct {
	from, to int64
	began    int64 // the tick of the change, event or cut that its stretch began with
	gap      bool
}

// stretch is a still stretch in ticks.
type stretch struct {
	from, to int64
	gap      bool
}

// findCuts says what is left out, in the order of time.
func findCuts(in Input, g grid, length int64, cues []cue) []cut {
	gaps := onTicks(in.Gaps, g, length, true)
	list := append(without(onTicks(in.Still, g, length, false), gaps), gaps...)
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })

	moments := make([]int64, 0, 2*len(cues))
	for _, c := range cues {
		moments = append(moments, c.tick, c.real)
	}
	slices.Sort(moments)

	keep, over := g.ticks(stillKept), g.ticks(stillOver)
	var cuts []cut
	for _, s := range list {
		i, _ := slices.BinarySearch(moments, s.from+1)
		for from := s.from; from < s.to; {
			to := s.to
			if i < len(moments) {
				to = min(to, moments[i])
			}
			if to-from > over {
				cuts = append(cuts, cut{from + keep, to, from, s.gap})
			}
			from = to
			for i < len(moments) && moments[i] <= from {
				i++
			}
		}
	}
	return cuts
}

// onTicks puts spans on the grid, in order, inside the film, without overlap.
// A change at a span's end stays outside of it, whatever the rounding.
func onTicks(spans []Span, g grid, length int64, gap bool) []stretch {
	list := make([]stretch, 0, len(spans))
	for _, s := range spans {
		list = append(list, stretch{g.ceil(s.From), min(g.floor(s.To), length), gap})
	}
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	out := list[:0]
	at := int64(0)
	for _, s := range list {
		if s.from = max(s.from, at); s.from < s.to {
			out = append(out, s)
			at = s.to
		}
	}
	return out
}

// without takes the gaps out of still stretches. Both are in order.
func without(list, gaps []stretch) []stretch {
	var out []stretch
	for _, s := range list {
		for _, g := range gaps {
			if g.to <= s.from || g.from >= s.to {
				continue
			}
			if g.from > s.from {
				out = append(out, stretch{from: s.from, to: g.from})
			}
			s.from = g.to
		}
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}
