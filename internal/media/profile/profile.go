// Package profile holds the codec and quality settings of our films: which
// encoder arguments make a recording, and with which colour tags. It starts
// nothing.
package profile

import (
	"fmt"
	"strings"
)

// Video is an encode profile for H.264 by libx264.
type Video struct {
	Preset string  // x264 preset
	CRF    int     // constant rate factor, 0 to 51
	Key    float64 // seconds between keyframes, at most
}

// Recording is the profile of a recording. It was chosen from the table in
// docs/encode-profile.md.
//
// Ultrafast at CRF 16 keeps 12 px text at 54 dB where veryfast at CRF 12 keeps
// it at 51: ultrafast has no adaptive quantisation, which takes bits from text.
func Recording() Video { return Video{Preset: "ultrafast", CRF: 16, Key: 0.9} }

// constraints are the x264 parameters that the recorder relies on: every
// picture leaves the encoder before the next one enters (no B-frames, no
// lookahead, no frame threads), and each refers to the one before it alone, so
// that a picture can be repeated by a skip-only picture (package h264). A
// keyframe comes by time, never by content, so that segments have even lengths.
func constraints() []string {
	return []string{
		"bframes=0", "ref=1", "weightp=0", "rc-lookahead=0", "sync-lookahead=0",
		"scenecut=0", "mbtree=0", "sliced-threads=1", "force-cfr=1",
		"8x8dct=1", // without it ultrafast gives Constrained Baseline, whatever -profile:v says
	}
}

// Args are ffmpeg's output arguments for this profile.
func (v Video) Args() []string {
	args := []string{
		"-c:v", "libx264", "-preset", v.Preset, "-crf", fmt.Sprint(v.CRF),
		"-profile:v", "high", "-pix_fmt", "yuv420p",
		"-x264-params", strings.Join(constraints(), ":"),
		"-g", "100000", // keyframes come by the expression below
		"-force_key_frames", KeyEvery(v.Key),
	}
	return append(args, ColourArgs()...)
}

// KeyEvery is ffmpeg's -force_key_frames expression for a keyframe on the first
// picture that comes at least seconds after the last one. Counting keyframes
// instead (gte(t,n_forced*1)) would lag behind after a still stretch, in which
// no pictures come, and then make every picture a keyframe until it has caught up.
func KeyEvery(seconds float64) string {
	return fmt.Sprintf("expr:if(isnan(prev_forced_t),1,gte(t,prev_forced_t+%g))", seconds)
}

// ColourArgs tag the stream as BT.709, limited range, in all four fields.
// Untagged films decode with a shifted red (ff1700 for ff0000, measured).
func ColourArgs() []string {
	return []string{
		"-color_range", "tv", "-colorspace", "bt709",
		"-color_primaries", "bt709", "-color_trc", "bt709",
	}
}

// ToYUV is the filter that converts a grabbed RGB screen of w by h pixels to
// BT.709 limited 4:2:0, padded to even sizes by repeating the last row and
// column (black pads would show as a line).
func ToYUV(w, h int) string {
	chain := "scale=out_color_matrix=bt709:out_range=tv:flags=area,format=yuv420p"
	if ew, eh := Even(w), Even(h); ew != w || eh != h {
		// fillborders works on whole pixels of RGB: pad first, then repeat the edge.
		return fmt.Sprintf("pad=%d:%d:0:0,fillborders=0:%d:0:%d:smear,%s", ew, eh, ew-w, eh-h, chain)
	}
	return chain
}

// Even rounds a size up to the even size that 4:2:0 needs.
func Even(n int) int { return n + n&1 }
