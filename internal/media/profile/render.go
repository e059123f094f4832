package profile

import (
	"fmt"
	"slices"
	"strings"
)

// Quality is how good a rendered film is to be.
type Quality string

// The qualities, from the fastest to the best.
const (
	Draft    Quality = "draft"    // to look at while working on a scene
	Standard Quality = "standard" // to publish
	High     Quality = "high"     // visually lossless, to be cut or encoded again
)

// Qualities lists them in the order of the docs.
func Qualities() []Quality { return []Quality{Draft, Standard, High} }

// Film is an encode profile for a film whose frames are all drawn before it is
// shown: its encoder may look ahead, and need not keep up with anything.
type Film struct {
	Preset string   // x264 preset
	CRF    int      // constant rate factor, 1 to 51
	Params []string // x264 parameters beyond the preset, for instance "aq-mode=1"
}

// Render is the profile of a quality; ok is false for one that is not listed.
// They were chosen from the tables in docs/render-quality.md.
//
// 8x8dct is there because without it ultrafast gives Constrained Baseline,
// whatever -profile:v says.
func Render(q Quality) (f Film, ok bool) {
	switch q {
	case Draft:
		return Film{Preset: "ultrafast", CRF: 26, Params: []string{"8x8dct=1"}}, true
	case Standard:
		return Film{Preset: "ultrafast", CRF: 23, Params: []string{"8x8dct=1", "deblock=1", "aq-mode=1"}}, true
	case High:
		return Film{Preset: "faster", CRF: 14}, true
	default:
		return Film{}, false
	}
}

// filmConstraints are the x264 parameters that the renderer relies on.
//
// Stretches of a film are encoded by processes of their own and joined without
// encoding, so headers may not depend on what is in a stretch (stitchable) and
// nothing refers over its beginning (open-gop). Bytes may depend on nothing but
// the frames: one thread, no choice of algorithm by processor
// (cpu-independent). Every picture refers to the one before it alone (bframes,
// ref, and weightp=1, which weights a reference and doubles none), so that a
// frame that equals the one before is a skip-only picture that package h264
// writes, and presentation order is coding order: no composition offsets and no
// edit list. A stretch has its keyframe at its beginning, and others at cuts
// only (keyint).
func filmConstraints() []string {
	return []string{
		"bframes=0", "ref=1", "weightp=1", "open-gop=0", "keyint=infinite",
		"stitchable=1", "cpu-independent=1", "threads=1", "sliced-threads=0", "force-cfr=1",
	}
}

// Args are ffmpeg's output arguments for this profile.
func (f Film) Args() []string {
	args := []string{
		"-c:v", "libx264", "-preset", f.Preset, "-crf", fmt.Sprint(f.CRF),
		"-profile:v", "high", "-pix_fmt", "yuv420p", "-threads", "1",
		"-x264-params", strings.Join(slices.Concat(f.Params, filmConstraints()), ":"),
	}
	return append(args, ColourArgs()...)
}
