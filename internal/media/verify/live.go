// Package verify decodes films and judges them: segment by segment while they
// are being made, and the finished film against what was captured. It never
// changes a file and decides nothing about what happens to a bad one.
package verify

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/segment"
)

// niceness of the decoder: it may lag behind while the machine is busy, and
// catches up when it is not.
const niceness = 10

// patience is for how long a decoder that was given everything may show no
// movement before it is taken for hung.
const patience = 15 * time.Second

// Decoder says how to run the decoder.
type Decoder struct {
	FFmpeg string
	Spawn  *proc.Spawner
	Log    *slog.Logger
}

// Bad is a segment that does not decode whole.
type Bad struct {
	Segment segment.Segment
	Err     error
}

// Live verifies segments while a film is being made: one decoder process
// reads them one after the other from disk. Add never blocks; the queue holds
// only names and sizes.
type Live struct {
	dec   Decoder
	track mp4.Track

	mu    sync.Mutex
	wake  chan struct{}
	queue []segment.Segment
	ended bool

	before atomic.Int64 // frames that decoders before the present one found good
	now    atomic.Int64 // frames that came out of the present one, and repeats
	done   chan struct{}
	bad    []Bad // valid when done is closed
	err    error // why verification itself was impossible
}

// NewLive begins to verify. The caller ends it with Finish.
func NewLive(ctx context.Context, dec Decoder, track mp4.Track) *Live {
	v := &Live{dec: dec, track: track, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(v.done)
		v.bad, v.err = v.run(ctx)
	}()
	return v
}

// Add queues a segment that is whole and on disk.
func (v *Live) Add(s segment.Segment) {
	v.mu.Lock()
	v.queue = append(v.queue, s)
	v.mu.Unlock()
	v.poke()
}

func (v *Live) poke() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// Frames counts the frames that were decoded so far.
func (v *Live) Frames() int64 { return v.before.Load() + v.now.Load() }

// Finish waits until all that was added is verified and gives the segments
// that are bad. The error says that nothing could be verified (no decoder).
func (v *Live) Finish() ([]Bad, error) {
	v.mu.Lock()
	v.ended = true
	v.mu.Unlock()
	v.poke()
	<-v.done
	return v.bad, v.err
}

// next waits for the next segment; ok is false at the end.
func (v *Live) next(ctx context.Context) (s segment.Segment, ok bool) {
	for {
		v.mu.Lock()
		if len(v.queue) > 0 {
			s, v.queue = v.queue[0], v.queue[1:]
			v.mu.Unlock()
			return s, true
		}
		ended := v.ended
		v.mu.Unlock()
		if ended {
			return segment.Segment{}, false
		}
		select {
		case <-ctx.Done():
			return segment.Segment{}, false
		case <-v.wake:
		}
	}
}

// run feeds the decoder. When it reports an error, dies or loses count, the
// segments that it had not confirmed are decoded one by one, which tells the
// bad from the good, and a new decoder goes on with the rest.
func (v *Live) run(ctx context.Context) (bad []Bad, err error) {
	var batch []segment.Segment
	var d *decoder
	flush := func(cause error) {
		if d == nil {
			return
		}
		confirmed, derr := d.finish(cause)
		if derr != nil {
			v.dec.Log.Warn("the verifying decoder failed: decoding one by one", "segments", len(batch)-confirmed, "err", derr)
			bad = append(bad, v.oneByOne(ctx, batch[confirmed:])...)
		}
		v.before.Add(d.through)
		v.now.Store(0)
		batch, d = nil, nil
	}
	for {
		s, ok := v.next(ctx)
		if !ok {
			flush(nil)
			return bad, ctx.Err()
		}
		if d == nil {
			if d, err = startDecoder(v.dec, v.track, &v.now); err != nil {
				return bad, err
			}
		}
		batch = append(batch, s)
		if err := d.feed(s); err != nil || d.failed() {
			flush(err)
			continue
		}
		batch = batch[d.forget():]
	}
}

func (v *Live) oneByOne(ctx context.Context, segs []segment.Segment) (bad []Bad) {
	for _, s := range segs {
		if err := v.dec.Segment(ctx, v.track, s); err != nil {
			bad = append(bad, Bad{s, err})
			continue
		}
		v.before.Add(int64(len(s.Frames)))
	}
	return bad
}

