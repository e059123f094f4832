package clip

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/edit/overlay"
	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// What was cut out must not be drawn, and the pointer must be where it was
// left in the cut; what is shown comes at its time.
func TestOnClip(t *testing.T) {
	s := time.Second
	p, err := timeline.Build(timeline.Input{
		Length: 30 * s, FPS: 30, Still: []timeline.Span{{From: 5 * s, To: 25 * s}},
	}, timeline.Options{Stills: timeline.StillsCut, Speed: 1, Position: timeline.Top, FPS: 30})
	if err != nil {
		t.Fatal(err)
	}
	place := func(kind recording.InputKind, at time.Duration, x int) recording.Input {
		return recording.Input{At: at, Kind: kind, X: x, Y: 7, Button: 1}
	}
	key := func(at time.Duration, class, name string) recording.Input {
		return recording.Input{At: at, Kind: recording.InputKey, Class: class, Name: name}
	}
	got := onClip(p, []recording.Input{
		key(s/2, "enter", ""), // before any click: it has no place
		place(recording.InputMove, s, 1),
		place(recording.InputDown, 2*s, 2),
		key(3*s, "text", ""),
		place(recording.InputWheel, 4*s, 3),
		place(recording.InputDown, 10*s, 4),
		key(11*s, "combo", "S"),
		place(recording.InputMove, 12*s, 5),
		key(26*s, "combo", ""),
		place(recording.InputDown, 27*s, 6),
		place(recording.InputDown, 31*s, 9),
	})
	at := func(x float64) overlay.Point { return overlay.Point{X: x, Y: 7} }
	cut := 5*s + s/2 // where the cut is in the clip
	want := actions{
		moves: []overlay.Move{{At: s, Point: at(1)}, {At: 2 * s, Point: at(2)}, {At: 4 * s, Point: at(3)}, {At: cut, Point: at(4)}, {At: cut, Point: at(5)}, {At: cut + 2*s, Point: at(6)}},
		clicks: []overlay.Click{
			{At: 2 * s, Point: at(2), Button: overlay.Left}, {At: cut + 2*s, Point: at(6), Button: overlay.Left},
		},
		keys: []overlay.Key{{At: s / 2, Text: "Enter"}, {At: 3 * s, Text: "typing"}},
		scenes: []overlay.Click{
			{At: 2 * s, Point: at(2), Button: overlay.Left},
			{At: 3 * s, Point: at(2)},
			{At: 4 * s, Point: at(3)},
			{At: cut + s, Point: at(3)},
			{At: cut + 2*s, Point: at(6), Button: overlay.Left},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(actions{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A click that changed nothing is kept, and no more than its time.
func TestWithout(t *testing.T) {
	span := func(from, to int) timeline.Span {
		return timeline.Span{From: time.Duration(from), To: time.Duration(to)}
	}
	for _, tt := range []struct {
		what      string
		out       timeline.Span
		all, want []timeline.Span
	}{
		{"inside", span(40, 50), []timeline.Span{span(0, 100)}, []timeline.Span{span(0, 40), span(50, 100)}},
		{"at the begin", span(-5, 50), []timeline.Span{span(0, 100)}, []timeline.Span{span(50, 100)}},
		{"at the end", span(90, 110), []timeline.Span{span(0, 100)}, []timeline.Span{span(0, 90)}},
		{"all", span(0, 100), []timeline.Span{span(0, 100)}, nil},
		{"beside", span(100, 110), []timeline.Span{span(0, 100), span(110, 120)}, []timeline.Span{span(0, 100), span(110, 120)}},
		{"over two", span(50, 115), []timeline.Span{span(0, 100), span(110, 120)}, []timeline.Span{span(0, 50), span(115, 120)}},
	} {
		if diff := cmp.Diff(tt.want, without(tt.all, tt.out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.what, diff)
		}
	}
}
