package x11

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/flv"
	"github.com/proofreel/proofreel/internal/media/h264"
	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/record/capture"
)

const (
	// niceness of the encoder: the work that is filmed comes first.
	niceness = 10
	// depth is how many frames may be in the encoder: one that it works on,
	// and one in the pipe so that it never waits for us. A third would only
	// be older when its turn comes.
	depth = 2
	// pipeSize is the usual limit for a user without privileges
	// (/proc/sys/fs/pipe-max-size): a third of a 1080p frame at a time.
	pipeSize = 1 << 20
	// wakeAfter and killAfter are for how long the encoder may show no
	// movement at all before it is continued (it may have been stopped), and
	// before it is given up.
	wakeAfter = 5 * time.Second
	killAfter = 30 * time.Second
)

// packetSink is the part of a capture.Sink that packets go to.
type packetSink interface {
	Header(sps, pps []byte) error
	Frame(segment.Frame) error
}

// encoder is an ffmpeg child that takes I420 frames and gives H.264 packets,
// one for one and in order, so that the n-th packet belongs to the n-th frame.
type encoder struct {
	cfg   capture.Config
	child *proc.Child
	tail  *ffmpeg.Tail
	in    *os.File
	out   *os.File
	sink  packetSink

	jobs    chan job
	written chan struct{} // the writer has ended
	done    chan struct{} // the reader has ended
	wake    chan struct{} // the state has changed
	packets atomic.Int64

	mu      sync.Mutex
	ticks   []int64 // of the frames in the encoder, oldest first
	writing bool    // the last frame's memory is still being read
	lastKey bool
	keyTick int64
	busy    time.Duration // for how long there was a frame inside, in all
	since   time.Time     // from when on there has been one
	closing bool
	stuck   error // the child did not move, so it was ended
	err     error
}

// job is a frame on its way into the pipe.
type job struct {
	frame *pixel.Frame
	at    time.Duration // since the first frame
}

// startEncoder starts the child for frames of width by height pixels. Packets
// go to sink from a goroutine of the encoder, one at a time.
func startEncoder(cfg capture.Config, width, height int, sink packetSink) (*encoder, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the encoder's input pipe: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		_, _ = inR.Close(), inW.Close()
		return nil, fmt.Errorf("make the encoder's output pipe: %w", err)
	}
	growPipe(inW)
	e := &encoder{
		cfg: cfg, tail: ffmpeg.NewTail(20), in: inW, out: outR, sink: sink,
		jobs: make(chan job, 1), written: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	e.child, err = cfg.Spawn.Start(proc.Command{
		Role: "encoder", Path: cfg.FFmpeg, Args: encoderArgs(cfg), Stdin: inR, Stdout: outW, Stderr: e.tail, Nice: niceness,
	})
	_, _ = inR.Close(), outW.Close()
	if err != nil {
		_, _ = inW.Close(), outR.Close()
		return nil, &capture.EncoderError{Err: err}
	}
	go e.read()
	go e.writeAll(width, height)
	return e, nil
}

// growPipe asks for a larger pipe; a smaller one only means more switches.
func growPipe(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
	})
}

// encoderArgs is ffmpeg's command line.
//
// The profile must let no frame wait in the encoder; for libx264 that is
// bframes=0, rc-lookahead=0, sync-lookahead=0, sliced-threads=1 and force-cfr=1
// (without the last, each waits for the next one's time). Keyframes must go by
// the time since the last one (profile.KeyEvery), less than keepalive: then a
// picture that is made to keep a still film alive is a keyframe.
func encoderArgs(cfg capture.Config) []string {
	a := []string{
		"-hide_banner", "-nostdin", "-v", "error",
		// No frame is held back to guess the format. (-fflags nobuffer would
		// throw the first frame away instead.)
		"-probesize", "32", "-analyzeduration", "0",
		"-f", "matroska", "-i", "pipe:0",
		"-fps_mode", "passthrough", "-enc_time_base", fmt.Sprintf("1:%d", cfg.FPS),
	}
	a = append(a, cfg.Encode...)
	return append(a,
		"-chroma_sample_location", "center", // see package pixel
		"-flush_packets", "1", "-flvflags", "no_duration_filesize", "-f", "flv", "pipe:1")
}

// encoderState is what the encoder has done so far.
type encoderState struct {
	inside  int           // frames that went in and have not come out
	writing bool          // the last frame's memory may not be changed yet
	key     bool          // the last picture that came out is a keyframe
	keyTick int64         // tick of the last keyframe
	busy    time.Duration // for how long there was a frame inside, in all
	err     error         // the encoder or the sink failed
}

// room says whether another frame may be made and fed.
func (s encoderState) room() bool { return !s.writing && s.inside < depth }

func (e *encoder) state() encoderState {
	e.mu.Lock()
	defer e.mu.Unlock()
	st := encoderState{
		inside: len(e.ticks), writing: e.writing, key: e.lastKey, keyTick: e.keyTick, busy: e.busy, err: e.err,
	}
	if st.inside > 0 {
		st.busy += time.Since(e.since)
	}
	return st
}

// feed hands a frame over; there must be room. The frame's memory is read
// until the state says otherwise. at is the frame's time since the first.
func (e *encoder) feed(f *pixel.Frame, tick int64, at time.Duration) {
	e.mu.Lock()
	if len(e.ticks) == 0 {
		e.since = time.Now()
	}
	e.ticks = append(e.ticks, tick)
	e.writing = true
	e.mu.Unlock()
	e.jobs <- job{frame: f, at: at}
}

