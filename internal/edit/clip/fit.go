package clip

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/proofreel/proofreel/internal/fault"
)

// level is how much of the size and the rate is given up for --max-size.
type level struct{ width, fps float64 }

// levels, from the best to the worst. Quality goes first, as far as text can
// be read; then pixels and frames.
func levels() []level { return []level{{1, 1}, {0.75, 1}, {0.5, 0.67}, {0.375, 0.53}, {0.25, 0.34}} }

const (
	readable  = 42 // crf over which small text can't be read
	worst     = 51
	attempts  = 6    // at one level
	filled    = 0.82 // of the limit: a video this large is not tried again
	crfHalves = 6.0  // steps of crf that halve a size, about
)

// fit makes the video, not larger than MaxSize when there is one.
func (m *maker) fit(ctx context.Context) (*rendered, error) {
	asked := setting{m.src.size(m.Width).X, m.FPS, m.crf()}
	if m.MaxSize == 0 {
		return m.render(ctx, asked, "clip", 0)
	}
	smallest := int64(math.MaxInt64)
	all := levels()
	for i, l := range all {
		s := asked
		s.width = max(int(float64(asked.width)*l.width)&^1, min(asked.width, 64))
		s.fps = max(int(math.Round(float64(asked.fps)*l.fps)), min(asked.fps, 3))
		limit := readable
		if i == len(all)-1 {
			limit = worst
		}
		if m.Format == GIF {
			limit = s.crf
		}
		if i > 0 { // what is smaller needs no more quality than what was too large
			s.crf = min(max(s.crf, 34), limit)
		}
		best, over, err := m.search(ctx, s, max(limit, s.crf))
		if err != nil {
			return nil, err
		}
		if best != nil {
			m.traded(asked, best)
			return best, nil
		}
		smallest = min(smallest, over)
	}
	return nil, fault.New(fault.SizeUnreachable, "Allow a larger --max-size, or make a shorter clip: --speed 4.",
		"the clip can't be made as small as %d bytes: at its worst it still has about %d", m.MaxSize, smallest)
}

// search looks for the best quality that fits at one level: the size falls by
// half with every six steps of crf, about, which tells where to try next. It
// gives the size nearest to the limit when none fits.
func (m *maker) search(ctx context.Context, s setting, limit int) (best *rendered, over int64, err error) {
	tooLarge := s.crf - 1
	over = math.MaxInt64
	for n := range attempts {
		r, err := m.render(ctx, s, fmt.Sprintf("clip-%d", n%2), m.MaxSize)
		var large *overError
		switch {
		case errors.As(err, &large):
			tooLarge, over = s.crf, large.bytes
			step := int(math.Ceil(crfHalves * math.Log2(float64(over)/(0.95*float64(m.MaxSize)))))
			s.crf = min(s.crf+max(step, 1), limit)
			if best != nil {
				s.crf = min(s.crf, best.crf-1)
			}
		case err != nil:
			return nil, 0, err
		default:
			if best, err = m.better(r); err != nil {
				return nil, 0, err
			}
			step := int(crfHalves * math.Log2(0.97*float64(m.MaxSize)/float64(r.bytes)))
			if float64(r.bytes) > filled*float64(m.MaxSize) || step < 1 {
				return best, 0, nil
			}
			s.crf = max(r.crf-step, tooLarge+1)
		}
		if best == nil && s.crf == tooLarge || best != nil && (s.crf >= best.crf || s.crf <= tooLarge) {
			break
		}
	}
	return best, over, nil
}

// better keeps a video while others are tried.
func (m *maker) better(r *rendered) (*rendered, error) {
	kept := m.work.path("best")
	if err := os.Rename(r.path, kept); err != nil {
		return nil, fmt.Errorf("keep a video: %w", err)
	}
	r.path = kept
	return r, nil
}

// traded tells what the limit has cost.
func (m *maker) traded(asked setting, got *rendered) {
	if got.crf == asked.crf && got.width == asked.width && got.fps == asked.fps {
		return
	}
	text := fmt.Sprintf("To stay within %d bytes:", m.MaxSize)
	if got.crf != asked.crf && m.Format != GIF {
		text += fmt.Sprintf(" crf %d in place of %d;", got.crf, asked.crf)
	}
	if got.width != asked.width {
		text += fmt.Sprintf(" %d pixels wide in place of %d;", got.width, asked.width)
	}
	if got.fps != asked.fps {
		text += fmt.Sprintf(" %d frames a second in place of %d;", got.fps, asked.fps)
	}
	m.note(text[:len(text)-1] + ".")
}
