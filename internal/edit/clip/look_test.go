package clip_test

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/edit/clip/cliptest"
	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/media/film"
	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// Sizes of the tests' screen: small, since only the places of pills matter.
const (
	screenW, screenH = 640, 360
	bright           = 235
)

// blank begins a screen that is bright all over, so that whatever is dark at
// its edges is a caption.
func blank() cliptest.Change {
	return cliptest.Change{Box: recording.Rect{W: screenW, H: screenH}, Draw: func(f *pixel.Frame) {
		cliptest.Fill(f, recording.Rect{W: f.Width, H: f.Height}, bright)
	}}
}

// plain is session on a blank screen: 24 s, of which 16 s are still for more
// than half a second.
func plain() cliptest.Spec {
	s := session(nil)
	s.Width, s.Height, s.Changes[0] = screenW, screenH, blank()
	for i := range s.Changes[1:] {
		r := recording.Rect{X: 20, Y: 150 + 8*i, W: 8, H: 8}
		s.Changes[i+1] = cliptest.Box(s.Changes[i+1].At, r, 60)
	}
	return s
}

// seen is what a finished frame shows: the pills at the centre from top to
// bottom, and whether there is one in a right corner.
type seen struct {
	pills              []pillSeen
	topMark, lowCorner bool
}

type pillSeen struct{ top, bottom, width int }

// watch decodes a finished clip, without any part of the product, and gives
// what is seen in each frame of the grid.
func watch(t *testing.T, path string, fps int) []seen {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-fps_mode", "cfr", "-r", fmt.Sprint(fps), "-pix_fmt", "gray", "-f", "rawvideo", "-")
	cmd.Stderr = &errs
	raw, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("decode %s: %v %s", path, err, errs.String())
	}
	var all []seen
	for ; len(raw) >= screenW*screenH; raw = raw[screenW*screenH:] {
		all = append(all, look(raw[:screenW*screenH]))
	}
	return all
}

func look(f []byte) seen {
	const dark = 128
	var s seen
	start := -1
	for y := 0; y <= screenH; y++ {
		n := 0
		if y < screenH {
			for x := screenW/2 - 40; x < screenW/2+40; x++ {
				if f[y*screenW+x] < dark {
					n++
				}
			}
		}
		switch in := n >= 24; {
		case in && start < 0:
			start = y
		case !in && start >= 0:
			if y-start >= 16 { // lower is no pill
				s.pills = append(s.pills, pillSeen{start, y, extent(f, start+4)})
			}
			start = -1
		}
	}
	corner := func(y0, y1 int) bool {
		n := 0
		for y := y0; y < y1; y++ {
			for x := screenW - 40; x < screenW; x++ {
				if f[y*screenW+x] < dark {
					n++
				}
			}
		}
		return n > 60
	}
	s.topMark, s.lowCorner = corner(0, 60), corner(screenH-60, screenH)
	return s
}

// extent is the width of what is dark in a row.
func extent(f []byte, y int) int {
	from, to := screenW, 0
	for x := range screenW - 60 { // the corner is the marks'
		if x > 40 && f[y*screenW+x] < 128 {
			from, to = min(from, x), max(to, x)
		}
	}
	return to - from
}

// run is a stretch of frames with as many pills of the same widths.
type run struct {
	pills  []pillSeen
	frames int
}

func runs(all []seen) []run {
	var list []run
	for _, s := range all {
		if n := len(list); n > 0 && alike(list[n-1].pills, s.pills) {
			list[n-1].frames++
			continue
		}
		list = append(list, run{s.pills, 1})
	}
	return list
}

func alike(a, b []pillSeen) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if d := a[i].width - b[i].width; d < -3 || d > 3 {
			return false
		}
	}
	return true
}

