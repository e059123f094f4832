package profile

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every one of these arguments was measured or is relied on by another
// package, so a change must be seen: docs/encode-profile.md says why.
func TestRecordingArgs(t *testing.T) {
	want := "-c:v libx264 -preset ultrafast -crf 16 -profile:v high -pix_fmt yuv420p" +
		" -x264-params bframes=0:ref=1:weightp=0:rc-lookahead=0:sync-lookahead=0:scenecut=0:mbtree=0:sliced-threads=1:force-cfr=1:8x8dct=1" +
		" -g 100000 -force_key_frames expr:if(isnan(prev_forced_t),1,gte(t,prev_forced_t+0.9))" +
		" -color_range tv -colorspace bt709 -color_primaries bt709 -color_trc bt709"
	if diff := cmp.Diff(want, strings.Join(Recording().Args(), " ")); diff != "" {
		t.Error(diff)
	}
}

// Callers append to what they get: one's arguments must not become another's.
func TestArgsAreTheCallersOwn(t *testing.T) {
	a, b := Recording().Args(), Recording().Args()
	_ = append(a, "one")
	a[0] = "changed"
	if b[0] != "-c:v" || len(b) != len(Recording().Args()) {
		t.Errorf("%q", b)
	}
}

// 4:2:0 has no odd sizes; a size that is even must not grow.
func TestEven(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 2, 2: 2, 1079: 1080, 1080: 1080} {
		if got := Even(n); got != want {
			t.Errorf("Even(%d) = %d, want %d", n, got, want)
		}
	}
}

// convert runs the filter over one RGB picture and gives the I420 frame.
func convert(t *testing.T, w, h int, rgb []byte) []byte {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("ffmpeg is not installed: apt-get install ffmpeg")
	}
	cmd := exec.CommandContext(t.Context(), path, "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
		"-video_size", fmt.Sprintf("%dx%d", w, h), "-i", "-", "-vf", ToYUV(w, h), "-f", "rawvideo", "-pix_fmt", "yuv420p", "-")
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(rgb), &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%v: %s", err, errs.String())
	}
	ew, eh := Even(w), Even(h)
	if len(out) != ew*eh*3/2 {
		t.Fatalf("%d bytes for %dx%d", len(out), ew, eh)
	}
	return out
}

// A wrong matrix or range shifts every colour of the film: red ff0000 came out
// as ff1700 with BT.601. The values are those of ITU-R BT.709 in 8 bits.
func TestToYUVIsBT709Limited(t *testing.T) {
	cases := []struct {
		name string
		rgb  [3]byte
		yuv  [3]byte
	}{
		{"black", [3]byte{0, 0, 0}, [3]byte{16, 128, 128}},
		{"white", [3]byte{255, 255, 255}, [3]byte{235, 128, 128}},
		{"red", [3]byte{255, 0, 0}, [3]byte{63, 102, 240}},
		{"green", [3]byte{0, 255, 0}, [3]byte{173, 42, 26}},
		{"blue", [3]byte{0, 0, 255}, [3]byte{32, 240, 118}},
		{"grey", [3]byte{128, 128, 128}, [3]byte{126, 128, 128}},
	}
	const w, h = 16, 16
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out := convert(t, w, h, bytes.Repeat(c.rgb[:], w*h))
			for i, plane := range [][]byte{out[:w*h], out[w*h : w*h*5/4], out[w*h*5/4:]} {
				for _, v := range plane {
					if d := int(v) - int(c.yuv[i]); d < -1 || d > 1 {
						t.Fatalf("plane %d holds %d, want %d", i, v, c.yuv[i])
					}
				}
			}
		})
	}
}

// An odd screen is padded by its own last row and column: black ones would
// show as a line at the film's edge, and a shifted picture would blur.
func TestToYUVPadsOddSizes(t *testing.T) {
	for _, size := range [][2]int{{9, 8}, {8, 9}, {9, 9}, {1, 1}} {
		w, h := size[0], size[1]
		t.Run(fmt.Sprintf("%dx%d", w, h), func(t *testing.T) {
			rgb := make([]byte, 0, 3*w*h)
			for y := range h {
				for x := range w {
					v := byte(10 + 20*((x+3*y)%10))
					rgb = append(rgb, v, v, v)
				}
			}
			ew, eh := Even(w), Even(h)
			luma := convert(t, w, h, rgb)
			for y := range eh {
				for x := range ew {
					sx, sy := min(x, w-1), min(y, h-1)
					grey := int(rgb[3*(sy*w+sx)])
					want := 16 + (grey*219+127)/255
					if d := int(luma[y*ew+x]) - want; d < -1 || d > 1 {
						t.Fatalf("luma at %d,%d is %d, want %d", x, y, luma[y*ew+x], want)
					}
				}
			}
		})
	}
}
