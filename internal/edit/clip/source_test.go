package clip

import (
	"bytes"
	"os/exec"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/edit/clip/cliptest"
	"github.com/proofreel/proofreel/internal/media/film"
	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/recording"
)

func ffmpegPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("ffmpeg is not installed: apt-get install ffmpeg")
	}
	return path
}

// shades is a recording whose picture has another grey after each change.
func shades(rate string, at ...time.Duration) cliptest.Spec {
	s := cliptest.Spec{Width: 160, Height: 96, FPS: 30, Rate: rate, Length: 12 * time.Second}
	for i, a := range at {
		r := recording.Rect{W: 160, H: 96}
		s.Changes = append(s.Changes, cliptest.Box(a, r, byte(40+20*i)))
	}
	return s
}

// A repeat that is taken for a picture costs time; a picture that is taken for
// a repeat is a change that the clip does not show. Both films show the same.
func TestRepeats(t *testing.T) {
	at := []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond, 2 * time.Second, 2100 * time.Millisecond, 9 * time.Second}
	for _, rate := range []string{film.CFR, film.VFR} {
		dir, err := cliptest.Build(t.Context(), ffmpegPath(t), t.TempDir(), shades(rate, at...))
		if err != nil {
			t.Fatal(err)
		}
		src, err := open(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer src.close()
		own := 0
		for i, shows := range src.shows {
			if int(shows) == i {
				own++
			}
		}
		// Besides its changes the film has a keyframe a second after each
		// stillness began: 1.4, 3.1 and 10 s. The last is the one before it
		// once more, which may show in its bytes.
		if own < len(at)+2 || own > len(at)+3 {
			t.Errorf("%s: %d pictures of their own in %d samples, want %d", rate, own, len(src.samples), len(at)+2)
		}
		for tick := range src.ticks {
			sample := src.samples[src.shown(tick)]
			want := int64(0)
			for _, a := range append(at, 1400*time.Millisecond, 3100*time.Millisecond, 10*time.Second) {
				if n := int64(a) * 30 / int64(time.Second); n <= tick {
					want = max(want, n)
				}
			}
			if sample.Tick != want && (want != 300 || sample.Tick != 270) {
				t.Fatalf("%s: tick %d shows the picture of tick %d, want %d", rate, tick, sample.Tick, want)
			}
		}
	}
}

// The poster must show something, also when the page is blank where the last
// result comes.
func TestPosterIsNotBlank(t *testing.T) {
	full, err := pixel.NewFrame(64, 64)
	if err != nil {
		t.Fatal(err)
	}
	for i := range full.Y {
		full.Y[i] = byte(i * 37)
	}
	blank, err := pixel.NewFrame(64, 64)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		at   []*pixel.Frame // one a frame
		wish int64
		want *pixel.Frame
	}{
		"wished":           {[]*pixel.Frame{blank, full, blank}, 1, full},
		"wished is blank":  {[]*pixel.Frame{blank, full, blank}, 2, full},
		"none wished":      {[]*pixel.Frame{blank, full, blank}, -1, full},
		"all of it blank":  {[]*pixel.Frame{blank, blank}, 1, blank},
		"only one picture": {[]*pixel.Frame{full}, -1, full},
	} {
		s := &stills{wish: c.wish, richAt: -1}
		for f, p := range c.at {
			s.picture(int64(f), p)
			s.frame(int64(f), p, p)
		}
		if got := s.best(); !bytes.Equal(got.Pix, toRGBA(c.want).Pix) {
			t.Errorf("%s: another picture", name)
		}
	}
}

// Colours of the poster are those of the screen: BT.709, limited range.
func TestToRGBA(t *testing.T) {
	f, err := pixel.NewFrame(2, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ y, u, v, r, g, b byte }{
		{16, 128, 128, 0, 0, 0}, {235, 128, 128, 255, 255, 255}, {63, 102, 240, 255, 0, 0}, {173, 42, 26, 0, 255, 0}, {32, 240, 118, 0, 0, 255},
	} {
		f.Y[0], f.U[0], f.V[0] = c.y, c.u, c.v
		p := toRGBA(f).Pix
		for i, want := range []byte{c.r, c.g, c.b} {
			if d := int(p[i]) - int(want); d < -2 || d > 2 {
				t.Errorf("%v: channel %d is %d, want %d", c, i, p[i], want)
			}
		}
	}
}

// Names become files and links: nothing in one may leave its folder.
func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"Rig tour": "Rig-tour", "../../etc": "etc", "a/b\\c": "a-b-c", "": "recording", "...": "recording",
		"目标 🎯": "目标", "x\x00\n\"'<>": "x", "-rf": "rf",
	} {
		if got := fileName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func FuzzMovingWebP(f *testing.F) {
	f.Add([]byte("RIFF\x04\x00\x00\x00WEBP"))
	f.Add([]byte("RIFF\x24\x00\x00\x00WEBPANMF\x18\x00\x00\x00abcdefghijkl\x10\x00\x00\x00opqrstuv"))
	f.Add([]byte("RIFF\x10\x00\x00\x00WEBPANMF\xff\xff\xff\xff1234"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		w, err := movingWebP(bytes.NewReader(raw), int64(len(raw)))
		if err == nil && (w.length < 0 || w.last+3 > int64(len(raw))) {
			t.Errorf("%+v of %d bytes", w, len(raw))
		}
	})
}
