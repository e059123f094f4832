package clip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// webP is what is known of a moving WebP.
type webP struct {
	frames int64
	length time.Duration
	last   int64         // where the last frame's duration is: 24 bits, milliseconds
	lasts  time.Duration // the last frame's duration
}

// movingWebP walks the chunks of a moving WebP. ffmpeg writes such files and
// does not read them.
// Format: https://developers.google.com/speed/webp/docs/riff_container
func movingWebP(r io.ReaderAt, size int64) (w webP, err error) {
	var head [12]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return w, fmt.Errorf("read a WebP: %w", err)
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WEBP" || int64(binary.LittleEndian.Uint32(head[4:]))+8 != size {
		return w, errors.New("no whole WebP")
	}
	for at := int64(12); at < size; {
		var chunk [24]byte
		n, err := r.ReadAt(chunk[:], at)
		if n < 8 {
			return w, fmt.Errorf("read a chunk at byte %d: %w", at, err)
		}
		body := int64(binary.LittleEndian.Uint32(chunk[4:]))
		if string(chunk[:4]) == "ANMF" && n == len(chunk) {
			w.frames++
			w.last = at + 20 // behind place and size
			w.lasts = time.Duration(binary.LittleEndian.Uint32(chunk[20:])&0xFFFFFF) * time.Millisecond
			w.length += w.lasts
		}
		if at += 8 + body + body&1; at > size {
			return w, fmt.Errorf("a chunk ends at byte %d of %d", at, size)
		}
	}
	return w, nil
}

// endWebP gives the last frame its duration, for which the encoder takes the
// average of the others.
func endWebP(r *rendered) error {
	f, err := os.OpenFile(r.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open the video: %w", err)
	}
	defer f.Close() //nolint:errcheck // written through
	w, err := movingWebP(f, r.bytes)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnfit, err)
	}
	ms := max((r.plan.Length() - w.length + w.lasts).Milliseconds(), 1)
	if w.last == 0 {
		return fmt.Errorf("%w: it does not move", errUnfit)
	}
	if _, err := f.WriteAt([]byte{byte(ms), byte(ms >> 8), byte(ms >> 16)}, w.last); err != nil {
		return fmt.Errorf("end the video: %w", err)
	}
	return nil
}

// checkWebP holds a moving WebP against the plan. Its encoder joins frames
// that are alike, so their number is not the plan's.
func checkWebP(r *rendered) error {
	f, err := os.Open(r.path)
	if err != nil {
		return fmt.Errorf("open the video: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	w, err := movingWebP(f, r.bytes)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errUnfit, err)
	case w.frames < 1 || (w.length-r.plan.Length()).Abs() > max(r.plan.Time(1), 20*time.Millisecond):
		return fmt.Errorf("%w: it has %d frames and lasts %v, the plan %v", errUnfit, w.frames, w.length, r.plan.Length())
	}
	return nil
}
