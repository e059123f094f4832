package policy

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// headerBytes is how much of a picture is read for its sides. Cameras put
// thumbnails and colour profiles before a JPEG's.
const headerBytes = 512 << 10

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
	cfg, ok := sides(w.parent.Str("media_type"), v.Text)
	switch {
	case !ok:
		return refuse("image_header", "it does not begin as a picture of its media_type does")
	case cfg.Width < 1 || cfg.Height < 1 || max(cfg.Width, cfg.Height) > w.limits.ImageSide:
		return refuse("image_side", "%d x %d pixels; a side may have 1 to %d", cfg.Width, cfg.Height, w.limits.ImageSide)
	}
	w.req.Images = append(w.req.Images, Image{cfg.Width, cfg.Height})
	w.imageBytes += int64(len(v.Text))
	// Of the alphabet only: there is nothing to escape, and nothing is copied.
	w.out = append(w.out, '"')
	w.req.inserts = append(w.req.inserts, insert{len(w.out), v.Text})
	w.out = append(w.out, '"')
	return nil
}

func sides(mediaType string, data []byte) (image.Config, bool) {
	r := io.LimitReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(data)), headerBytes)
	decode := map[string]func(io.Reader) (image.Config, error){
		"image/jpeg": jpeg.DecodeConfig, "image/png": png.DecodeConfig,
		"image/gif": gif.DecodeConfig, "image/webp": webp.DecodeConfig,
	}[mediaType]
	if decode == nil {
		return image.Config{}, false
	}
	cfg, err := decode(r)
	return cfg, err == nil
}
