package still

import "github.com/proofreel/proofreel/internal/media/recording"

// Boxes of one frame that are this near to each other belong together: the
// digits of one clock, the lines of one glyph.
const (
	nearX = 24
	nearY = 8
	// manyBoxes bounds the work of joining; more become one.
	manyBoxes = 64
)

func union(a, b recording.Rect) recording.Rect {
	if a.W <= 0 || a.H <= 0 {
		return b
	}
	if b.W <= 0 || b.H <= 0 {
		return a
	}
	x, y := min(a.X, b.X), min(a.Y, b.Y)
	return recording.Rect{X: x, Y: y, W: max(a.X+a.W, b.X+b.W) - x, H: max(a.Y+a.H, b.Y+b.H) - y}
}

// common is the part that two boxes share; its sizes are not positive when
// there is none.
func common(a, b recording.Rect) recording.Rect {
	x, y := max(a.X, b.X), max(a.Y, b.Y)
	return recording.Rect{X: x, Y: y, W: min(a.X+a.W, b.X+b.W) - x, H: min(a.Y+a.H, b.Y+b.H) - y}
}

func near(a, b recording.Rect, dx, dy int) bool {
	c := common(a, b)
	return c.W >= -dx && c.H >= -dy
}

func within(r recording.Rect, w, h int) bool { return r.W <= w && r.H <= h }

// alike says that no edge of one box is more than slack pixels from the other's.
func alike(a, b recording.Rect, slack int) bool {
	return abs(a.X-b.X) <= slack && abs(a.Y-b.Y) <= slack &&
		abs(a.X+a.W-b.X-b.W) <= slack && abs(a.Y+a.H-b.Y-b.H) <= slack
}

func abs(n int) int { return max(n, -n) }

// bounds is the box around all boxes.
func bounds(boxes []recording.Rect) recording.Rect {
	var all recording.Rect
	for _, b := range boxes {
		all = union(all, b)
	}
	return all
}

// joinNear joins boxes that are near to each other. It may use the slice.
func joinNear(boxes []recording.Rect) []recording.Rect {
	if len(boxes) > manyBoxes {
		return append(boxes[:0], bounds(boxes))
	}
	for i := 0; i < len(boxes); i++ {
		for j := i + 1; j < len(boxes); j++ {
			if near(boxes[i], boxes[j], nearX, nearY) {
				boxes[i] = union(boxes[i], boxes[j])
				boxes = append(boxes[:j], boxes[j+1:]...)
				j = i // the larger one may now be near to others
			}
		}
	}
	return boxes
}

// cover adds a box to a list that is kept at most most long: the two boxes
// whose union wastes least become one.
func cover(list []recording.Rect, b recording.Rect, most int) []recording.Rect {
	for i, have := range list {
		if union(have, b) == have {
			return list
		}
		if union(have, b) == b {
			list[i] = b
			return list
		}
	}
	if list = append(list, b); len(list) <= most {
		return list
	}
	bi, bj, least := 0, 1, -1
	for i := range list {
		for j := i + 1; j < len(list); j++ {
			u := union(list[i], list[j])
			waste := u.W*u.H - list[i].W*list[i].H - list[j].W*list[j].H
			if least == -1 || waste < least {
				bi, bj, least = i, j, waste
			}
		}
	}
	list[bi] = union(list[bi], list[bj])
	return append(list[:bj], list[bj+1:]...)
}
