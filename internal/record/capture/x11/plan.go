package x11

import (
	"image"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

const (
	// requestCost is what one fetch costs beside its pixels, in pixels: a
	// round through the server against the copy and the conversion.
	requestCost = 8192
	// maxRects bounds the work of planning; a finer damage becomes its box.
	maxRects = 48
)

// plan turns damage into the rectangles to fetch: on the chroma grid, inside
// bounds, near ones joined. Their pixels together are never more than those
// of bounds.
func plan(damage []image.Rectangle, bounds image.Rectangle) []image.Rectangle {
	var box image.Rectangle
	rects := make([]image.Rectangle, 0, len(damage))
	for _, r := range damage {
		if r = pixel.Align(r, bounds); r.Empty() {
			continue
		}
		rects = append(rects, r)
		box = box.Union(r)
	}
	if len(rects) > maxRects {
		return []image.Rectangle{box}
	}
	rects = join(rects)
	if total(rects) >= area(box) {
		return []image.Rectangle{box}[:min(1, len(rects))]
	}
	return rects
}

// join merges two rectangles for as long as their box costs no more than both.
func join(rects []image.Rectangle) []image.Rectangle {
	for i := 0; i < len(rects); i++ {
		for j := i + 1; j < len(rects); j++ {
			both := rects[i].Union(rects[j])
			if area(both) > area(rects[i])+area(rects[j])+requestCost {
				continue
			}
			rects[i] = both
			rects = append(rects[:j], rects[j+1:]...)
			j = i // the larger one may now be near to others
		}
	}
	return rects
}

func area(r image.Rectangle) int { return r.Dx() * r.Dy() }

func total(rects []image.Rectangle) int {
	sum := 0
	for _, r := range rects {
		sum += area(r)
	}
	return sum
}