// The captions of the finished file, as a viewer sees them: each up for its
// reading time at every speed, in its place, in its order; a cut is marked,
// kept stillness is not; the length is what the rules give. The lengths were
// computed by hand: what is kept, divided by the speed, and what a caption
// lacks of its reading time (2.45 s for the first result, 2.16 s for the last).
func TestCaptionsInFinishedFiles(t *testing.T) {
	d := deps(t)
	dirs := map[string]*recording.Dir{film.CFR: build(t, d, plain()), film.VFR: nil}
	vfr := plain()
	vfr.Rate = film.VFR
	dirs[film.VFR] = build(t, d, vfr)
	for _, c := range []struct {
		rate   string
		stills timeline.Stills
		speed  int
		length float64
	}{
		{film.CFR, timeline.StillsKeep, 1, 24},
		{film.CFR, timeline.StillsKeep, 2, 12 + 2.16 - 1.5},
		{film.CFR, timeline.StillsKeep, 4, 6 + 2.16 - 0.75},
		{film.CFR, timeline.StillsCut, 1, 8 + 2.45 - 0.5 + 2.16 - 0.5},
		{film.CFR, timeline.StillsCut, 2, 4 + 2.45 - 0.25 + 2.16 - 0.25},
		{film.VFR, timeline.StillsCut, 4, 2 + 2.45 - 0.125 + 2.16 - 0.125},
		{film.VFR, timeline.StillsKeep, 1, 24},
	} {
		for _, position := range []timeline.Position{timeline.Top, timeline.Bottom} {
			t.Run(fmt.Sprintf("%s/%s/%dx/%s", c.rate, c.stills, c.speed, position), func(t *testing.T) {
				res, err := clip.Make(t.Context(), clip.Options{
					Dir: dirs[c.rate], Out: t.TempDir(), Stills: c.stills, Speed: c.speed, Position: position, Deps: d,
				})
				if err != nil {
					t.Fatal(err)
				}
				frames := watch(t, res.Path, res.FPS)
				if got := float64(len(frames)) / float64(res.FPS); math.Abs(got-c.length) > 0.2 || math.Abs(got-res.Seconds) > 1.01/float64(res.FPS) {
					t.Errorf("the file lasts %.3f s, by the rules %.3f s, the answer says %.3f s", got, c.length, res.Seconds)
				}
				checkPills(t, runs(frames), res.FPS, position)
				checkMarks(t, frames, res.FPS, c.stills == timeline.StillsCut, c.speed, position)
			})
		}
	}
}

func checkPills(t *testing.T, got []run, fps int, position timeline.Position) {
	t.Helper()
	var order []int // pills that are up, in the order of runs
	upFor := map[int]int{}
	for i, r := range got {
		if r.frames <= 2 && i > 0 { // a fade
			continue
		}
		order = append(order, len(r.pills))
		upFor[len(order)] = r.frames
		for _, p := range r.pills {
			if position == timeline.Top && p.top > screenH/3 || position == timeline.Bottom && p.bottom < screenH*2/3 {
				t.Errorf("a pill at rows %d to %d with captions at the %s", p.top, p.bottom, position)
			}
			if position == timeline.Bottom && p.bottom > screenH-20 {
				t.Errorf("a pill reaches row %d, into the taskbar", p.bottom)
			}
		}
	}
	if fmt.Sprint(order) != "[0 1 2 1 2]" {
		t.Fatalf("pills that are up, one after the other: %v, want none, step, step and result, twice; %v", order, got)
	}
	for _, c := range []struct {
		what  string
		runs  []int
		least time.Duration
	}{
		{"the first step", []int{2, 3}, timeline.ReadingTime("Add a product to the basket")},
		{"its result", []int{3}, timeline.ReadingTime("The basket shows one product")},
		{"the second step", []int{4, 5}, timeline.ReadingTime("Open the basket")},
		{"its result", []int{5}, timeline.ReadingTime("The sum is wrong")},
	} {
		n := 0
		for _, i := range c.runs {
			n += upFor[i]
		}
		// Half of a fade is too pale to be seen.
		if up := time.Duration(n+2) * time.Second / time.Duration(fps); up < c.least {
			t.Errorf("%s is up for %v, less than its reading time of %v", c.what, up, c.least)
		}
	}
}

func checkMarks(t *testing.T, frames []seen, fps int, cut bool, speed int, position timeline.Position) {
	t.Helper()
	marked := 0
	for _, s := range frames {
		if position == timeline.Top && s.lowCorner || position == timeline.Bottom && s.topMark {
			marked++
		}
		if position == timeline.Top && s.topMark || position == timeline.Bottom && s.lowCorner {
			t.Fatal("a mark stands in the corner beside the captions")
		}
	}
	switch want := fps * 12 / 10; {
	case speed > 1 && marked < len(frames)-4:
		t.Errorf("the speed is shown in %d of %d frames", marked, len(frames))
	case speed == 1 && !cut && marked > 0:
		t.Errorf("a mark is up for %d frames, and nothing was cut", marked)
	case speed == 1 && cut && (marked < want-3 || marked > want+1):
		t.Errorf("the mark of the cut is up for %d frames, want about %d", marked, want)
	}
}
