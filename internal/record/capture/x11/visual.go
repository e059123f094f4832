package x11

import (
	"fmt"

	"github.com/jezek/xgb/xproto"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

// UnsupportedError says that this display can't be filmed by this engine,
// before anything was filmed. ffmpeg's grabber may still be able to.
type UnsupportedError struct{ Reason string }

func (e *UnsupportedError) Error() string {
	return "the damage engine can't film this display: " + e.Reason
}

// pixelFormat finds how the root window's pixels lie in memory.
func pixelFormat(setup *xproto.SetupInfo, root *xproto.ScreenInfo) (pixel.Format, error) {
	visual, ok := findVisual(root)
	if !ok || visual.Class != xproto.VisualClassTrueColor {
		return 0, &UnsupportedError{fmt.Sprintf("its visual of depth %d is not TrueColor", root.RootDepth)}
	}
	bits := bitsPerPixel(setup, root.RootDepth)
	type layout struct {
		bits             byte
		red, green, blue uint32
	}
	known := map[layout]pixel.Format{
		{32, 0xFF0000, 0x00FF00, 0x0000FF}: pixel.BGRX,
		{16, 0xF800, 0x07E0, 0x001F}:       pixel.RGB565,
		{32, 0x3FF00000, 0xFFC00, 0x3FF}:   pixel.X2R10G10B10,
	}
	format, ok := known[layout{bits, visual.RedMask, visual.GreenMask, visual.BlueMask}]
	if !ok {
		return 0, &UnsupportedError{fmt.Sprintf("depth %d, %d bits per pixel, masks %x/%x/%x",
			root.RootDepth, bits, visual.RedMask, visual.GreenMask, visual.BlueMask)}
	}
	if setup.ImageByteOrder != xproto.ImageOrderLSBFirst {
		return 0, &UnsupportedError{"its pixels are big-endian"}
	}
	return format, nil
}

func findVisual(root *xproto.ScreenInfo) (xproto.VisualInfo, bool) {
	for _, depth := range root.AllowedDepths {
		for _, v := range depth.Visuals {
			if v.VisualId == root.RootVisual {
				return v, true
			}
		}
	}
	return xproto.VisualInfo{}, false
}

func bitsPerPixel(setup *xproto.SetupInfo, depth byte) byte {
	for _, f := range setup.PixmapFormats {
		if f.Depth == depth {
			return f.BitsPerPixel
		}
	}
	return 0
}
