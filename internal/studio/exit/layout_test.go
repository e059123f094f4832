package exit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Whatever the order of display, the composition offsets and the edit list
// that we write say it, as our reader understands them.
func TestOrderSurvivesRewriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Groups of pictures, each shown in an order of its own.
		var show []int32
		for len(show) < 30 {
			group := rapid.IntRange(1, 8).Draw(t, "group")
			places := make([]int32, group)
			for i := range places {
				places[i] = int32(len(show) + i)
			}
			show = append(show, rapid.Permutation(places).Draw(t, "order")...)
		}
		f := &film{show: show}
		shift, ctts := f.ctts()
		x := &index{want: Want{FPS: 30, Seconds: 2}, count: len(show), delta: unitsPerPicture}
		if ctts != nil {
			if err := x.offsets(ctts[8:]); err != nil {
				t.Fatal(err)
			}
			x.hasEdit, x.editStart = true, uint64(shift)*unitsPerPicture
		}
		got, err := x.order()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(show, got); d != "" {
			t.Error(d)
		}
	})
}