// Segment decodes one segment alone and says what is wrong with it.
func (dec Decoder) Segment(ctx context.Context, track mp4.Track, s segment.Segment) error {
	d, err := startDecoder(dec, track, new(atomic.Int64))
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, d.child.Kill)
	defer stop()
	ferr := d.feed(s)
	if _, err := d.finish(ferr); err != nil {
		return fmt.Errorf("decode segment: %w", err)
	}
	return nil
}

// decoder is a running ffmpeg that decodes what it is fed.
type decoder struct {
	child   *proc.Child
	in      *os.File
	w       *bufio.Writer
	tail    *ffmpeg.Tail
	track   mp4.Track
	shown   *atomic.Int64 // frames that came out, and repeats that needed no decoding
	decoded atomic.Int64  // frames that came out
	repeats atomic.Int64
	read    chan error // the progress reader's end

	pending []pending // segments that were fed and not yet confirmed
	fed     int64     // frames that must come out
	through int64     // frames of segments that are through
	lastKey []byte
}

// pending is a segment on its way through the decoder.
type pending struct {
	upTo   int64 // it is through when so many frames have come out
	frames int64 // frames that it has, those that needed no decoding among them
}

func startDecoder(dec Decoder, track mp4.Track, shown *atomic.Int64) (*decoder, error) {
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the decoder's pipe: %w", err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		_, _ = stdin.Close(), in.Close()
		return nil, fmt.Errorf("make the decoder's pipe: %w", err)
	}
	d := &decoder{in: in, w: bufio.NewWriterSize(in, 1<<16), tail: ffmpeg.NewTail(10), track: track, shown: shown, read: make(chan error, 1)}
	d.child, err = dec.Spawn.Start(proc.Command{
		Role: "verifier", Path: dec.FFmpeg, Nice: niceness,
		Args: []string{
			"-hide_banner", "-v", "error", "-progress", "pipe:1", "-stats_period", "1", "-nostats",
			"-err_detect", "explode", "-threads", "1", "-flags", "low_delay",
			"-probesize", "32", "-analyzeduration", "0", // begin at once; -fflags nobuffer would lose the first frames
			"-f", "h264", "-i", "pipe:0", "-fps_mode", "passthrough", "-f", "null", "-",
		},
		Stdin: stdin, Stdout: stdout, Stderr: d.tail,
	})
	_, _ = stdin.Close(), stdout.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	go func() {
		defer func() { _ = out.Close() }()
		d.read <- ffmpeg.ReadProgress(out, func(p ffmpeg.Progress) {
			d.decoded.Store(p.Frame)
			d.shown.Store(p.Frame + d.repeats.Load())
		})
	}()
	return d, nil
}

// failed says whether the decoder has complained or ended.
func (d *decoder) failed() bool {
	select {
	case <-d.child.Done():
		return true
	default:
		return len(d.tail.Lines()) > 0
	}
}

// forget drops the segments whose frames have all come out and says how many
// these were.
func (d *decoder) forget() int {
	out, n := d.decoded.Load(), 0
	for n < len(d.pending) && d.pending[n].upTo <= out {
		d.through += d.pending[n].frames
		n++
	}
	d.pending = d.pending[n:]
	return n
}

// finish waits for the decoder's end and says how many of the segments that
// were not forgotten are good: none when there is a cause to doubt them.
func (d *decoder) finish(cause error) (confirmed int, err error) {
	err = errors.Join(cause, d.w.Flush(), d.in.Close())
	killed := d.child.Stop(context.Background(), 0, patience, d.decoded.Load)
	rerr := <-d.read
	switch {
	case killed:
		err = errors.Join(err, errors.New("the decoder hung"))
	case d.child.Err() != nil:
		err = errors.Join(err, d.child.Err())
	}
	if t := d.tail.String(); t != "" {
		err = errors.Join(err, errors.New(t))
	}
	if err = errors.Join(err, rerr); err != nil {
		return 0, err
	}
	if got := d.decoded.Load(); got != d.fed {
		return 0, fmt.Errorf("%d of %d frames came out of the decoder", got, d.fed)
	}
	return d.forget(), nil
}
