package policy

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/gateway/picture"
)

func drawn(t testing.TB, typ string, w, h int) string {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, w, h))
	var b bytes.Buffer
	var err error
	switch typ {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func imageOf(typ, data string) string {
	return `{"type":"image","source":{"type":"base64","media_type":"image/` + typ + `","data":"` + data + `"}}`
}

// hugePNG is a small file whose header says 60000 x 60000.
func hugePNG(t testing.TB) string {
	t.Helper()
	b := raw(t, drawn(t, "png", 1, 1))
	copy(b[16:], []byte{0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60})
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return base64.StdEncoding.EncodeToString(b)
}

func raw(t testing.TB, data string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// twice is a picture of 1 x 1 with one of 4000 x 4000 behind it.
func twice(t testing.TB, typ string) string {
	t.Helper()
	return base64.StdEncoding.EncodeToString(append(raw(t, drawn(t, typ, 1, 1)), raw(t, drawn(t, typ, 4000, 4000))...))
}

// onSmallScreen is a GIF whose frame is larger than what its header says.
func onSmallScreen(t testing.TB, w, h int) string {
	t.Helper()
	b := raw(t, drawn(t, "gif", w, h))
	copy(b[6:], []byte{1, 0, 1, 0})
	return base64.StdEncoding.EncodeToString(b)
}

func animated(t testing.TB) string {
	t.Helper()
	frame := image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}}); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// A header of 1 x 1 before a frame of 4000 x 4000 would be paid for as one pixel.
func TestPicturesAreMeasuredByTheirFrames(t *testing.T) {
	_, r, no := rebuild(block(imageOf("gif", onSmallScreen(t, 4000, 3000))))
	if no != nil || !slices.Equal(r.Images, []picture.Size{{Width: 4000, Height: 3000}}) {
		t.Errorf("%+v, %v", r, no)
	}
}
