package x11

import (
	"image"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"

	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/record/capture"
)

func (p *painter) warp(to image.Point) {
	p.t.Helper()
	err := xproto.WarpPointerChecked(p.conn, 0, p.root, 0, 0, 0, 0, int16(to.X), int16(to.Y)).Check()
	if err != nil {
		p.t.Fatal(err)
	}
}

// Guards the drawn pointer: shape, hot spot and blending as x11grab has them,
// at odd places, over the edge, and gone from where it was.
func TestPointerIsDrawnAndLogged(t *testing.T) {
	const w, h = 161, 121
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	p.fill(0x3366cc, image.Rect(0, 0, w, h))
	tp := newTape()
	cfg := config(t, spawn, display, w, h, 60)
	cfg.Cursor = true
	e, stop := film(t, cfg, tp)
	type look struct {
		at     image.Point
		frames int
		want   []byte
	}
	var looks []look
	for _, at := range []image.Point{{33, 47}, {80, 60}, {160, 120}, {0, 0}} {
		before := tp.count()
		p.warp(at)
		eventually(t, "the pointer moves in the film", func() bool { return tp.count() > before })
		settled(t, e, tp)
		looks = append(looks, look{at, tp.count(), grabbed(t, display, w, h)})
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	film := tp.decode(t, w, h)
	bare := picture(t, p, w, h, pixel.BGRX)
	for _, l := range looks {
		got := film[l.frames-1]
		drawn := 0
		for i := range got {
			if d := int(got[i]) - int(l.want[i]); d < -2 || d > 2 {
				t.Fatalf("pointer at %v: sample %d is %d, x11grab has %d", l.at, i, got[i], l.want[i])
			}
			if got[i] != bare[i] {
				drawn++
			}
		}
		if drawn == 0 {
			t.Errorf("no pointer at %v", l.at)
		}
	}
	logged := tp.pointers()
	logged = logged[1:] // where it was at first
	for i, l := range looks {
		if i >= len(logged) || logged[i] != l.at {
			t.Fatalf("pointer log %v", logged)
		}
	}
}

// grabbed is one picture by ffmpeg's grabber, with the pointer.
func grabbed(t *testing.T, display string, w, h int) []byte {
	t.Helper()
	cmd := exec.Command(need(t, "ffmpeg", "ffmpeg"), "-v", "error", "-f", "x11grab", "-draw_mouse", "1",
		"-i", display, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "bgr0", "pipe:1")
	raw, err := cmd.Output()
	if err != nil || len(raw) != w*h*4 {
		t.Fatalf("x11grab: %v, %d bytes", err, len(raw))
	}
	f, err := pixel.NewFrame(w, h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pixel.Convert(f, f.Bounds(), raw, w*4, pixel.BGRX); err != nil {
		t.Fatal(err)
	}
	return f.Data
}

// Guards the log on a display whose pointer is not drawn.
func TestPointerIsLoggedThoughNotDrawn(t *testing.T) {
	const w, h = 160, 120
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	tp := newTape()
	_, stop := film(t, config(t, spawn, display, w, h, 30), tp)
	p.warp(image.Pt(12, 34))
	eventually(t, "the log", func() bool {
		at := tp.pointers()
		return len(at) > 0 && at[len(at)-1] == image.Pt(12, 34)
	})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if len(tp.frames) != 1 {
		t.Errorf("%d frames for a pointer that is not drawn", len(tp.frames))
	}
}

// Guards a screen that changes its size: the film keeps its own, what is no
// longer there is black, and the verdict hears of it.
func TestScreenShrinksAndGrows(t *testing.T) {
	const w, h = 320, 240
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	if err := randr.Init(p.conn); err != nil {
		t.Fatal(err)
	}
	p.fill(0xffffff, image.Rect(0, 0, w, h))
	tp := newTape()
	e, stop := film(t, config(t, spawn, display, w, h, 60), tp)
	p.resize(161, 101)
	eventually(t, "the event", func() bool { return eventsOf(tp, capture.EventGeometry) != "" })
	p.fill(0xffffff, image.Rect(0, 0, w, h)) // the server has cleared it
	p.settle(e, tp, 150, 90)
	small := tp.count()
	p.resize(w, h)
	p.fill(0xff0000, image.Rect(200, 150, 300, 200))
	p.settle(e, tp, w-1, h-1)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got := eventsOf(tp, capture.EventGeometry); !strings.Contains(got, "now 161x101, the film stays at 320x240: the rest of it is black") {
		t.Errorf("event %q", got)
	}
	film := tp.decode(t, w, h)
	for name, tc := range map[string]struct {
		x, y int
		want byte
	}{"inside": {80, 50, 235}, "right": {200, 50, 16}, "below": {80, 150, 16}, "corner": {319, 239, 16}} {
		if got := film[small-1][tc.y*w+tc.x]; got != tc.want {
			t.Errorf("%s of the small screen: %d, want %d", name, got, tc.want)
		}
	}
	if got := film[len(film)-1][160*w+250]; got != 63 {
		t.Errorf("after it grew again: %d, want 63 (red)", got)
	}
}

// resize sets the screen's size; its outputs are turned off for it, as RandR asks.
func (p *painter) resize(w, h int) {
	p.t.Helper()
	res, err := randr.GetScreenResources(p.conn, p.root).Reply()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, crtc := range res.Crtcs {
		_, err := randr.SetCrtcConfig(p.conn, crtc, 0, res.ConfigTimestamp, 0, 0, 0, randr.RotationRotate0, nil).Reply()
		if err != nil {
			p.t.Fatal(err)
		}
	}
	if err := randr.SetScreenSizeChecked(p.conn, p.root, uint16(w), uint16(h), uint32(w), uint32(h)).Check(); err != nil {
		p.t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)
}
