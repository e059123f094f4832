package beacon

import "math"

// minModule is the narrowest cell that is looked for, in pixels.
const minModule = 3

// plane is a checked luma plane: every row of w samples lies inside pix.
type plane struct {
	pix          []byte
	w, h, stride int
}

// strip is where a strip lies: x0 and x1 are the outer edges of its fiducials, y0
// to y1 (exclusive) the height of its two rows.
type strip struct {
	x0, x1 float64
	y0, y1 int
}

// locate walks the rows from start towards end (exclusive) and returns the first
// strip. Every second row is enough, for a strip is at least four rows high.
func (p plane) locate(start, end, direction int) (strip, bool) {
	runs := make([]run, 0, 128)
	for y := start; (end-y)*direction > 0; y += 2 * direction {
		runs = p.runs(y, runs[:0])
		if s, ok := p.pair(y, runs); ok {
			return s, true
		}
	}
	return strip{}, false
}

// run is a stretch of a row on one side of the threshold.
type run struct {
	start, end int
	dark       bool
}

// runs splits row y at the middle between its darkest and its lightest sample,
// after a three-sample mean that keeps single noisy pixels from cutting a cell.
// A row without contrast has no runs.
func (p plane) runs(y int, out []run) []run {
	row := p.pix[y*p.stride : y*p.stride+p.w]
	low, high := row[0], row[0]
	for _, v := range row {
		low, high = min(low, v), max(high, v)
	}
	if int(high)-int(low) < minContrast {
		return out
	}
	threshold := 3 * (int(low) + int(high)) / 2
	current := run{}
	for x := range row {
		sum := int(row[max(x-1, 0)]) + int(row[x]) + int(row[min(x+1, p.w-1)])
		dark := sum < threshold
		if x == 0 {
			current.dark = dark
		}
		if dark == current.dark {
			continue
		}
		current.end = x
		out = append(out, current)
		current = run{start: x, dark: dark}
	}
	current.end = p.w
	return append(out, current)
}

// maxCandidates bounds the pairs that are tried in one row of foreign content.
const maxCandidates = 64

// pair looks for two fiducials in a row that stand as far apart as their own size
// says, and measures how high they are.
func (p plane) pair(y int, runs []run) (strip, bool) {
	var found []run
	for i := 0; i+4 < len(runs) && len(found) < maxCandidates; i++ {
		if isFiducial(runs[i : i+5]) {
			found = append(found, run{start: runs[i].start, end: runs[i+4].end})
		}
	}
	for i, left := range found {
		for _, right := range found[i+1:] {
			module := float64(right.end-left.start) / span
			if !isWide(left, module) || !isWide(right, module) {
				continue
			}
			if s, ok := p.measure(y, left, right); ok {
				return s, true
			}
		}
	}
	return strip{}, false
}

func isFiducial(r []run) bool {
	if !r[0].dark {
		return false
	}
	module := float64(r[4].end-r[0].start) / fiducialCells
	if module < minModule {
		return false
	}
	for i, want := range [5]float64{1, 1, 3, 1, 1} {
		if math.Abs(float64(r[i].end-r[i].start)-want*module) > max(0.4*module, 1.5) {
			return false
		}
	}
	return true
}

func isWide(r run, module float64) bool {
	return math.Abs(float64(r.end-r.start)-fiducialCells*module) <= max(0.1*fiducialCells*module, 2)
}

// measure follows the dark middles of both fiducials up and down from row y.
func (p plane) measure(y int, left, right run) (strip, bool) {
	l0, l1 := p.column(y, left)
	r0, r1 := p.column(y, right)
	height := l1 - l0
	slack := max(height/4, 2)
	if height < 4 || abs(l0-r0) > slack || abs(l1-r1) > slack {
		return strip{}, false
	}
	return strip{
		x0: float64(left.start), x1: float64(right.end),
		y0: (l0 + r0) / 2, y1: (l1 + r1 + 1) / 2,
	}, true
}

// column follows the dark middle of a fiducial from row y to its ends, exclusive.
func (p plane) column(y int, fiducial run) (y0, y1 int) {
	width := fiducial.end - fiducial.start
	centre := (fiducial.start + fiducial.end) / 2
	half := max(width/fiducialCells/2, 1)
	middle := func(y int) float64 { return p.mean(centre-half, centre+half, y, y+1) }
	// Row y may be the strip's blurred edge, so black is taken from the darkest row
	// near it; white from the cell left of the middle.
	dark := middle(y)
	for near := max(y-2, 0); near <= min(y+2, p.h-1); near++ {
		dark = min(dark, middle(near))
	}
	threshold := (dark + p.mean(fiducial.start+width*5/28, fiducial.start+width*7/28, y, y+1)) / 2
	y0, y1 = y, y+1
	for y0 > 0 && middle(y0-1) < threshold {
		y0--
	}
	for y1 < p.h && middle(y1) < threshold {
		y1++
	}
	return y0, y1
}

// mean averages a rectangle, clipped to the plane and at least one sample large.
func (p plane) mean(x0, x1, y0, y1 int) float64 {
	x0, y0 = clamp(x0, 0, p.w-1), clamp(y0, 0, p.h-1)
	x1, y1 = clamp(x1, x0+1, p.w), clamp(y1, y0+1, p.h)
	sum := 0
	for y := y0; y < y1; y++ {
		for _, v := range p.pix[y*p.stride+x0 : y*p.stride+x1] {
			sum += int(v)
		}
	}
	return float64(sum) / float64((x1-x0)*(y1-y0))
}

func clamp(v, low, high int) int { return max(low, min(v, high)) }

func abs(v int) int { return max(v, -v) }
