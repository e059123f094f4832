package clip

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/pixel"
)

// fed is a sample that the decoder gets. Only wanted ones come back.
type fed struct {
	sample int
	wanted bool
}

// decodeError says that the film does not decode.
type decodeError struct{ err error }

func (e *decodeError) Error() string { return "decode the film: " + e.err.Error() }

func (e *decodeError) Unwrap() error { return e.err }

// decode gives the wanted pictures, scaled to size, one after the other. The
// frame is the caller's until each returns.
//
// The decoder gets fragmented MP4 in which a sample's time says whether it is
// wanted: odd ones are. It drops the others before it scales.
func (m *maker) decode(ctx context.Context, list []fed, size image.Point, each func(*pixel.Frame) error) error {
	frame, err := pixel.NewFrame(size.X, size.Y)
	if err != nil {
		return fmt.Errorf("make room for a frame: %w", err)
	}
	filter := `select=mod(round(pts/1000)\,2)`
	if t := m.src.track; size.X != t.Width || size.Y != t.Height {
		filter += fmt.Sprintf(",scale=%d:%d:flags=bicubic", size.X, size.Y)
	}
	run, err := m.start(ctx, "decoder",
		"-threads", "1", "-copyts", "-err_detect", "explode", "-f", "mp4", "-i", "pipe:0", "-fps_mode", "passthrough", "-vf", filter,
		"-pix_fmt", "yuv420p", "-f", "rawvideo", "pipe:1")
	if err != nil {
		return err
	}
	go func() { run.fed <- m.feed(run.in, list) }()
	want := 0
	for _, f := range list {
		if f.wanted {
			want++
		}
	}
	for n := range want {
		if _, err = io.ReadFull(run.out, frame.Data); err != nil {
			err = fmt.Errorf("picture %d of %d: %w", n+1, want, err)
			break
		}
		if err := each(frame); err != nil {
			run.child.Kill()
			_ = run.end() // the cause is known
			return err
		}
	}
	if err == nil {
		if n, _ := io.Copy(io.Discard, run.out); n > 0 {
			err = fmt.Errorf("%d bytes more than %d pictures", n, want)
		}
	}
	if failed := errors.Join(err, run.end()); failed != nil {
		return &decodeError{failed}
	}
	return nil
}

// feed writes samples to the decoder.
func (m *maker) feed(w io.WriteCloser, list []fed) (err error) {
	defer func() { err = errors.Join(err, w.Close()) }()
	out, err := mp4.NewFragmentWriter(w, m.src.track)
	if err != nil {
		return fmt.Errorf("begin to feed: %w", err)
	}
	var au []byte
	for i, f := range list {
		s := m.src.samples[f.sample]
		if au, err = m.src.read(f.sample, au[:0]); err != nil {
			return err
		}
		tick := int64(2 * i)
		if f.wanted {
			tick++
		}
		if err := out.Write(tick, s.Key, au); err != nil {
			return fmt.Errorf("feed sample %d: %w", f.sample, err)
		}
	}
	return nil
}

// running is an ffmpeg between two pipes.
type running struct {
	child *proc.Child
	tail  *ffmpeg.Tail
	in    *os.File   // what it reads; closed by whoever feeds it
	out   *os.File   // what it writes
	fed   chan error // how feeding it ended

	unwatch func() bool // of the context that kills it
}

// start starts ffmpeg. It is killed when ctx ends.
func (m *maker) start(ctx context.Context, role string, args ...string) (*running, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the pipe of the %s: %w", role, err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		_, _ = childIn.Close(), in.Close()
		return nil, fmt.Errorf("make the pipe of the %s: %w", role, err)
	}
	r := &running{tail: ffmpeg.NewTail(8), in: in, out: out, fed: make(chan error, 1)}
	r.child, err = m.Deps.Spawn.Start(proc.Command{
		Role: role, Path: m.Deps.FFmpeg, Args: append([]string{"-hide_banner", "-nostats", "-v", "error", "-y"}, args...),
		Stdin: childIn, Stdout: childOut, Stderr: r.tail,
	})
	_, _ = childIn.Close(), childOut.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err //nolint:wrapcheck // it says what it was doing
	}
	r.unwatch = context.AfterFunc(ctx, r.child.Kill)
	return r, nil
}

// end waits for the process and for what feeds it. Whatever ffmpeg complains
// of is an error; that it stopped reading is told by its own words.
func (r *running) end() error {
	_ = r.out.Close()
	err := r.child.Err()
	r.unwatch()
	fed := <-r.fed
	switch text := r.tail.String(); {
	case text != "":
		return errors.New(text)
	case err != nil:
		return fmt.Errorf("ffmpeg ended: %w", err)
	default:
		return fed
	}
}
