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
	if !isBase64(v.Text) {
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
	w.out = append(append(append(w.out, '"'), v.Text...), '"') // of the alphabet only: nothing to escape
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

// isBase64 says whether s is standard base64, padded, and nothing else.
func isBase64(s []byte) bool {
	if len(s) == 0 || len(s)%4 != 0 {
		return false
	}
	for range 2 {
		s = bytes.TrimSuffix(s, []byte{'='})
	}
	var in [256]bool
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		in[c] = true
	}
	ok := true
	for len(s) >= 8 {
		ok = ok && in[s[0]] && in[s[1]] && in[s[2]] && in[s[3]] && in[s[4]] && in[s[5]] && in[s[6]] && in[s[7]]
		s = s[8:]
	}
	for _, c := range s {
		ok = ok && in[c]
	}
	return ok
}
