package encode

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/media/profile"
)

// ring gives frames that were drawn before, over and over: what is measured is
// all but the drawing.
type ring struct {
	frames  []Frame
	workers int
}

func (r ring) Workers() int { return r.workers }

func (r ring) Frames(ctx context.Context, _, from, to int, use func(int, Frame) error) error {
	for n := from; n < to; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := use(n, r.frames[n%len(r.frames)]); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkFilm makes a film of 5 s at 1920x1080, 30 frames a second, of frames
// that all change ("moving"), and of frames of which nine in ten equal the one
// before ("still"). Reported are frames a second and CPU milliseconds a frame:
// ours, and that of the encoders and the verifier.
func BenchmarkFilm(b *testing.B) {
	const w, h, frames = 1920, 1080, 150
	var moved []Frame
	for n := range 12 {
		c := canvas{w: w, h: h, stride: 4 * w, pix: make([]byte, 4*w*h)}
		moving(c, 40*n)
		moved = append(moved, Frame{Pix: c.pix, Stride: c.stride, Width: w, Height: h})
	}
	var still []Frame
	for i := range 120 {
		still = append(still, moved[i/10])
	}
	for _, c := range []struct {
		name     string
		frames   []Frame
		quality  profile.Quality
		parallel int
	}{
		{"moving/draft", moved, profile.Draft, 2},
		{"moving/standard", moved, profile.Standard, 2},
		{"moving/standard/1", moved, profile.Standard, 1},
		{"moving/high", moved, profile.High, 2},
		{"still/standard", still, profile.Standard, 2},
	} {
		b.Run(c.name, func(b *testing.B) {
			spawn := proc.NewSpawner()
			defer spawn.Close()
			dir := b.TempDir()
			o := Options{
				Width: w, Height: h, FPS: 30, Frames: frames, Quality: c.quality, Key: "bench", Parallel: c.parallel,
				Work: filepath.Join(dir, "work"), Out: filepath.Join(dir, "out.mp4"),
				FFmpeg: mediatest.FFmpeg(b), Spawn: spawn, Log: slog.New(slog.DiscardHandler),
			}
			began, own, children := time.Now(), cpu(b, unix.RUSAGE_SELF), cpu(b, unix.RUSAGE_CHILDREN)
			for i := range b.N {
				o.Key = fmt.Sprint("bench ", i)
				if _, err := Film(context.Background(), o, ring{c.frames, c.parallel}); err != nil {
					b.Fatal(err)
				}
			}
			n := float64(b.N * frames)
			b.ReportMetric(n/time.Since(began).Seconds(), "frames/s")
			b.ReportMetric((cpu(b, unix.RUSAGE_SELF)-own)*1000/n, "own-ms/frame")
			b.ReportMetric((cpu(b, unix.RUSAGE_CHILDREN)-children)*1000/n, "ffmpeg-ms/frame")
		})
	}
}

// cpu is the CPU time spent so far, in seconds.
func cpu(b *testing.B, who int) float64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
