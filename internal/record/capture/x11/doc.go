// Package x11 films an X11 display by its damage: the X server says which
// rectangles were painted, only those are fetched (through MIT-SHM) and
// converted into a standing I420 frame, and that frame goes to the encoder
// only when its pixels really changed. While nothing changes nothing runs but
// a timer.
//
// The way of one frame:
//
//	inbox    events of the X server, with the time at which they came
//	grid     when a frame is due, and which tick it gets
//	screen   damage region, pixels of its rectangles, pointer
//	canvas   pixels into the standing frame; what of it changed
//	encoder  an ffmpeg child: frame in, packet out, one for one
//	run      the loop over all of these; governor lowers its rate
//
// What may not live here: where packets are kept, and anything of other
// window systems.
package x11
