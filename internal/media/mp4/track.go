package mp4

import (
	"fmt"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// unitsPerTick is how many units of the time scale one tick takes.
const unitsPerTick = 1000

// maxFPS bounds frame rates; with it time scales stay below 2^20.
const maxFPS = 1000

// Track describes the one video track of a file. It is constant through the
// file.
type Track struct {
	// Width and Height are the picture's size in samples, as the SPS gives it
	// after cropping.
	Width, Height int
	// FPS is the frame rate in whole frames a second, 1 to 1000.
	FPS int
	// SPS and PPS are the parameter sets: NAL units without length or start code.
	SPS, PPS []byte
}

// Timescale is the units a second of the track's times: 1000 a tick.
func (t Track) Timescale() int { return t.FPS * unitsPerTick }

// Sample is one picture of a file.
type Sample struct {
	// Tick is when the picture is shown, on the frame rate's grid.
	Tick int64
	// Key tells whether decoding can start here.
	Key bool
	// Offset and Size say where in the file its access unit is, in bytes.
	Offset, Size int64
}

func (t Track) validate() error {
	if t.FPS < 1 || t.FPS > maxFPS {
		return fmt.Errorf("mp4: frame rate %d is not within 1 to %d", t.FPS, maxFPS)
	}
	sps, err := h264.ParseSPS(t.SPS)
	if err != nil {
		return fmt.Errorf("mp4: read the track's SPS: %w", err)
	}
	if sps.Width != t.Width || sps.Height != t.Height {
		return fmt.Errorf("mp4: track of %dx%d with an SPS of %dx%d", t.Width, t.Height, sps.Width, sps.Height)
	}
	if t.Width > 0xffff || t.Height > 0xffff {
		return fmt.Errorf("mp4: %dx%d does not fit a sample entry", t.Width, t.Height)
	}
	return nil
}
