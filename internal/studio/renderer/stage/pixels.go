package stage

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// layout is how a browser's pixels lie.
type layout string

const (
	layoutBGR layout = "bgr" // what a Frame has
	layoutRGB layout = "rgb" // red first
	layoutGL  layout = "gl"  // red first, and the lowest row first
)

// frame makes a Frame of a browser's pixels: they themselves where they lie
// right, else a copy in buf, which must be as large.
func (l layout) frame(buf, pix []byte, width, height int) Frame {
	f := Frame{Pix: pix, Stride: width * 4, Width: width, Height: height}
	if l == layoutBGR {
		return f
	}
	f.Pix = buf
	for y := range height {
		from := y
		if l == layoutGL {
			from = height - 1 - y
		}
		swapRow(buf[y*f.Stride:(y+1)*f.Stride], pix[from*f.Stride:(from+1)*f.Stride])
	}
	return f
}

// swapRow exchanges red and blue, two pixels at a time.
func swapRow(dst, src []byte) {
	const middle, low = 0xff00ff00ff00ff00, 0x000000ff000000ff
	for len(src) >= 8 && len(dst) >= 8 {
		v := binary.LittleEndian.Uint64(src)
		binary.LittleEndian.PutUint64(dst, v&middle|v>>16&low|v&low<<16)
		src, dst = src[8:], dst[8:]
	}
	if len(src) >= 4 && len(dst) >= 4 { // an odd width
		dst[0], dst[1], dst[2], dst[3] = src[2], src[1], src[0], src[3]
	}
}

// decodePixels reads a frame that came as text.
func decodePixels(text string, want int) ([]byte, error) {
	pix, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("read a frame's pixels: %w", err)
	}
	if len(pix) != want {
		return nil, fmt.Errorf("a frame has %d bytes, not %d", len(pix), want)
	}
	return pix, nil
}
