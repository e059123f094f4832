// Package segment keeps a film in the making on disk: segments of at most
// about one second, each a fragmented MP4 that starts with a keyframe and is
// playable alone. Every frame is handed to the operating system as it comes,
// so that killing the writer loses nothing that was written, and each ended
// segment is synced, so that a power cut loses little. What becomes of the
// segments is not known here.
package segment

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/proofreel/proofreel/internal/media/mp4"
)

// Segment is what is known of one segment.
type Segment struct {
	Path   string
	Bytes  int64
	Frames []mp4.Sample
	CRC    uint32 // IEEE CRC-32 over the frames' data, in order
	Still  bool   // its one frame repeats the one before, a keyframe, byte for byte
}

// First is the tick of the first frame.
func (s Segment) First() int64 { return s.Frames[0].Tick }

// Last is the tick of the last frame.
func (s Segment) Last() int64 { return s.Frames[len(s.Frames)-1].Tick }

// backlog is how many ended segments may wait for the disk before writing
// waits for it too: half a minute.
const backlog = 30

// Writer writes segments into a directory. It is used from one goroutine.
type Writer struct {
	dir     string
	track   mp4.Track
	minimum int64 // ticks that a segment has before a keyframe starts the next

	number int
	file   *os.File
	out    *mp4.FragmentWriter
	cur    Segment
	key    Frame // the last frame, when it is a keyframe
	last   int64 // tick of the last frame; -1: none

	toSync chan ended
	synced chan error // the first error of syncing, when all is done
}

type ended struct {
	file *os.File
	seg  Segment
}

// NewWriter writes into dir, which exists; first is the number of the first
// segment. done is called, from a goroutine of the writer's own, with every
// segment that is whole and synced. Finish ends that goroutine.
func NewWriter(dir string, track mp4.Track, first int, done func(Segment)) *Writer {
	w := &Writer{
		dir: dir, track: track, number: first, minimum: int64(track.FPS+1) / 2, last: -1,
		toSync: make(chan ended, backlog), synced: make(chan error, 1),
	}
	go w.syncAll(done)
	return w
}

func (w *Writer) syncAll(done func(Segment)) {
	var first error
	for e := range w.toSync {
		if err := errors.Join(e.file.Sync(), e.file.Close()); err != nil && first == nil {
			first = fmt.Errorf("sync segment %s: %w", filepath.Base(e.seg.Path), err)
		}
		done(e.seg)
	}
	w.synced <- first
}

// ErrOrder says that a frame does not come after the one before it.
var ErrOrder = errors.New("frames out of order")

// ErrNoKeyframe says that a film can't begin with this frame.
var ErrNoKeyframe = errors.New("the first frame of a segment is no keyframe")

// Write appends a frame. A keyframe begins a new segment unless the one that
// is open is shorter than half a second.
func (w *Writer) Write(f Frame) error {
	if f.Tick <= w.last {
		return fmt.Errorf("%w: tick %d after tick %d", ErrOrder, f.Tick, w.last)
	}
	if f.Key && w.file != nil && (w.cur.Still || f.Tick-w.cur.First() >= w.minimum) {
		w.end()
	}
	if w.file == nil {
		if !f.Key {
			return ErrNoKeyframe
		}
		if err := w.begin(f.Tick); err != nil {
			return err
		}
	}
	w.key = Frame{}
	if f.Key {
		w.key = f
	}
	w.cur.Still = false // also of a segment that Hold began: it has a frame of its own now
	return w.append(f)
}

// Hold says that the screen has not changed up to and including tick. Once
// the open segment lasts for about a second, the next one begins with the
// last picture again, so that what is on disk reaches up to tick. When the
// last picture is no keyframe there is nothing to begin with, and Hold does
// nothing.
func (w *Writer) Hold(tick int64) error {
	if w.key.Data == nil || w.file == nil || tick-w.cur.First() < w.minimum {
		return nil
	}
	w.end()
	if err := w.begin(tick); err != nil {
		return err
	}
	w.cur.Still = true
	return w.append(Frame{Tick: tick, Key: true, Data: w.key.Data})
}

func (w *Writer) begin(tick int64) error {
	name := filepath.Join(w.dir, fmt.Sprintf("%07d-%010d.mp4", w.number, tick))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("begin segment: %w", err)
	}
	out, err := mp4.NewFragmentWriter(f, w.track)
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("begin segment: %w", err)
	}
	w.number++
	w.file, w.out, w.cur = f, out, Segment{Path: name}
	return nil
}

func (w *Writer) append(f Frame) error {
	if err := w.out.Write(f.Tick, f.Key, f.Data); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	end, err := w.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	size := int64(len(f.Data)) // the data ends the fragment
	w.cur.Frames = append(w.cur.Frames, mp4.Sample{Tick: f.Tick, Key: f.Key, Offset: end - size, Size: size})
	w.cur.Bytes, w.last = end, f.Tick
	w.cur.CRC = crc32.Update(w.cur.CRC, crc32.IEEETable, f.Data)
	return nil
}

func (w *Writer) end() {
	if w.file == nil {
		return
	}
	if len(w.cur.Frames) > 0 {
		w.toSync <- ended{w.file, w.cur}
	} else {
		_ = w.file.Close() // its first frame could not be written
	}
	w.file, w.out = nil, nil
}

// Finish ends the open segment and waits until all are synced. The writer
// can't be used afterwards.
func (w *Writer) Finish() error {
	w.end()
	close(w.toSync)
	return <-w.synced
}

// Length is a number of ticks as time.
func Length(ticks int64, fps int) time.Duration {
	return time.Duration(ticks * int64(time.Second) / int64(fps))
}

// Ticks is how many ticks it takes to fill a length of time.
func Ticks(length time.Duration, fps int) int64 {
	return (int64(length)*int64(fps) + int64(time.Second) - 1) / int64(time.Second)
}
