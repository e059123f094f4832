// Package overlay draws what is laid over the pictures of a clip: captions,
// marks of skips and speed, pointer, clicks, keys, zoom and frame. Times come
// from its caller, and so do pictures: it knows no file, no timeline and no
// ffmpeg.
//
// Pictures are premultiplied RGBA (sRGB). Onto I420 they are blended as BT.709
// in limited range, which is what recordings have.
package overlay
