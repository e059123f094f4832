package encode

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/flv"
	"github.com/proofreel/proofreel/internal/media/h264"
)

// pipeSize is the usual limit for a user without privileges
// (/proc/sys/fs/pipe-max-size): a third of a 1080p frame at a time.
const pipeSize = 1 << 20

// encoder is an ffmpeg that encodes one stretch. Frames go in as raw I420;
// pictures come out one for one and in order, and are written to the stretch's
// file by us: what it says of a full disk is then ours to hear.
type encoder struct {
	stretch  Stretch
	child    *proc.Child
	tail     *ffmpeg.Tail
	in, out  *os.File
	path     string // of the file
	patience time.Duration

	frames  chan *buffer
	fed     chan struct{} // closed when the feeder has ended
	read    chan struct{} // closed when the reader has ended
	packets atomic.Int64

	mu    sync.Mutex
	ticks []int // frames that were given to it
	err   error // the first that went wrong

	piece piece // the reader's until it has ended
}

// encoderArgs is ffmpeg's command line.
func encoderArgs(o Options) []string {
	args := []string{
		"-hide_banner", "-nostdin", "-v", "error", "-threads", "1",
		"-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", fmt.Sprintf("%dx%d", o.Width, o.Height),
		"-framerate", fmt.Sprint(o.FPS), "-i", "pipe:0", "-an", "-fps_mode", "passthrough",
	}
	args = append(args, o.profile().Args()...)
	return append(args,
		"-chroma_sample_location", "center", // see package pixel
		"-map_metadata", "-1", "-flags", "+bitexact", "-fflags", "+bitexact",
		"-flvflags", "no_duration_filesize", "-f", "flv", "pipe:1")
}

// startEncoder starts the encoder of a stretch, which writes to path, a new
// file. It must be ended by finish or by abort.
func startEncoder(o Options, s Stretch, path string, frames int) (*encoder, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, inWork(err, filepath.Dir(path), "make the file of a stretch")
	}
	e := &encoder{
		stretch: s, tail: ffmpeg.NewTail(20), path: path, patience: o.Patience,
		frames: make(chan *buffer, frames), fed: make(chan struct{}), read: make(chan struct{}),
		piece: piece{From: s.From, To: s.To},
	}
	if err := e.spawn(o); err != nil {
		_ = file.Close()
		_ = os.Remove(path)
		return nil, &EncoderError{Stretch: s, Err: err}
	}
	go e.feed()
	go e.collect(file)
	return e, nil
}

func (e *encoder) spawn(o Options) error {
	inR, inW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make its input pipe: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		_, _ = inR.Close(), inW.Close()
		return fmt.Errorf("make its output pipe: %w", err)
	}
	growPipe(inW)
	e.in, e.out = inW, outR
	e.child, err = o.Spawn.Start(proc.Command{
		Role: "encoder", Path: o.FFmpeg, Args: encoderArgs(o), Stdin: inR, Stdout: outW, Stderr: e.tail,
	})
	_, _ = inR.Close(), outW.Close()
	if err != nil {
		_, _ = inW.Close(), outR.Close()
	}
	return err
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

// give hands the encoder a frame, of which it becomes a user.
func (e *encoder) give(ctx context.Context, frame int, b *buffer) error {
	e.mu.Lock()
	err := e.err
	e.ticks = append(e.ticks, frame)
	e.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case e.frames <- b.share():
		return nil
	}
}

// feed writes the frames into the pipe.
func (e *encoder) feed() {
	defer close(e.fed)
	for b := range e.frames {
		if !e.failed() {
			e.fail(e.write(b.Data))
		}
		b.release()
	}
	_ = e.in.Close()
}

// write writes all of b, and watches that the encoder moves meanwhile.
func (e *encoder) write(b []byte) error {
	w := watch{encoder: e, since: time.Now()}
	for {
		_ = e.in.SetWriteDeadline(time.Now().Add(e.patience / 10))
		n, err := e.in.Write(b)
		b = b[n:]
		switch {
		case err == nil:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			if err := w.check(len(b)); err != nil {
				return err
			}
		default: // it has closed its end: it is dying, and says why when it is dead
			e.child.Kill()
			return e.broken(false, e.ended())
		}
	}
}

// ended says how the child ended.
func (e *encoder) ended() error {
	if err := e.child.Err(); err != nil {
		return err
	}
	return errors.New("it ended before its input did")
}

// collect writes the pictures that come out to the stretch's file.
func (e *encoder) collect(file *os.File) {
	defer close(e.read)
	w := bufio.NewWriterSize(file, 256<<10)
	sum, crc := sha256.New(), crc32.NewIEEE()
	err := e.deliver(flv.NewReader(e.out), io.MultiWriter(w, sum, crc))
	if werr := errors.Join(w.Flush(), file.Close()); err == nil && werr != nil {
		err = inWork(werr, filepath.Dir(e.path), "write a finished part of the film")
	}
	e.piece.SHA256, e.piece.CRC = hexSum(sum), crc.Sum32()
	e.fail(err)
	if err != nil {
		e.child.Kill() // nobody reads its output any more
	}
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

func (e *encoder) deliver(r *flv.Reader, w io.Writer) error {
	var au []byte
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return e.broken(false, fmt.Errorf("read its stream: %w", err))
		}
		if p.Config != nil {
			err = e.header(p.Config)
		} else if au, err = pictureOnly(au[:0], p.Data); err == nil {
			err = e.picture(w, au, p.Key)
		} else {
			err = e.broken(false, fmt.Errorf("read a picture: %w", err))
		}
		if err != nil {
			return err
		}
	}
}

