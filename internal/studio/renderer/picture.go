package renderer

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proofreel/proofreel/internal/studio/renderer/stage"
)

// jpegQuality of stills and sheets that are asked for as JPEG.
const jpegQuality = 92

// picture copies a frame, whose memory is only lent, as an opaque image.
func picture(f stage.Frame) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, f.Width, f.Height))
	for y := range f.Height {
		src := f.Pix[y*f.Stride : y*f.Stride+4*f.Width]
		dst := img.Pix[y*img.Stride : y*img.Stride+4*f.Width]
		for x := 0; x+3 < len(src); x += 4 {
			dst[x], dst[x+1], dst[x+2], dst[x+3] = src[x+2], src[x+1], src[x], 0xFF
		}
	}
	return img
}

// pictureEnds are the endings of pictures' names that are written.
func pictureEnds() []string { return []string{".png", ".jpg", ".jpeg"} }

// isPicture tells whether a path names a picture's file.
func isPicture(path string) bool {
	return slices.Contains(pictureEnds(), strings.ToLower(filepath.Ext(path)))
}

// encodePicture writes a picture in the format of its file's name.
func encodePicture(path string, img image.Image) ([]byte, error) {
	var raw bytes.Buffer
	w := bufio.NewWriter(&raw)
	var err error
	if strings.EqualFold(filepath.Ext(path), ".png") {
		// The best compression takes three times as long for a tenth.
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, img)
	} else {
		err = jpeg.Encode(w, img, &jpeg.Options{Quality: jpegQuality})
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", path, err)
	}
	return raw.Bytes(), nil
}
