package clip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/mp4"
)

// errUnfit says that the finished video is not what was planned.
var errUnfit = errors.New("the finished video is not what was planned")

// check decodes the finished video and holds it against the plan.
func (m *maker) check(ctx context.Context, r *rendered) error {
	if m.Format == WebP {
		return checkWebP(r)
	}
	run, err := m.start(ctx, "verifier", "-err_detect", "explode", "-i", r.path, "-map", "0:v:0",
		"-progress", "pipe:1", "-fps_mode", "passthrough", "-f", "null", "-")
	if err != nil {
		return err
	}
	_ = run.in.Close()
	run.fed <- nil
	var last ffmpeg.Progress
	rerr := ffmpeg.ReadProgress(run.out, func(p ffmpeg.Progress) { last = p })
	_, _ = io.Copy(io.Discard, run.out)
	if err := errors.Join(run.end(), rerr); err != nil {
		return fmt.Errorf("%w: it does not decode: %w", errUnfit, err)
	}
	if last.Frame != r.sent {
		return fmt.Errorf("%w: it has %d frames, %d were encoded", errUnfit, last.Frame, r.sent)
	}
	if m.Format != MP4 {
		return nil
	}
	info, err := mp4.Inspect(r.path)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnfit, err)
	}
	got := time.Duration(info.Duration.Seconds() * float64(time.Second))
	off := (got - r.plan.Length()).Abs()
	switch {
	case off > r.plan.Time(1):
		return fmt.Errorf("%w: it lasts %v, the plan %v", errUnfit, got, r.plan.Length())
	case info.Width != r.size.X || info.Height != r.size.Y:
		return fmt.Errorf("%w: it has %dx%d pixels, not %dx%d", errUnfit, info.Width, info.Height, r.size.X, r.size.Y)
	case !info.MoovBeforeMdat || info.Fragmented:
		return fmt.Errorf("%w: its index is not at the front", errUnfit)
	case info.Colour.Matrix != 1 || info.Colour.Primaries != 1 || info.Colour.Transfer != 1 || info.Colour.FullRange:
		return fmt.Errorf("%w: its colours are tagged %+v", errUnfit, info.Colour)
	}
	return nil
}
