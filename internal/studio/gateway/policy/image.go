package policy

import (
	"encoding/base64"
	"errors"

	"github.com/proofreel/proofreel/internal/studio/gateway/picture"
	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// picture checks and writes a picture's data.
func (w *walk) picture(v strictjson.Value) *RefusalError {
	if len(w.req.Images) >= w.limits.Images {
		return refuse("image_count", "more than %d pictures", w.limits.Images)
	}
	if n := base64.StdEncoding.DecodedLen(len(v.Text)); n > w.limits.ImageSize+2 {
		return refuse("image_size", "a picture of %d bytes; at most %d", n, w.limits.ImageSize)
	}
	if !v.Base64 && !strictjson.IsBase64(v.Text) {
		return refuse("image_base64", "it is not base64 with its padding and without spaces")
	}
	size, err := w.measure(v.Text)
	switch {
	case errors.Is(err, picture.ErrFrames):
		return refuse("image_frames", "%v", err)
	case errors.Is(err, picture.ErrTrailing):
		return refuse("image_end", "%v", err)
	case err != nil:
		return refuse("image_header", "%v", err)
	case size.Width < 1 || size.Height < 1 || max(size.Width, size.Height) > w.limits.ImageSide:
		return refuse("image_side", "%d x %d pixels; a side may have 1 to %d", size.Width, size.Height, w.limits.ImageSide)
	}
	w.req.Images = append(w.req.Images, size)
	w.imageBytes += int64(len(v.Text))
	// Of the alphabet only: there is nothing to escape, and nothing is copied.
	w.out = append(w.out, '"')
	w.req.inserts = append(w.req.inserts, insert{len(w.out), v.Text})
	w.out = append(w.out, '"')
	return nil
}

// measure walks the whole file: what is paid for is told by its frames, which
// need not be what its header says.
func (w *walk) measure(text []byte) (picture.Size, error) {
	file, err := base64.StdEncoding.AppendDecode((*w.file)[:0], text)
	if err != nil {
		return picture.Size{}, picture.ErrMalformed
	}
	*w.file = file
	return picture.Measure(w.parent.Str("media_type"), file) //nolint:wrapcheck // the rules tell them apart
}
