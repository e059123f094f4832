package still

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// Picture is a decoded frame: 8-bit planes, chroma at half the size in both
// directions (I420). Sizes are the detector's.
type Picture struct {
	Y, U, V          []byte
	YStride, CStride int // bytes from one row to the next
}

// ErrPicture says that a picture's planes are smaller than the film's size.
var ErrPicture = errors.New("the picture is smaller than the film")

// Detector finds changes by comparing decoded frames, one after the other, in
// blocks of 16x16 pixels. Each block is compared with what it showed when it
// changed last, so that a slow fade is a change in the end; memory is one
// picture, whatever the film's length.
type Detector struct {
	w, h   int
	ref    Picture
	begun  bool
	last   int64 // tick of the last picture
	hits   []hit // of the current picture
	runs   []run
	out    *collector
	change thresholds
}

// NewDetector begins the analysis of a film of w by h pixels. fps is the
// recording's grid.
func NewDetector(w, h, fps int) *Detector {
	cw, ch := (w+1)/2, (h+1)/2
	return &Detector{
		w: w, h: h, out: newCollector(fps), change: calibrated(),
		ref: Picture{Y: make([]byte, w*h), U: make([]byte, cw*ch), V: make([]byte, cw*ch), YStride: w, CStride: cw},
	}
}

// Add takes the picture that is shown from the time at on. Times rise; of two
// pictures in one tick of the grid the later one is taken a tick later. The
// planes are the caller's again when it returns.
func (d *Detector) Add(at time.Duration, p Picture) error {
	if !p.holds(d.w, d.h) {
		return ErrPicture
	}
	tick := d.out.tick(at)
	if d.begun {
		tick = max(tick, d.last+1)
	}
	d.last = tick
	if !d.begun {
		d.begun = true
		d.copyAll(p)
		return nil
	}
	d.compare(p)
	if len(d.hits) > 0 {
		d.out.add(tick, d.boxes(p))
	}
	return nil
}

// Finish ends the analysis of a film of the given length.
func (d *Detector) Finish(length time.Duration) Analysis { return d.out.finish(length) }

// FromFrames reads raw I420 frames of w by h pixels from r, fps of them a
// second (what ffmpeg writes with -f rawvideo -pix_fmt yuv420p -r fps), until
// its end. A frame that is cut short ends the film like its end.
func FromFrames(r io.Reader, w, h, fps int) (Analysis, error) {
	cw, ch := (w+1)/2, (h+1)/2
	buf := make([]byte, w*h+2*cw*ch)
	p := Picture{Y: buf[:w*h], U: buf[w*h : w*h+cw*ch], V: buf[w*h+cw*ch:], YStride: w, CStride: cw}
	d := NewDetector(w, h, fps)
	for n := int64(0); ; n++ {
		_, err := io.ReadFull(r, buf)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return d.Finish(d.out.time(n)), nil
		}
		if err != nil {
			return Analysis{}, fmt.Errorf("read frame %d: %w", n, err)
		}
		if err := d.Add(d.out.time(n), p); err != nil {
			return Analysis{}, fmt.Errorf("compare frame %d: %w", n, err)
		}
	}
}

// holds says whether the planes are large enough.
func (p Picture) holds(w, h int) bool {
	cw, ch := (w+1)/2, (h+1)/2
	c := (ch-1)*p.CStride + cw
	return w > 0 && h > 0 && p.YStride >= w && p.CStride >= cw &&
		len(p.Y) >= (h-1)*p.YStride+w && len(p.U) >= c && len(p.V) >= c
}

func (d *Detector) copyAll(p Picture) {
	for y := range d.h {
		copy(d.ref.Y[y*d.w:][:d.w], p.Y[y*p.YStride:])
	}
	for y := range (d.h + 1) / 2 {
		at := y * d.ref.CStride
		copy(d.ref.U[at:][:d.ref.CStride], p.U[y*p.CStride:])
		copy(d.ref.V[at:][:d.ref.CStride], p.V[y*p.CStride:])
	}
}

// compare finds the blocks that changed and takes their new contents over.
func (d *Detector) compare(p Picture) {
	d.hits = d.hits[:0]
	for y := 0; y < d.h; y += block {
		if d.sameRow(p, y) {
			continue
		}
		for x := 0; x < d.w; x += block {
			box := d.blockAt(x, y)
			if kind := d.differs(p, box); kind != same {
				d.hits = append(d.hits, hit{box, kind})
			}
		}
	}
}

func (d *Detector) blockAt(x, y int) recording.Rect {
	return recording.Rect{X: x, Y: y, W: min(block, d.w-x), H: min(block, d.h-y)}
}

// sameRow says that a whole row of blocks is equal to the byte, as most are in
// a screen film: repeated pictures decode equal.
func (d *Detector) sameRow(p Picture, y int) bool {
	for row := y; row < min(y+block, d.h); row++ {
		if !bytes.Equal(d.ref.Y[row*d.w:][:d.w], p.Y[row*p.YStride:][:d.w]) {
			return false
		}
	}
	cw := d.ref.CStride
	for row := y / 2; row < min(y/2+block/2, (d.h+1)/2); row++ {
		if !bytes.Equal(d.ref.U[row*cw:][:cw], p.U[row*p.CStride:][:cw]) ||
			!bytes.Equal(d.ref.V[row*cw:][:cw], p.V[row*p.CStride:][:cw]) {
			return false
		}
	}
	return true
}
