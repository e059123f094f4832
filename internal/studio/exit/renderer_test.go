package exit_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/studio/exit"
	"github.com/proofreel/proofreel/internal/studio/renderer/encode"
)

// gradient is a scene: a bar that moves, and rests for a second.
type gradient struct{ w, h, fps int }

func (g gradient) Workers() int { return 2 }

func (g gradient) Frames(_ context.Context, _, from, to int, use func(int, encode.Frame) error) error {
	pix := make([]byte, 4*g.w*g.h)
	for n := from; n < to; n++ {
		at := min(n, g.fps)
		for i := range g.w * g.h {
			x, y := i%g.w, i/g.w
			pix[4*i], pix[4*i+1], pix[4*i+2] = byte(x+at), byte(y), byte((x+7*at)/3)
		}
		if err := use(n, encode.Frame{Pix: pix, Stride: 4 * g.w, Width: g.w, Height: g.h}); err != nil {
			return err
		}
	}
	return nil
}

// What the renderer makes is what is let out, in each of its qualities: an
// author that does as it is told must not be refused.
func TestRenderedFilmsLeave(t *testing.T) {
	t.Parallel()
	spawn := proc.NewSpawner()
	t.Cleanup(spawn.Close)
	want := exit.Want{Width: 320, Height: 180, FPS: 30, Seconds: 3, MaxBytes: exit.MaxBytes}
	for _, quality := range profile.Qualities() {
		t.Run(string(quality), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
				t.Fatal(err)
			}
			made, err := encode.Film(t.Context(), encode.Options{
				Width: want.Width, Height: want.Height, FPS: want.FPS, Frames: 90, Quality: quality, Key: "test",
				Work: t.TempDir(), Out: filepath.Join(dir, exit.FilmName), Poster: filepath.Join(dir, exit.PosterName),
				FFmpeg: mediatest.FFmpeg(t), Spawn: spawn,
			}, gradient{want.Width, want.Height, want.FPS})
			if err != nil {
				t.Fatal(err)
			}
			work, err := os.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer work.Close()
			want := want
			want.PosterFrame = made.PosterFrame
			for _, mode := range exit.Modes() {
				p, err := exit.Leave(t.Context(), exit.Config{
					Work: work, Owner: uint32(os.Getuid()), Want: want, Mode: mode,
					Runner: exit.Insecure(t), FFmpeg: mediatest.FFmpeg(t),
					Film: filepath.Join(t.TempDir(), "film.mp4"), Poster: filepath.Join(t.TempDir(), "poster.jpg"),
				})
				if err != nil {
					t.Errorf("%s: %v", mode, err)
				}
				t.Logf("%s: %+v", mode, p)
			}
		})
	}
}
