// Package picture tells the sides of a picture's file without decoding it, and
// refuses each file that two readers could take for two pictures: one that goes
// on after its end, or that holds more than one frame. A picture is paid for by
// its pixels; what understates them is paid for by us.
//
// It knows JPEG, PNG, GIF and WebP, from their specifications. Pixels, colours
// and prices belong elsewhere.
package picture

import "errors"

// Why a file is refused. None of them repeats what the file holds.
var (
	// ErrMalformed is a file that isn't built as its media type's are.
	ErrMalformed = errors.New("it is not built as a picture of its media_type is")
	// ErrFrames is an animation, or a second picture inside the first.
	ErrFrames = errors.New("it holds more than one frame")
	// ErrTrailing is a file with bytes after the picture's end.
	ErrTrailing = errors.New("it goes on after the picture's end")
)

// Size is a picture's sides in pixels, 0 to 131070.
type Size struct{ Width, Height int }

// grow takes the longer of each side.
func (s *Size) grow(o Size) {
	s.Width, s.Height = max(s.Width, o.Width), max(s.Height, o.Height)
}

// Measure walks a whole file of the media type, "image/jpeg" for example. Where
// a file states its sides several times (a canvas and the frame on it), each
// side is the longest of them. The error is one of this package's.
func Measure(mediaType string, file []byte) (Size, error) {
	c := &cursor{rest: file}
	switch mediaType {
	case "image/jpeg":
		return c.jpeg()
	case "image/png":
		return c.png()
	case "image/gif":
		return c.gif()
	case "image/webp":
		return c.webp()
	}
	return Size{}, ErrMalformed
}

// cursor reads a file from its front. Once something was missing it is short,
// and gives zeros.
type cursor struct {
	rest  []byte
	short bool
}

// take gives the next n bytes, or n zeros when there are fewer and n is small.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.short, c.rest = true, nil
		return make([]byte, max(0, min(n, 16)))
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) byte() byte { return c.take(1)[0] }

// ended is the verdict on what follows a picture's end.
func (c *cursor) ended(s Size) (Size, error) {
	if c.short {
		return Size{}, ErrMalformed
	}
	if len(c.rest) > 0 {
		return Size{}, ErrTrailing
	}
	return s, nil
}
