package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/mp4"
)

// Want is what a film must be.
type Want struct {
	Width, Height, FPS int
	CFR                bool
	Samples            int
	Ticks              int64 // length
}

// MismatchError says that a film is not what was captured.
type MismatchError struct {
	What      string
	Got, Want any
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("the film's %s is %v, not %v", e.What, e.Got, e.Want)
}

// edge is how much of a film's beginning and end is decoded from the finished
// file. Every recorded frame was decoded from its segment before; this shows
// that the file as a whole is put together right.
const edge = time.Second

// Film checks a finished film: its index against want, and that its first and
// its last frame come out of a decoder. It takes the same time for a long film
// as for a short one, but for reading its index.
func (dec Decoder) Film(ctx context.Context, path string, want Want) error {
	info, err := mp4.Inspect(path)
	if err != nil {
		return fmt.Errorf("read the film's index: %w", err)
	}
	if err := compare(info, want); err != nil {
		return err
	}
	length := time.Duration(want.Ticks) * time.Second / time.Duration(want.FPS)
	if err := dec.edges(ctx, path, length); err != nil {
		return fmt.Errorf("decode the film's beginning and end: %w", err)
	}
	return nil
}

func compare(info mp4.Info, want Want) error {
	checks := []struct {
		what      string
		got, want any
	}{
		{"index before its media", info.MoovBeforeMdat, true},
		{"number of tracks", info.Tracks, 1},
		{"width", info.Width, want.Width},
		{"height", info.Height, want.Height},
		{"number of frames", info.Samples, want.Samples},
		{"length in ticks", info.Duration.Num * int64(want.FPS), want.Ticks * info.Duration.Den},
		{"colour primaries", info.Colour.Primaries, 1},
		{"colour transfer", info.Colour.Transfer, 1},
		{"colour matrix", info.Colour.Matrix, 1},
		{"full range", info.Colour.FullRange, false},
		{"first frame is a keyframe", len(info.Keyframes) > 0 && info.Keyframes[0] == 0, true},
	}
	if want.CFR {
		checks = append(checks, struct {
			what      string
			got, want any
		}{"frame durations are equal", info.Deltas.Equal, true})
	}
	for _, c := range checks {
		if c.got != c.want {
			return &MismatchError{c.what, c.got, c.want}
		}
	}
	return nil
}

// edges decodes both ends of a film of a length, in one process (starting one
// takes longer than decoding). It wants a frame of each end and no complaint.
func (dec Decoder) edges(ctx context.Context, path string, length time.Duration) error {
	args := []string{"-hide_banner", "-nostdin", "-v", "error", "-progress", "pipe:1", "-nostats", "-err_detect", "explode"}
	args = append(args, "-t", fmt.Sprintf("%.6f", edge.Seconds()), "-i", path)
	want, graph := int64(1), "[0:v]select=eq(n\\,0)"
	if length > edge {
		// From the keyframe before: a film at variable rate may have no frame
		// after it but the one that stands there.
		args = append(args, "-noaccurate_seek", "-ss", fmt.Sprintf("%.6f", (length-edge/2).Seconds()), "-i", path)
		// Each end is decoded whole and gives its first frame, so that two are
		// both.
		want, graph = 2, graph+"[a];[1:v]select=eq(n\\,0)[b];[a][b]concat"
	}
	args = append(args, "-filter_complex", graph, "-fps_mode", "passthrough", "-f", "null", "-")
	frames, err := dec.decode(ctx, args)
	if err == nil && frames != want {
		err = fmt.Errorf("frames came out of %d ends, not of %d", frames, want)
	}
	return err
}

// Whole checks a finished film as [Decoder.Film] does, but decodes all of it,
// with so many threads: every frame must come out, and no complaint.
func (dec Decoder) Whole(ctx context.Context, path string, threads int, want Want) error {
	info, err := mp4.Inspect(path)
	if err != nil {
		return fmt.Errorf("read the film's index: %w", err)
	}
	if err := compare(info, want); err != nil {
		return err
	}
	frames, err := dec.decode(ctx, []string{
		"-hide_banner", "-nostdin", "-v", "error", "-progress", "pipe:1", "-nostats", "-err_detect", "explode",
		"-threads", strconv.Itoa(max(threads, 1)), "-i", path,
		"-map", "0:v", "-fps_mode", "passthrough", "-f", "null", "-",
	})
	if err != nil {
		return fmt.Errorf("decode the film: %w", err)
	}
	if frames != int64(want.Samples) {
		return &MismatchError{"number of decoded frames", frames, want.Samples}
	}
	return nil
}

// decode runs ffmpeg, which must not complain, and counts the frames that come
// out of it.
func (dec Decoder) decode(ctx context.Context, args []string) (int64, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("make the decoder's pipe: %w", err)
	}
	defer func() { _ = out.Close() }()
	tail := ffmpeg.NewTail(10)
	child, err := dec.Spawn.Start(proc.Command{Role: "verifier", Path: dec.FFmpeg, Args: args, Stdout: in, Stderr: tail})
	_ = in.Close()
	if err != nil {
		return 0, err
	}
	frames := int64(0)
	read := make(chan error, 1)
	go func() {
		read <- ffmpeg.ReadProgress(out, func(p ffmpeg.Progress) { frames = p.Frame })
	}()
	killed := child.Stop(ctx, unix.Signal(0), patience, nil)
	rerr := <-read
	switch {
	case killed && ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case killed:
		return 0, errors.New("the decoder hung")
	}
	if t := tail.String(); t != "" {
		return 0, errors.New(t)
	}
	return frames, errors.Join(child.Err(), rerr)
}