// header takes the parameter sets.
func (e *encoder) header(avcC []byte) error {
	set, err := h264.ParseConfig(avcC)
	if err != nil {
		return e.broken(false, fmt.Errorf("read its parameter sets: %w", err))
	}
	if e.piece.SPS != nil && (!bytes.Equal(set.SPS, e.piece.SPS) || !bytes.Equal(set.PPS, e.piece.PPS)) {
		return e.broken(false, errors.New("its parameter sets changed"))
	}
	e.piece.SPS, e.piece.PPS = set.SPS, set.PPS
	return nil
}

// pictureOnly appends to dst the slices of an access unit. What else x264 puts
// there says with which settings it ran: nothing that belongs in a film.
func pictureOnly(dst, au []byte) ([]byte, error) {
	for nal, err := range h264.SplitAVCC(au) {
		if err != nil {
			return dst, err
		}
		if t := h264.Type(nal); t == h264.TypeSlice || t == h264.TypeIDR {
			dst = h264.AppendAVCC(dst, nal)
		}
	}
	return dst, nil
}

func (e *encoder) picture(w io.Writer, au []byte, key bool) error {
	n := len(e.piece.Pictures)
	e.mu.Lock()
	given := len(e.ticks)
	frame := 0
	if n < given {
		frame = e.ticks[n]
	}
	e.mu.Unlock()
	switch {
	case n >= given:
		return e.broken(false, errors.New("it gave a picture more than it got"))
	case len(au) == 0 || n == 0 && !key:
		return e.broken(false, fmt.Errorf("picture %d of %d bytes, key: %t", n, len(au), key))
	}
	if _, err := w.Write(au); err != nil {
		return inWork(err, filepath.Dir(e.path), "write a finished part of the film")
	}
	e.piece.Pictures = append(e.piece.Pictures, picture{Frame: frame, Size: len(au), Key: key})
	e.packets.Add(1)
	return nil
}

// finish ends the input, waits until every picture has come out, and gives the
// stretch. On error, or when ctx ends before, the file is removed.
func (e *encoder) finish(ctx context.Context) (piece, error) {
	close(e.frames)
	// A stopped child is continued; a running one takes no harm from it.
	killed := e.child.Stop(ctx, unix.SIGCONT, e.patience, e.packets.Load)
	e.wait()
	err := e.failure()
	switch {
	case ctx.Err() != nil && killed:
		err = context.Cause(ctx)
	case err != nil:
	case killed:
		err = e.broken(true, errors.New("it hung at the end"))
	case e.child.Err() != nil:
		err = e.broken(false, e.child.Err())
	case len(e.piece.Pictures) != len(e.ticks) || len(e.ticks) == 0:
		err = e.broken(false, fmt.Errorf("%d of %d pictures came out", len(e.piece.Pictures), len(e.ticks)))
	}
	if err != nil {
		_ = os.Remove(e.path)
		return piece{}, err
	}
	return e.piece, nil
}

// abort ends the encoder at once and removes its file.
func (e *encoder) abort() {
	close(e.frames)
	e.child.Kill()
	e.wait()
	_ = os.Remove(e.path)
}

func (e *encoder) wait() {
	<-e.fed
	<-e.read
	_ = e.out.Close()
}

// fail notes the first error. nil is none.
func (e *encoder) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
	}
}

func (e *encoder) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

func (e *encoder) failed() bool { return e.failure() != nil }

func (e *encoder) broken(hung bool, err error) error {
	return &EncoderError{Stretch: e.stretch, Hung: hung, Tail: e.tail.String(), Err: err}
}

// watch judges whether an encoder moves that does not take what it is given.
type watch struct {
	*encoder
	last  [3]int64
	since time.Time
}

// check compares the encoder's CPU time and what went through it with the last
// time that it was called. It is an error when nothing moved for patience; half
// of it before, the encoder is continued: somebody may have stopped it.
func (w *watch) check(left int) error {
	st, err := w.child.Stat()
	if err != nil {
		w.child.Kill()
		return w.broken(false, w.ended())
	}
	now := [3]int64{int64(st.CPU), int64(left), w.packets.Load()}
	if now != w.last {
		w.last, w.since = now, time.Now()
		return nil
	}
	switch idle := time.Since(w.since); {
	case idle > w.patience:
		w.child.Kill()
		return w.broken(true, fmt.Errorf("it did not move for %v", w.patience))
	case idle > w.patience/2:
		_ = w.child.Signal(unix.SIGCONT)
	}
	return nil
}
