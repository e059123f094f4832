package encode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/statefile"
	media "github.com/proofreel/proofreel/internal/media/film"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/media/verify"
)

// install joins the stretches, verifies the film and puts it in its place.
func (f *film) install(ctx context.Context) (Result, error) {
	// Beside the film, so that the rename is one step; named after it, so that
	// what a killed render left is replaced by the next.
	part := filepath.Join(filepath.Dir(f.o.Out), "."+filepath.Base(f.o.Out)+"."+f.work.id[:8]+partSuffix)
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Result{}, atOut(err, part, "clear the film's place")
	}
	mode, err := freshMode(part)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = os.Remove(part) }() // renamed by then, or of no use
	if err := f.join(ctx, part); err != nil {
		return Result{}, err
	}
	best, jpeg, err := f.choosePoster(ctx)
	if err != nil {
		return Result{}, err
	}
	res := Result{Frames: f.o.Frames, Repeats: f.o.Frames, Stretches: len(f.stretches), Reused: f.reused, PosterFrame: best}
	for _, p := range f.pieces {
		res.Repeats -= len(p.Pictures)
	}
	if res.SHA256, res.Size, err = media.Hash(part); err != nil {
		return Result{}, err
	}
	if jpeg != nil {
		if err := renameio.WriteFile(f.o.Poster, jpeg, mode, renameio.WithTempDir(filepath.Dir(f.o.Poster))); err != nil {
			return Result{}, atOut(err, f.o.Poster, "write the poster")
		}
	}
	if err := errors.Join(os.Chmod(part, mode), os.Rename(part, f.o.Out), statefile.SyncDir(filepath.Dir(f.o.Out))); err != nil {
		return Result{}, atOut(err, f.o.Out, "put the film in its place")
	}
	return res, nil
}

// join writes the film to path and verifies it.
func (f *film) join(ctx context.Context, path string) error {
	track, segs, err := f.segments()
	if err != nil {
		return err
	}
	plan, err := media.NewPlan(track, segs, int64(f.o.Frames), media.CFR)
	if err != nil {
		return fmt.Errorf("plan the film: %w", err)
	}
	err = plan.Write(ctx, path, "", time.Time{})
	var system unix.Errno
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("put the film together: %w", context.Cause(ctx))
	case errors.As(err, &system):
		return atOut(err, path, "put the film together")
	case err != nil: // it lies in the stretches
		return f.distrust(err)
	}
	dec := verify.Decoder{FFmpeg: f.o.FFmpeg, Spawn: f.o.Spawn, Log: f.o.Log}
	err = dec.Whole(ctx, path, f.o.Parallel, verify.Want{
		Width: f.o.Width, Height: f.o.Height, FPS: f.o.FPS, CFR: true, Samples: f.o.Frames, Ticks: int64(f.o.Frames),
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("verify the film: %w", context.Cause(ctx))
	case Killed(err): // that says nothing of the film
		return fault.Wrap(err, fault.EncodeFailed, "Render again: finished parts are kept and used.", "the ffmpeg that checked the film was killed")
	case err != nil:
		return f.distrust(err)
	}
	return nil
}

// distrust is the verdict on a film that is not what was drawn. Its stretches
// go: they would give the same film again.
func (f *film) distrust(err error) error {
	if rerr := os.RemoveAll(f.work.dir); rerr != nil {
		f.o.Log.Warn("finished parts could not be removed", "err", rerr)
	}
	return fault.Wrap(err, fault.VerifyFailed, "Render again; if it fails again, please report it.", "The film was not installed: it does not hold what was drawn")
}

// segments gives the finished stretches as package film takes them. They are of
// one stream only when their parameter sets are equal.
func (f *film) segments() (mp4.Track, []segment.Segment, error) {
	first := f.pieces[0]
	var segs []segment.Segment
	for i, p := range f.pieces {
		if !bytes.Equal(p.SPS, first.SPS) || !bytes.Equal(p.PPS, first.PPS) {
			err := &EncoderError{Stretch: f.stretches[i], Err: errors.New("its parameter sets are not those of the first stretch")}
			return mp4.Track{}, nil, err
		}
		segs = append(segs, p.segment(f.work.data(f.stretches[i])))
	}
	return mp4.Track{Width: f.o.Width, Height: f.o.Height, FPS: f.o.FPS, SPS: first.SPS, PPS: first.PPS}, segs, nil
}

// choosePoster gives the most telling frame, and its JPEG if one is wanted. A
// frame of a stretch that was drawn before an interrupt is drawn again.
func (f *film) choosePoster(ctx context.Context) (frame int, jpeg []byte, err error) {
	best := score{Frame: -1}
	for _, p := range f.pieces {
		for _, s := range p.Scores {
			if best.Frame < 0 || s.better(best) {
				best = s
			}
		}
	}
	if best.Frame < 0 {
		best.Frame = f.o.Frames / 2 // a note on disk without scores
	}
	if f.o.Poster == "" {
		return best.Frame, nil, nil
	}
	if f.best.Frame != best.Frame {
		err := f.src.Frames(ctx, 0, best.Frame, best.Frame+1, func(_ int, fr Frame) error {
			f.poster = fr.clone()
			return nil
		})
		if err != nil {
			return 0, nil, fmt.Errorf("draw the poster: %w", err)
		}
	}
	jpeg, err = toJPEG(f.poster)
	return best.Frame, jpeg, err
}

// freshMode is the mode that a new file at path gets, which is not there now.
func freshMode(path string) (fs.FileMode, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) //nolint:gosec // it is to be what the umask makes of it
	if err != nil {
		return 0, atOut(err, path, "make the film's file")
	}
	st, err := file.Stat()
	if err := errors.Join(err, file.Close(), os.Remove(path)); err != nil {
		return 0, fmt.Errorf("look at the film's file: %w", err)
	}
	return st.Mode().Perm(), nil
}
