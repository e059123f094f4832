package exit

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"runtime"
	"testing"
)

// goodPoster is a picture as Go encodes it, without any APPn.
func goodPoster(t testing.TB, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	check(t, jpeg.Encode(&b, gradient(w, h), &jpeg.Options{Quality: 90}))
	return b.Bytes()
}

func gradient(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, color.RGBA{R: uint8(x), G: uint8(y), B: uint8(x + y), A: 255})
		}
	}
	return m
}

// segment makes a marker segment.
func segment(marker byte, body []byte) []byte {
	b := []byte{0xff, marker, 0, 0}
	binary.BigEndian.PutUint16(b[2:], uint16(len(body)+2))
	return append(b, body...)
}

// behindSOI puts bytes behind the first marker.
func behindSOI(b []byte, more ...[]byte) []byte {
	return append(append(bytes.Clone(b[:2]), bytes.Join(more, nil)...), b[2:]...)
}

// jfif is a plain JFIF header.
func jfif() []byte {
	return segment(0xe0, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"))
}

func TestPosters(t *testing.T) {
	w := testWant()
	good := goodPoster(t, w.Width, w.Height)
	ffmpegs := func(args ...string) []byte {
		name := filepath.Join(t.TempDir(), "poster.jpg")
		ffmpegRun(t, append(append([]string{"-f", "lavfi", "-i", "testsrc2=size=160x90", "-frames:v", "1", "-update", "1"}, args...), name)...)
		return readFile(t, name)
	}
	var asPNG, grey bytes.Buffer
	check(t, png.Encode(&asPNG, gradient(w.Width, w.Height)))
	check(t, jpeg.Encode(&grey, image.NewGray(image.Rect(0, 0, w.Width, w.Height)), nil))
	sos := bytes.Index(good, []byte{0xff, 0xda})
	sof := bytes.Index(good, []byte{0xff, 0xc0})
	patch := func(at int, b ...byte) []byte {
		c := bytes.Clone(good)
		copy(c[at:], b)
		return c
	}
	for _, c := range []struct {
		name   string
		poster []byte
		reason Reason
	}{
		{"good", good, ""},
		{"plain JFIF", behindSOI(good, jfif()), ""},
		{"ffmpeg's, bit-exact", ffmpegs("-fflags", "+bitexact", "-flags:v", "+bitexact"), ""},
		{"ffmpeg's own tag", ffmpegs(), JPEGMarker},
		{"empty", nil, JPEGMarker},
		{"text", []byte("<html>not a picture</html>"), JPEGMarker},
		{"PNG", asPNG.Bytes(), JPEGMarker},
		{"zip behind the end", append(bytes.Clone(good), "PK\x03\x04"...), JPEGTail},
		{"one byte behind the end", append(bytes.Clone(good), 0), JPEGTail},
		{"two images", append(bytes.Clone(good), good...), JPEGTail},
		{"comment", behindSOI(good, segment(0xfe, []byte("secret"))), JPEGMarker},
		{"EXIF", behindSOI(good, segment(0xe1, []byte("Exif\x00\x00MM\x00*"))), JPEGMarker},
		{"8 x 64 KB of APP5", behindSOI(good, bytes.Repeat(segment(0xe5, make([]byte, 65000)), 8)), JPEGMarker},
		{"ICC profile", behindSOI(good, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x01x"))), JPEGMarker},
		{"Adobe", behindSOI(good, segment(0xee, []byte("Adobe\x00d\x00\x00\x00\x00\x00"))), JPEGMarker},
		{"JFIF with a thumbnail", behindSOI(good, segment(0xe0, append([]byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x01\x01"), 1, 2, 3))), JPEGMarker},
		{"JFIF extension", behindSOI(good, segment(0xe0, []byte("JFXX\x00\x10"))), JPEGMarker},
		{"JFIF twice", behindSOI(good, jfif(), jfif()), JPEGMarker},
		{"text in the JFIF header", behindSOI(good, segment(0xe0, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00secret"))), JPEGMarker},
		{"65500 x 65500", patch(sof+5, 0xff, 0xdc, 0xff, 0xdc), JPEGSize},
		{"other size", goodPoster(t, 320, 90), JPEGSize},
		{"turned", goodPoster(t, w.Height, w.Width), JPEGSize},
		{"progressive", patch(sof+1, 0xc2), JPEGMarker},
		{"arithmetic", patch(sof+1, 0xc9), JPEGMarker},
		{"12 bits", patch(sof+4, 12), JPEGMarker},
		{"grey", grey.Bytes(), JPEGMarker},
		{"second frame header", append(append(bytes.Clone(good[:sos]), good[sof:sos]...), good[sos:]...), JPEGMarker},
		{"no frame header", append(bytes.Clone(good[:sof]), good[sos:]...), JPEGMarker},
		{"second scan", append(append(bytes.Clone(good[:len(good)-2]), good[sos:sos+14]...), 1, 2, 0xff, 0xd9), JPEGMarker},
		{"comment in the scan", append(append(bytes.Clone(good[:len(good)-2]), segment(0xfe, []byte("secret"))...), 0xff, 0xd9), JPEGMarker},
		{"number of lines in the scan", append(bytes.Clone(good[:len(good)-2]), 0xff, 0xdc, 0, 4, 0, 90, 0xff, 0xd9), JPEGMarker},
		{"restart without an interval", append(bytes.Clone(good[:len(good)-2]), 0xff, 0xd0, 0xff, 0xd9), JPEGMarker},
		{"no end", good[:len(good)-2], JPEGData},
		{"half", good[:len(good)/2], JPEGData},
		{"empty scan", append(bytes.Clone(good[:sos+14]), 0xff, 0xd9), JPEGData},
		{"text behind a table", behindSOI(good, segment(0xdb, append(make([]byte, 65), "secret"...))), JPEGMarker},
		{"16-bit table", behindSOI(good, segment(0xdb, append([]byte{0x10}, make([]byte, 128)...))), JPEGMarker},
		{"codes that are not there", behindSOI(good, segment(0xc4, bytes.Repeat([]byte{255}, 17))), JPEGMarker},
		{"1000 tables", behindSOI(good, bytes.Repeat(segment(0xdb, make([]byte, 65)), 1000)), JPEGMarker},
		{"segment longer than the file", behindSOI(good, []byte{0xff, 0xdb, 0xff, 0xff}), JPEGMarker},
		{"segment of no length", behindSOI(good, []byte{0xff, 0xdb, 0, 0}), JPEGMarker},
		{"bytes between segments", behindSOI(good, []byte("secret")), JPEGMarker},
		{"fill bytes", behindSOI(good, []byte{0xff}), JPEGMarker},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := cleanJPEG(&out, c.poster, w.Width, w.Height)
			runtime.ReadMemStats(&after)
			if got := reasonOf(t, err); got != c.reason {
				t.Fatalf("got %q (%v), want %q", got, err, c.reason)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
				t.Errorf("%d bytes allocated", used)
			}
			if err != nil {
				return
			}
			if err := checkJPEG(out.Bytes(), w.Width, w.Height); err != nil {
				t.Errorf("what we encode is refused: %v", err)
			}
			if bytes.Contains(out.Bytes(), []byte("JFIF")) {
				t.Error("a segment of the author's is still there")
			}
		})
	}
}

// The poster that is drawn shows the pixels that it was given.
func TestDrawJPEG(t *testing.T) {
	rgb := bytes.Repeat([]byte{200, 30, 60}, 160*90)
	var out bytes.Buffer
	check(t, drawJPEG(&out, rgb, 160, 90))
	check(t, checkJPEG(out.Bytes(), 160, 90))
	m, err := jpeg.Decode(&out)
	check(t, err)
	r, g, b, _ := m.At(80, 45).RGBA()
	near := func(got uint32, want int) bool { d := int(got>>8) - want; return d >= -4 && d <= 4 }
	if !near(r, 200) || !near(g, 30) || !near(b, 60) {
		t.Errorf("colour %d %d %d", r>>8, g>>8, b>>8)
	}
	if got := reasonOf(t, drawJPEG(&out, rgb[:100], 160, 90)); got != Undecodable {
		t.Errorf("too few pixels: %q", got)
	}
}
