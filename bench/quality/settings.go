package main

import (
	"fmt"
	"strconv"
	"strings"
)

// Setting is one way to encode.
type Setting struct {
	Name   string `json:"name"`
	Preset string `json:"preset"`
	CRF    int    `json:"crf"`
	// Format is yuv420p, or yuv444p for the reference.
	Format string `json:"format"`
	Tune   string `json:"tune,omitempty"`
	// Extra is x264 parameters beyond the recorder's constraints.
	Extra string `json:"extra,omitempty"`
}

// constraints are what the recorder needs whatever the quality: each frame leaves the
// encoder at once (no lookahead, no B-frames, sliced threads), and each second is
// playable alone.
const constraints = "bframes=0:ref=1:weightp=0:rc-lookahead=0:sync-lookahead=0:scenecut=0:mbtree=0:sliced-threads=1"

// arguments are ffmpeg's output options for the setting, without the file.
func (s Setting) arguments() []string {
	profile := "high"
	if s.Format == "yuv444p" {
		profile = "high444"
	}
	params := constraints
	if s.Extra != "" {
		params += ":" + s.Extra
	}
	args := []string{"-c:v", "libx264", "-preset", s.Preset}
	if s.Tune != "" {
		args = append(args, "-tune", s.Tune)
	}
	return append(args,
		"-crf", strconv.Itoa(s.CRF), "-profile:v", profile, "-pix_fmt", s.Format,
		"-g", strconv.Itoa(rate), "-keyint_min", strconv.Itoa(rate), "-x264-params", params,
		"-color_range", "tv", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709")
}

func settings() []Setting {
	var all []Setting
	add := func(preset string, crf int, tune, extra string) {
		name := fmt.Sprintf("%s %d", preset, crf)
		for _, part := range []string{tune, strings.ReplaceAll(extra, ":", " ")} {
			if part != "" {
				name += " " + part
			}
		}
		all = append(all, Setting{Name: name, Preset: preset, CRF: crf, Format: "yuv420p", Tune: tune, Extra: extra})
	}
	for _, preset := range []string{"ultrafast", "superfast", "veryfast"} {
		for _, crf := range []int{12, 16, 20, 23} {
			add(preset, crf, "", "")
		}
	}
	// Ultrafast leaves out the 8x8 transform, and without it x264 marks the stream as
	// Constrained Baseline whatever -profile says.
	for _, crf := range []int{12, 16, 20} {
		add("ultrafast", crf, "", "8x8dct=1")
	}
	for _, crf := range []int{12, 16, 18, 20} {
		add("ultrafast", crf, "", "8x8dct=1:cabac=1")
	}
	for _, extra := range []string{"aq-mode=1", "chroma-qp-offset=-4", "deblock=0,0", "threads=1", "threads=4"} {
		add("ultrafast", 16, "", "8x8dct=1:"+extra)
	}
	add("superfast", 16, "stillimage", "")
	for _, extra := range []string{"aq-mode=0", "aq-mode=3", "deblock=-2,-2", "no-deblock=1", "chroma-qp-offset=-4"} {
		add("superfast", 16, "", extra)
	}
	add("superfast", 20, "", "aq-mode=0")
	all = append(all, Setting{Name: "superfast 12 4:4:4", Preset: "superfast", CRF: 12, Format: "yuv444p"},
		Setting{Name: "superfast 16 4:4:4", Preset: "superfast", CRF: 16, Format: "yuv444p"})
	return all
}
