package clip

import (
	"image"
	"time"

	"github.com/proofreel/proofreel/internal/edit/page"
)

// maxChanges is how many changes are told of one step: a page that moves makes
// one a second, and a reader wants to know where, not each.
const maxChanges = 20

// between are the changes that begin in a stretch of the recording, neighbours
// joined until there are few.
func between(all []page.Change, from, to time.Duration) []page.Change {
	var list []page.Change
	for _, c := range all {
		if c.From >= from && c.From < to {
			list = append(list, c)
		}
	}
	for len(list) > maxChanges {
		n := 0
		for i := 0; i < len(list); i += 2 {
			list[n] = list[i]
			if i+1 < len(list) {
				list[n] = join(list[i], list[i+1])
			}
			n++
		}
		list = list[:n]
	}
	return list
}

func join(a, b page.Change) page.Change {
	box := func(c page.Change) image.Rectangle { return image.Rect(c.X, c.Y, c.X+c.Width, c.Y+c.Height) }
	u := box(a).Union(box(b))
	return page.Change{From: min(a.From, b.From), To: max(a.To, b.To), X: u.Min.X, Y: u.Min.Y, Width: u.Dx(), Height: u.Dy()}
}
