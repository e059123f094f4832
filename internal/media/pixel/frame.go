// Package pixel turns rectangles of a captured screen into a standing
// BT.709 limited-range I420 frame, the form in which the encoder takes them.
//
// What lives here is arithmetic on bytes that the caller holds: conversion,
// alignment to the chroma grid, and the answer which part of the frame really
// changed. What may not live here: X11, files, processes, goroutines.
//
// # Arithmetic
//
// Coefficients are BT.709 (Kr 0.2126, Kb 0.0722; ITU-R BT.709-6, item 3) for
// 8-bit limited range (Y 16..235, Cb and Cr 16..240), in Q15:
//
//	Y  =  16 + ( 5983 R + 20127 G +  2032 B) / 2^15
//	Cb = 128 + (-3298 R - 11094 G + 14392 B) / 2^15
//	Cr = 128 + (14392 R - 13073 G -  1319 B) / 2^15
//
// each rounded half up, once. The Y row sums to 28142, so white is exactly 235
// and black exactly 16; the chroma rows sum to 0, so every grey has exactly
// Cb = Cr = 128. Chroma is computed from the sum of the 2x2 block (not from
// rounded averages), so it is sited at the centre of the block: H.264
// chroma_sample_loc_type 1, ffmpeg's "center".
package pixel

import (
	"fmt"
	"image"
)

// MaxSide bounds the width and height of a frame, in pixels. It is far above
// the largest screen that is recorded (7680x4320) and keeps every size product
// inside 32 bits.
const MaxSide = 16384

// Frame is one I420 picture in one contiguous buffer: rawvideo yuv420p as
// ffmpeg reads it, planes without padding between rows.
//
// The coded size is even. When the picture's own size is odd, the last column
// or row is repeated into the padding.
type Frame struct {
	// Picture is the size of the screen that the frame shows; may be odd.
	Picture image.Point
	// Width and Height are the coded size in pixels, always even.
	Width, Height int
	// Data holds the planes Y, U, V one after the other.
	Data []byte
	// Y, U and V are the planes of Data. Their strides are Width, Width/2 and
	// Width/2 bytes.
	Y, U, V []byte
}

// NewFrame returns a black frame for a picture of width by height pixels.
// Sizes outside 1..MaxSide are an error.
func NewFrame(width, height int) (*Frame, error) {
	if width < 1 || height < 1 || width > MaxSide || height > MaxSide {
		return nil, fmt.Errorf("frame size %dx%d outside 1x1 to %dx%d", width, height, MaxSide, MaxSide)
	}
	w, h := (width+1)&^1, (height+1)&^1
	f := &Frame{Picture: image.Pt(width, height), Width: w, Height: h}
	luma, chroma := w*h, w*h/4
	f.Data = make([]byte, luma+2*chroma)
	f.Y = f.Data[:luma:luma]
	f.U = f.Data[luma : luma+chroma : luma+chroma]
	f.V = f.Data[luma+chroma:]
	fill(f.Y, 16)
	fill(f.U, 128)
	fill(f.V, 128)
	return f, nil
}

// Bounds is the rectangle of the picture, without padding.
func (f *Frame) Bounds() image.Rectangle {
	return image.Rectangle{Max: f.Picture}
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}
