package overlay

import "image"

// em is the size of captions: 22 px in a clip of 1280x720, which is still read
// when a page shows the clip at half its size. Narrow clips get less.
func (t *Track) em() int {
	side := min(t.screen.Height, t.screen.Width*9/10)
	return min(max((side*61+1000)/2000, 14), 120)
}

// edge is the margin at the top and at the sides.
func (t *Track) edge() int { return even(t.em() * 16 / 20) }

// dock is the margin at the bottom that clears a taskbar (Windows: 48 of 1080
// pixels, GNOME's dash and macOS's dock: up to 80 of 900).
func (t *Track) dock() int { return even(t.screen.Height * 10 / 100) }

func (t *Track) gap() int { return even(t.em() * 7 / 20) }

func even(v int) int { return (v + 1) &^ 1 }

// place returns where a pill's body has its top left corner: even, so that
// chroma has the same edges as luma.
func (t *Track) place(i int, p *pill) (image.Point, error) {
	switch t.captions[i].Kind {
	case Skip, Speed:
		return t.corner(i, p)
	case Passed, Failed:
		return t.result(i, p)
	default:
		return t.step(i, p)
	}
}

func (t *Track) centred(p *pill, y int) image.Point {
	return image.Pt((t.screen.Width-p.size.X)/2&^1, y&^1)
}

func (t *Track) step(i int, p *pill) (image.Point, error) {
	if t.screen.Position == Top {
		return t.centred(p, t.edge()), nil
	}
	// The place of its results is kept free from the start: a step that moved
	// up when its result comes would have to be found again.
	room, c := 0, t.captions[i]
	for j, o := range t.captions {
		if slot(o.Kind) == 1 && o.In < c.Out && o.Out > c.In && t.stepOf(j) == i {
			result, err := t.pill(j)
			if err != nil {
				return image.Point{}, err
			}
			room = max(room, result.size.Y+t.gap())
		}
	}
	return t.centred(p, t.screen.Height-t.dock()-room-p.size.Y), nil
}

func (t *Track) result(i int, p *pill) (image.Point, error) {
	step := t.stepOf(i)
	if step < 0 {
		if t.screen.Position == Top {
			return t.centred(p, t.edge()), nil
		}
		return t.centred(p, t.screen.Height-t.dock()-p.size.Y), nil
	}
	above, err := t.pill(step)
	if err != nil {
		return image.Point{}, err
	}
	at, err := t.step(step, above)
	if err != nil {
		return image.Point{}, err
	}
	return t.centred(p, at.Y+above.size.Y+t.gap()), nil
}

// stepOf finds the step that is up when a result comes, or -1.
func (t *Track) stepOf(i int) int {
	c, found := t.captions[i], -1
	for j, o := range t.captions {
		if o.In > c.In {
			break
		}
		if o.Kind == Step && o.Out > c.In {
			found = j
		}
	}
	return found
}

// corner is at the right of the edge that the captions leave free. A skip
// stands beside the speed when both are up.
func (t *Track) corner(i int, p *pill) (image.Point, error) {
	x, y := t.screen.Width-t.edge()-p.size.X, t.edge()
	if t.screen.Position == Top {
		y = t.screen.Height - t.edge() - p.size.Y
	}
	c := t.captions[i]
	for j, o := range t.captions {
		if c.Kind == Skip && o.Kind == Speed && o.In < c.Out && o.Out > c.In {
			speed, err := t.pill(j)
			if err != nil {
				return image.Point{}, err
			}
			x -= speed.size.X + t.gap()
			break
		}
	}
	return image.Pt(x&^1, y&^1), nil
}
