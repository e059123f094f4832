package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proofreel/proofreel/internal/media/profile"
)

// Feed is in which form frames are given to the encoder.
type Feed string

const (
	feedYUV  Feed = "yuv"  // converted by us, one step from R'G'B' to BT.709 4:2:0
	feedJPEG Feed = "jpeg" // screenshots
)

// Setting is one way to encode.
type Setting struct {
	Name string   `json:"name"`
	Feed Feed     `json:"feed"`
	Args []string `json:"args"`
}

// peers are models of what others do by default, as their files show it: JPEG
// screenshots of quality 80 into x264 medium at CRF 18. Remotion hands the
// screenshots' full range on and tags it so; HyperFrames converts it.
func peers() []Setting {
	medium := []string{"-c:v", "libx264", "-preset", "medium", "-crf", "18"}
	return []Setting{
		{"remotion's default (model)", feedJPEG, slices.Concat(medium, []string{"-pix_fmt", "yuvj420p"})},
		{"hyperframes' default (model)", feedJPEG, slices.Concat(
			[]string{"-vf", "scale=out_color_matrix=bt709:out_range=tv"}, medium, []string{"-pix_fmt", "yuv420p"}, profile.ColourArgs())},
	}
}

func settings() []Setting {
	all := peers()
	add := func(preset string, crf int, params ...string) {
		name := strings.Join(append([]string{preset, fmt.Sprint(crf)}, params...), " ")
		all = append(all, Setting{name, feedYUV, profile.Film{Preset: preset, CRF: crf, Params: params}.Args()})
	}
	for _, preset := range []string{"superfast", "veryfast", "faster", "medium"} {
		for _, crf := range []int{14, 18, 22} {
			add(preset, crf)
		}
	}
	// Without 8x8dct ultrafast's stream is Constrained Baseline.
	for _, crf := range []int{14, 16, 18, 20, 22, 23, 24, 26, 28} {
		add("ultrafast", crf, "8x8dct=1")
		add("ultrafast", crf, "8x8dct=1", "deblock=1")
		add("ultrafast", crf, "8x8dct=1", "deblock=1", "cabac=1")
	}
	for _, crf := range []int{21, 22, 23, 24} {
		add("ultrafast", crf, "8x8dct=1", "deblock=1", "aq-mode=1")
		add("ultrafast", crf, "8x8dct=1", "deblock=1", "cabac=1", "aq-mode=1")
	}
	for _, param := range []string{"subme=1", "rc-lookahead=10:mbtree=1", "scenecut=40:rc-lookahead=10", "weightp=0"} {
		add("ultrafast", 22, "8x8dct=1", "deblock=1", "cabac=1", param)
	}
	for _, param := range []string{
		"aq-mode=0", "aq-mode=3", "deblock=1,1", "subme=1", "trellis=0", "me=dia", "partitions=none", "no-psy=1",
		"rc-lookahead=5", "no-mbtree=1", "no-mbtree=1:rc-lookahead=0", "no-mbtree=1:rc-lookahead=0:aq-mode=0",
	} {
		add("veryfast", 18, param)
	}
	add("superfast", 20, "aq-mode=0")
	add("superfast", 20, "no-mbtree=1:rc-lookahead=0:aq-mode=0")
	return append(all, withB()...)
}

// withB are presets as x264 has them, with B-frames and references of their own
// choice: what the renderer's constraints cost, or gain.
func withB() []Setting {
	var all []Setting
	for _, preset := range []string{"veryfast", "faster"} {
		all = append(all, Setting{"unconstrained " + preset + " 18", feedYUV, append([]string{
			"-c:v", "libx264", "-preset", preset, "-crf", "18", "-profile:v", "high", "-pix_fmt", "yuv420p", "-threads", "1",
		}, profile.ColourArgs()...)})
	}
	return all
}