// writeAll writes the stream: its header, then the frames that are fed.
func (e *encoder) writeAll(width, height int) {
	defer close(e.written)
	err := e.write(mkvHeader(width, height))
	for j := range e.jobs {
		if err == nil {
			err = e.write(mkvFrame(j.at, len(j.frame.Data)))
		}
		if err == nil {
			err = e.write(j.frame.Data)
		}
		e.mu.Lock()
		e.writing = false
		e.mu.Unlock()
		if err != nil { // the reader sees the output end, and reports
			_ = e.child.Signal(unix.SIGKILL)
		}
		e.notify()
	}
	_ = e.in.Close()
}

// write writes all of b, and watches that the encoder moves meanwhile.
func (e *encoder) write(b []byte) error {
	watch := newWatch(e.child)
	for {
		_ = e.in.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := e.in.Write(b)
		b = b[n:]
		if err == nil {
			return nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("write to the encoder: %w", err)
		}
		if err := watch.check(int64(len(b)) + e.packets.Load()); err != nil {
			e.mu.Lock()
			e.stuck = err
			e.mu.Unlock()
			return err
		}
	}
}

// read hands packets to the sink until the stream ends.
func (e *encoder) read() {
	defer close(e.done)
	defer e.notify()
	err := e.deliver(flv.NewReader(e.out))
	e.mu.Lock()
	left, closing := len(e.ticks), e.closing
	e.mu.Unlock()
	if err == nil && closing && left == 0 {
		return
	}
	// Nobody reads its output any more: a write that waits for it must end.
	_ = e.child.Signal(unix.SIGKILL)
	if err == nil {
		err = e.died(left)
	}
	e.mu.Lock()
	e.err = err
	e.mu.Unlock()
}

// died explains why the output ended too early.
func (e *encoder) died(left int) error {
	how := e.child.Err()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stuck != nil {
		how = e.stuck
	}
	if how == nil {
		how = errors.New("exit status 0")
	}
	return &capture.EncoderError{Err: fmt.Errorf("%d frames were in it: %w", left, how), Tail: e.tail.String()}
}

func (e *encoder) deliver(r *flv.Reader) error {
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			return nil
		}
		if err != nil {
			return &capture.EncoderError{Err: fmt.Errorf("read the encoder's stream: %w", err), Tail: e.tail.String()}
		}
		if p.Config != nil {
			err = e.header(p.Config)
		} else {
			err = e.packet(p)
		}
		if err != nil {
			return err
		}
	}
}

func (e *encoder) header(avcC []byte) error {
	set, err := h264.ParseConfig(avcC)
	if err != nil {
		return &capture.EncoderError{Err: fmt.Errorf("read the parameter sets: %w", err)}
	}
	return e.sink.Header(set.SPS, set.PPS)
}

// packet gives one picture to the sink, and only then makes room for another
// frame: a slow disk slows the capture and piles nothing up.
func (e *encoder) packet(p flv.Packet) error {
	e.mu.Lock()
	if len(e.ticks) == 0 {
		e.mu.Unlock()
		return &capture.EncoderError{Err: errors.New("it gave a picture more than it got")}
	}
	tick := e.ticks[0]
	e.mu.Unlock()

	if err := e.sink.Frame(segment.Frame{Tick: tick, Key: p.Key, Data: p.Data}); err != nil {
		return err
	}
	e.packets.Add(1)
	e.mu.Lock()
	e.ticks = e.ticks[1:]
	if len(e.ticks) == 0 {
		e.busy += time.Since(e.since)
	}
	e.lastKey = p.Key
	if p.Key {
		e.keyTick = tick
	}
	e.mu.Unlock()
	e.notify()
	return nil
}

func (e *encoder) notify() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// finish ends the input and waits until every frame has come out.
func (e *encoder) finish(ctx context.Context) error {
	e.mu.Lock()
	e.closing = true
	e.mu.Unlock()
	close(e.jobs)
	// A stopped child is continued; a running one takes no harm from it.
	patience := killAfter
	if e.packets.Load() == 0 { // it never worked: nothing is lost with it
		patience = wakeAfter
	}
	e.child.Stop(context.WithoutCancel(ctx), unix.SIGCONT, patience, e.packets.Load)
	<-e.written
	<-e.done
	_ = e.out.Close()
	return e.state().err
}

// watch judges whether a child moves.
type watch struct {
	child *proc.Child
	last  [2]int64
	since time.Time
	woken bool
}

func newWatch(c *proc.Child) *watch {
	return &watch{child: c, since: time.Now()}
}

// check compares the child's CPU time and own with the last time that it was
// called. It is an error when nothing has moved for killAfter.
func (w *watch) check(own int64) error {
	st, err := w.child.Stat()
	if err != nil {
		return err
	}
	now := [2]int64{int64(st.CPU), own}
	if now != w.last {
		w.last, w.since, w.woken = now, time.Now(), false
		return nil
	}
	idle := time.Since(w.since)
	if idle > wakeAfter && !w.woken {
		w.woken = true
		_ = w.child.Signal(unix.SIGCONT)
	}
	if idle > killAfter {
		return fmt.Errorf("it did not move for %v", killAfter)
	}
	return nil
}
