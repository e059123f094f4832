package clip_test

import (
	"bytes"
	"fmt"
	"image"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/edit/clip/cliptest"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// withInput writes the input log of a recording.
func withInput(t *testing.T, dir *recording.Dir, inputs ...recording.Input) {
	t.Helper()
	log := dir.NewInputLog()
	err := log.Source(recording.InputSource{Text: "a test"})
	for _, in := range inputs {
		if err == nil {
			err = log.Add(in)
		}
	}
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// grays decodes a finished clip, without any part of the product.
func grays(t *testing.T, path string, w, h int) [][]byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-fps_mode", "cfr", "-r", "15", "-pix_fmt", "gray", "-f", "rawvideo", "-")
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("decode %s: %v", path, err)
	}
	var all [][]byte
	for ; len(raw) >= w*h; raw = raw[w*h:] {
		all = append(all, raw[:w*h])
	}
	return all
}

// within counts what has a luma from low to high in a part of a frame, and
// gives its box.
func within(f []byte, part image.Rectangle, low, high byte) (n int, box image.Rectangle) {
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			if v := f[y*screenW+x]; v >= low && v <= high {
				n++
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return n, box
}

// onClip is the frame of a clip that shows a time of its recording; -1: it was
// cut.
func onClip(res clip.Result, second float64) int {
	for _, s := range res.Map {
		if second >= s.Recording[0] && second < s.Recording[1] {
			return int((s.Clip[0] + (second - s.Recording[0])) * 15)
		}
	}
	return -1
}

// middle is the part of the screen that has neither captions nor the boxes of
// plain.
func middle() image.Rectangle { return image.Rect(60, 90, screenW, 280) }

// The clip must show the pointer where it was, a ring where it clicked, though
// nothing changed there, and the keys that have names; the recording, and a
// clip without the options, must show none of it.
func TestInputIsDrawn(t *testing.T) {
	d := deps(t)
	dir := build(t, d, plain())
	ms := time.Millisecond
	withInput(t, dir,
		recording.Input{Kind: recording.InputMove, X: 500, Y: 120},
		recording.Input{At: 2000 * ms, Kind: recording.InputDown, X: 320, Y: 180, Button: 1},
		recording.Input{At: 10000 * ms, Kind: recording.InputDown, X: 400, Y: 250, Button: 3}, // in the stillness
		recording.Input{At: 19000 * ms, Kind: recording.InputKey, Class: "combo", Name: "S", Modifiers: []string{"Ctrl"}},
		recording.Input{At: 20500 * ms, Kind: recording.InputKey, Class: "combo"},
	)
	film, err := os.ReadFile(dir.FilmPath())
	if err != nil {
		t.Fatal(err)
	}
	cut := func(o clip.Options) (clip.Result, [][]byte) {
		o.Dir, o.Out, o.Deps = dir, t.TempDir(), d
		res, err := clip.Make(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return res, grays(t, res.Path, res.Width, res.Height)
	}
	bare, frames := cut(clip.Options{})
	for i, f := range frames {
		if n, box := within(f, middle(), 0, 200); n > 0 {
			t.Fatalf("frame %d of a plain clip has something at %v", i, box)
		}
	}
	res, frames := cut(clip.Options{Pointer: true, Keys: true})
	if res.Cut >= bare.Cut || res.Cut < bare.Cut-2.5 {
		t.Errorf("%.1f s were cut, %.1f s without the click", res.Cut, bare.Cut)
	}
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, "1 keys have no name") {
		t.Errorf("notes %q", notes)
	}
	for _, c := range []struct {
		second float64
		at     image.Point
	}{{0.2, image.Pt(500, 120)}, {2.1, image.Pt(320, 180)}, {10.1, image.Pt(400, 250)}, {21, image.Pt(400, 250)}} {
		n := onClip(res, c.second)
		if n < 0 {
			t.Fatalf("second %v was cut", c.second)
		}
		_, box := within(frames[n], middle(), 0, 70)
		if off := box.Min.Sub(c.at); off.X < -2 || off.X > 2 || off.Y < -2 || off.Y > 3 || box.Dx() > 14 || box.Dy() > 18 {
			t.Errorf("at %v s the pointer is in %v, want its tip at %v", c.second, box, c.at)
		}
		// Left of the tip there is nothing but the ring of a click.
		ring := image.Rectangle{Min: c.at.Sub(image.Pt(16, 16)), Max: c.at.Add(image.Pt(-3, 16))}
		if seen, _ := within(frames[n], ring, 0, 225); (seen > 20) != (c.second == 2.1 || c.second == 10.1) {
			t.Errorf("at %v s %d pixels of a ring are seen", c.second, seen)
		}
	}
	caps := image.Rect(screenW/2-80, 300, screenW/2+80, 345)
	for second, want := range map[float64]bool{18.7: false, 19.3: true} {
		if n, _ := within(frames[onClip(res, second)], caps, 0, 120); (n > 20) != want {
			t.Errorf("at %v s %d dark pixels of caps", second, n)
		}
	}
	if now, err := os.ReadFile(dir.FilmPath()); err != nil || !bytes.Equal(now, film) {
		t.Errorf("the film was changed: %v", err)
	}
}

// A zoom must go to where the click was and back; the frame must leave the
// whole film to be seen.
func TestZoomAndFrame(t *testing.T) {
	d := deps(t)
	s := plain()
	s.Changes = append(s.Changes[:1], append([]cliptest.Change{cliptest.Box(time.Second, recording.Rect{X: 480, Y: 200, W: 20, H: 20}, 60)}, s.Changes[1:]...)...)
	dir := build(t, d, s)
	withInput(t, dir, recording.Input{At: 3 * time.Second, Kind: recording.InputDown, X: 490, Y: 210, Button: 1})
	size := func(o clip.Options, second float64) (int, image.Rectangle, []byte) {
		t.Helper()
		o.Dir, o.Out, o.Deps, o.Stills = dir, t.TempDir(), d, "keep"
		res, err := clip.Make(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		f := grays(t, res.Path, res.Width, res.Height)[onClip(res, second)]
		n, box := within(f, image.Rect(120, 90, 560, 280), 40, 90)
		return n, box, f
	}
	whole, _, _ := size(clip.Options{}, 3.2)
	near, box, _ := size(clip.Options{Zoom: true}, 3.2)
	if whole < 380 || whole > 420 || near < 27*whole/10 || near > 34*whole/10 {
		t.Errorf("a box of %d pixels has %d in a zoom of 1.8", whole, near)
	}
	// The view can't leave the film at its right edge.
	if c := box.Min.Add(box.Max).Div(2); c.X < 340 || c.X > 390 || c.Y < 170 || c.Y > 190 {
		t.Errorf("the zoom shows it at %v", box)
	}
	if back, _, _ := size(clip.Options{Zoom: true}, 10); back != whole {
		t.Errorf("after the zoom it has %d pixels, %d before", back, whole)
	}
	framed, _, f := size(clip.Options{Frame: true}, 3.2)
	if framed >= whole || framed < whole/2 || f[5*screenW+5] > 150 || f[100*screenW+100] < 220 {
		t.Errorf("in a frame it has %d pixels of %d; the corner has a luma of %d, the film %d", framed, whole, f[5*screenW+5], f[100*screenW+100])
	}
}

// An option for which a recording has nothing must say so, and make the clip.
func TestInputIsMissed(t *testing.T) {
	d := deps(t)
	s := plain()
	s.Length, s.Events, s.Changes = 2*time.Second, nil, s.Changes[:1]
	dir := build(t, d, s)
	all := clip.Options{Dir: dir, Out: t.TempDir(), Deps: d, Pointer: true, Keys: true, Zoom: true, Frame: true}
	alone := all
	alone.Dir, alone.Film = nil, dir.FilmPath()
	for what, o := range map[string]clip.Options{"recording": all, "film": alone} {
		res, err := clip.Make(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"no moves", "no clicks", "no keys"} {
			if !strings.Contains(fmt.Sprint(res.Notes), want) {
				t.Errorf("%s: notes %q lack %q", what, res.Notes, want)
			}
		}
	}
	if err := os.WriteFile(dir.InputPath(), []byte(`{"t":0,"k":"source","v":9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if res, err := clip.Make(t.Context(), all); err != nil || !strings.Contains(fmt.Sprint(res.Notes), "version 9") {
		t.Errorf("a log of a later version: %v, %q", err, res.Notes)
	}
}
