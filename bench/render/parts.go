package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/studio/renderer"
	"github.com/proofreel/proofreel/internal/studio/renderer/encode"
	"github.com/proofreel/proofreel/internal/studio/renderer/stage"
)

// partCommand makes this program do a part of a render, or a whole one with
// settings that the product does not offer, in a process of its own.
const partCommand = "part"

// parts are the flags of it: exactly one of film, frames, raw and encode.
type parts struct {
	film, frames, raw, encode string
	out, preset               string
	crf                       int
}

func part(ctx context.Context, args []string) error {
	var p parts
	set := flag.NewFlagSet(partCommand, flag.ExitOnError)
	set.StringVar(&p.film, "film", "", "render this `scene`")
	set.StringVar(&p.frames, "frames", "", "draw this `scene`'s frames and throw them away")
	set.StringVar(&p.raw, "raw", "", "draw this `scene`'s frames and write them to -o")
	set.StringVar(&p.encode, "encode", "", "encode the frames in this `file`")
	set.StringVar(&p.out, "o", "", "the `file` that is made")
	set.StringVar(&p.preset, "preset", "", "x264's `preset`")
	set.IntVar(&p.crf, "crf", 0, "x264's constant rate factor")
	_ = set.Parse(args) // it exits by itself

	dir, err := os.MkdirTemp("", "bench-render-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := openStudio(dir)
	if err != nil {
		return err
	}
	defer s.Spawn.Close()
	switch {
	case p.film != "":
		_, err = s.Render(ctx, renderer.RenderOptions{Source: renderer.Source{Scene: p.film}, Out: p.out, Preset: p.preset, CRF: p.crf})
		return err //nolint:wrapcheck // it is the user's error already
	case p.frames != "":
		return drawAll(ctx, s, p.frames)
	case p.raw != "":
		return writeAll(ctx, s, p.raw, p.out)
	case p.encode != "":
		return encodeFile(ctx, s, dir, p)
	default:
		return errors.New("part wants -film, -frames, -raw or -encode")
	}
}

func openStudio(dir string) (*renderer.Studio, error) {
	program, err := ffmpeg.Find()
	if err != nil {
		return nil, fmt.Errorf("find ffmpeg: %w", err)
	}
	browser, err := chromium.Find(nil)
	if err != nil {
		return nil, fmt.Errorf("find the browser: %w", err)
	}
	cache, err := os.UserCacheDir() // where the product has its fonts too: they are unpacked once
	if err != nil {
		return nil, fmt.Errorf("find the place for the fonts: %w", err)
	}
	return &renderer.Studio{
		FFmpeg: program, Browser: browser, Spawn: proc.NewSpawner(), State: dir,
		Cache: filepath.Join(cache, "proofreel"), Log: slog.New(slog.DiscardHandler),
	}, nil
}

// drawAll draws as a render does, with all workers, in stretches as the encoder
// wants them, and does nothing with the frames.
func drawAll(ctx context.Context, s *renderer.Studio, path string) error {
	st, err := s.Open(ctx, renderer.Source{Scene: path})
	if err != nil {
		return fmt.Errorf("open the scene: %w", err)
	}
	stretches := encode.Stretches(frames, fps)
	queue := make(chan encode.Stretch, len(stretches))
	for _, one := range stretches {
		queue <- one
	}
	close(queue)
	errs := make([]error, st.Workers())
	var wg sync.WaitGroup
	for worker := range errs {
		wg.Go(func() {
			for one := range queue {
				if errs[worker] == nil {
					errs[worker] = st.Frames(ctx, worker, one.From, one.To, func(int, stage.Frame) error { return nil })
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, st.Close())...)
}

// writeAll writes the exact frames one behind the other, as BGRX.
func writeAll(ctx context.Context, s *renderer.Studio, path, out string) error {
	st, err := s.Open(ctx, renderer.Source{Scene: path, Workers: 1})
	if err != nil {
		return fmt.Errorf("open the scene: %w", err)
	}
	defer func() { _ = st.Close() }()
	if n := st.Meta().Frames(); n != frames {
		return fmt.Errorf("the scene has %d frames, want %d", n, frames)
	}
	f, err := os.Create(out)
	if err != nil {
		return fmt.Errorf("make the file: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = st.Frames(ctx, 0, 0, frames, func(_ int, p stage.Frame) error {
		for y := range p.Height {
			if _, err := w.Write(p.Pix[y*p.Stride : y*p.Stride+4*p.Width]); err != nil {
				return fmt.Errorf("write a frame: %w", err)
			}
		}
		return nil
	})
	return errors.Join(err, w.Flush(), f.Close())
}

// encodeFile encodes frames that are in a file, by our encoder.
func encodeFile(ctx context.Context, s *renderer.Studio, dir string, p parts) error {
	f, err := os.Open(p.encode)
	if err != nil {
		return fmt.Errorf("open the frames: %w", err)
	}
	defer func() { _ = f.Close() }()
	const size = 4 * width * height
	raw, err := unix.Mmap(int(f.Fd()), 0, frames*size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map the frames: %w", err)
	}
	defer func() { _ = unix.Munmap(raw) }()
	_, err = encode.Film(ctx, encode.Options{
		Width: width, Height: height, FPS: fps, Frames: frames, Preset: p.preset, CRF: p.crf,
		Key: "bench", Work: filepath.Join(dir, "work"), Out: p.out, FFmpeg: s.FFmpeg, Spawn: s.Spawn,
	}, fileSource(raw))
	return err //nolint:wrapcheck // it says what it was doing
}

// fileSource gives frames that are there already.
type fileSource []byte

func (fileSource) Workers() int { return runtime.GOMAXPROCS(0) }

func (s fileSource) Frames(ctx context.Context, _, from, to int, use func(int, encode.Frame) error) error {
	const size = 4 * width * height
	for n := from; n < to; n++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read the frames: %w", err)
		}
		if err := use(n, encode.Frame{Pix: s[n*size : (n+1)*size], Stride: 4 * width, Width: width, Height: height}); err != nil {
			return err
		}
	}
	return nil
}

// truth makes the exact frames of a scene, in memory when there is room: then
// reading them costs no disk.
func (b *bench) truth(ctx context.Context, scene string) (string, error) {
	dir := b.work
	var room unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &room); err == nil && room.Bavail*uint64(room.Bsize) > 4*frames*4*width*height {
		dir = "/dev/shm"
	}
	path := filepath.Join(dir, fmt.Sprintf("bench-render-%d.bgrx", os.Getpid()))
	if err := run(ctx, "", b.self, partCommand, "-raw", filepath.Join(b.scenes, scene+".js"), "-o", path); err != nil {
		_ = os.Remove(path)
		return "", err
	}
	return path, nil
}
