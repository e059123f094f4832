package exit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
)

// maxPoster bounds a poster in bytes, as it comes.
const maxPoster = 8 << 20

// posterQuality is the JPEG quality of posters that leave.
const posterQuality = 90

func badPoster(reason Reason, rule string) error {
	return &RefusedError{Item: Poster, Reason: reason, Rule: rule}
}

// checkJPEG walks the markers of a baseline JPEG (T.81, annex B): a plain
// JFIF header at most, tables, one frame of three components and the given
// size, one scan, and nothing after its end.
func checkJPEG(b []byte, width, height int) error {
	if !bytes.HasPrefix(b, []byte{0xff, 0xd8}) {
		return badPoster(JPEGMarker, "SOI")
	}
	j := &jpegWalk{width: width, height: height}
	for at := 2; ; {
		if len(b)-at < 4 || b[at] != 0xff {
			return badPoster(JPEGMarker, "segment")
		}
		length := int(binary.BigEndian.Uint16(b[at+2:]))
		if length < 2 || length > len(b)-at-2 {
			return badPoster(JPEGMarker, "segment")
		}
		body := b[at+4 : at+2+length]
		if err := j.segment(b[at+1], body, at == 2); err != nil {
			return err
		}
		marker := b[at+1]
		at += 2 + length
		if marker == 0xda { // SOS
			return j.scan(b[at:])
		}
	}
}

type jpegWalk struct {
	width, height int
	segments      int
	frame         bool
	restarts      bool
}

// segment judges one marker segment.
func (j *jpegWalk) segment(marker byte, body []byte, first bool) error {
	const most = 32
	ok := false
	if j.segments++; j.segments > most {
		return badPoster(JPEGMarker, "segment")
	}
	switch marker {
	case 0xe0: // APP0
		ok = first && plainJFIF(body)
	case 0xdb: // DQT
		ok = quantTables(body)
	case 0xc4: // DHT
		ok = huffmanTables(body)
	case 0xdd: // DRI
		ok = len(body) == 2 && !j.restarts
		j.restarts = true
	case 0xc0: // SOF0
		if ok = !j.frame && frameHeader(body); ok && !j.sized(body) {
			return badPoster(JPEGSize, "SOF0")
		}
		j.frame = true
	case 0xda: // SOS
		ok = j.frame && len(body) == 10 && body[0] == 3 && bytes.Equal(body[7:], []byte{0, 63, 0})
	}
	if !ok {
		return badPoster(JPEGMarker, "segment")
	}
	return nil
}

func (j *jpegWalk) sized(body []byte) bool {
	return int(binary.BigEndian.Uint16(body[1:])) == j.height && int(binary.BigEndian.Uint16(body[3:])) == j.width
}

// plainJFIF is a JFIF header without a thumbnail.
func plainJFIF(body []byte) bool {
	return len(body) == 14 && string(body[:5]) == "JFIF\x00" && body[5] == 1 && body[6] <= 2 && body[7] <= 2 &&
		body[12] == 0 && body[13] == 0
}

// quantTables reads DQT (B.2.4.1): 8-bit tables.
func quantTables(body []byte) bool {
	for ; len(body) >= 65; body = body[65:] {
		if body[0] > 3 {
			return false
		}
	}
	return len(body) == 0
}

// huffmanTables reads DHT (B.2.4.2).
func huffmanTables(body []byte) bool {
	for len(body) >= 17 {
		if body[0]>>4 > 1 || body[0]&0xf > 3 {
			return false
		}
		n := 17
		for _, count := range body[1:17] {
			n += int(count)
		}
		if n > len(body) || n > 17+256 {
			return false
		}
		body = body[n:]
	}
	return len(body) == 0
}

// frameHeader reads SOF0 (B.2.2): 8 bits, three components, sampled at most
// 2x2.
func frameHeader(body []byte) bool {
	if len(body) != 15 || body[0] != 8 || body[5] != 3 {
		return false
	}
	for c := 6; c < 15; c += 3 {
		h, v := body[c+1]>>4, body[c+1]&0xf
		if h < 1 || h > 2 || v < 1 || v > 2 || body[c+2] > 3 {
			return false
		}
	}
	return true
}

// scan follows entropy-coded data to the end of the image, which must be the
// end of the bytes.
func (j *jpegWalk) scan(b []byte) error {
	for {
		i := bytes.IndexByte(b, 0xff)
		if i < 0 || i+1 >= len(b) {
			return badPoster(JPEGData, "scan")
		}
		marker := b[i+1]
		b = b[i+2:]
		switch {
		case marker == 0: // a stuffed byte
		case marker >= 0xd0 && marker <= 0xd7 && j.restarts:
		case marker == 0xd9: // EOI
			if len(b) != 0 {
				return badPoster(JPEGTail, "EOI")
			}
			return nil
		default:
			return badPoster(JPEGMarker, "scan")
		}
	}
}

// cleanJPEG judges a poster of an author and encodes its pixels afresh.
func cleanJPEG(w io.Writer, b []byte, width, height int) error {
	if err := checkJPEG(b, width, height); err != nil {
		return err
	}
	config, err := jpeg.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return badPoster(JPEGData, "header")
	}
	if config.ColorModel != color.YCbCrModel {
		return badPoster(JPEGData, "header")
	}
	if config.Width != width || config.Height != height {
		return badPoster(JPEGSize, "header")
	}
	picture, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		return badPoster(JPEGData, "scan")
	}
	if picture.Bounds() != image.Rect(0, 0, width, height) {
		return badPoster(JPEGSize, "picture")
	}
	return encodeJPEG(w, picture)
}

// drawJPEG encodes a poster from packed RGB pixels, 3 bytes each.
func drawJPEG(w io.Writer, rgb []byte, width, height int) error {
	if len(rgb) != 3*width*height {
		return badPoster(Undecodable, "pixels")
	}
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		copy(picture.Pix[4*i:], rgb[3*i:3*i+3])
		picture.Pix[4*i+3] = 0xff
	}
	return encodeJPEG(w, picture)
}

func encodeJPEG(w io.Writer, picture image.Image) error {
	if err := jpeg.Encode(w, picture, &jpeg.Options{Quality: posterQuality}); err != nil {
		return fmt.Errorf("encode the poster: %w", err)
	}
	return nil
}
