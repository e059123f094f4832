package exit

import (
	"fmt"
	"math"
)

// Tolerance is by how much a film may be shorter or longer than ordered, in
// seconds.
const Tolerance = 1.5

// MaxBytes is the usual [Want].MaxBytes: 80 MB.
const MaxBytes = 80_000_000

// Want is what was ordered. It bounds all that is read, kept in memory,
// decoded and encoded.
type Want struct {
	// Width and Height are the exact frame size in pixels: even, 16 to 4096.
	Width, Height int
	// FPS is the exact frame rate in frames a second, 1 to 120.
	FPS int
	// Seconds is the length, over 0 to 600; [Tolerance] applies.
	Seconds float64
	// MaxBytes bounds the film as it comes and as it leaves, in bytes:
	// 4096 to 1 GiB.
	MaxBytes int64
	// PosterFrame is the frame that the poster shows, counted from 0. It may
	// come from the author: out of range, the nearest one is taken.
	PosterFrame int
}

func (w Want) validate() error {
	size := func(n int) bool { return n >= 16 && n <= 4096 && n%2 == 0 }
	switch {
	case !size(w.Width) || !size(w.Height):
		return fmt.Errorf("exit: frame size %dx%d: want even numbers of 16 to 4096", w.Width, w.Height)
	case w.FPS < 1 || w.FPS > 120:
		return fmt.Errorf("exit: %d frames a second: want 1 to 120", w.FPS)
	case math.IsNaN(w.Seconds) || w.Seconds <= 0 || w.Seconds > 600:
		return fmt.Errorf("exit: %g seconds: want over 0 to 600", w.Seconds)
	case w.MaxBytes < 4096 || w.MaxBytes > 1<<30:
		return fmt.Errorf("exit: at most %d bytes: want 4096 to 1 GiB", w.MaxBytes)
	}
	return nil
}

// frames bounds the number of pictures.
func (w Want) frames() (least, most int) {
	fps := float64(w.FPS)
	return max(1, int(math.Ceil((w.Seconds-Tolerance)*fps))), int(math.Floor((w.Seconds + Tolerance) * fps))
}

// poster gives the poster's frame of a film of n pictures.
func (w Want) poster(n int) int { return min(max(w.PosterFrame, 0), n-1) }

// maxIndex bounds the moov box in bytes: its fixed parts, and the most that
// each sample may add (stsz 4, ctts 8, stss 4, stsc 12, co64 8).
func (w Want) maxIndex() int64 {
	_, most := w.frames()
	return 16<<10 + 36*int64(most)
}

// maxSample bounds one sample in bytes: over what a picture takes when no
// macroblock is compressed (384 bytes each, and headers).
func (w Want) maxSample() int64 {
	mbs := int64((w.Width+15)/16) * int64((w.Height+15)/16)
	return 64<<10 + 512*mbs
}
