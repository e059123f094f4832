package main

import "strings"

// The recorders under test, by the names that the table gives them.
const (
	nobody       = "nobody"            // the page alone
	ours         = "proofreel"         // the product: its supervisor, encoder and verifier
	oursCFR      = "proofreel cfr"     // the same, its film at a constant rate
	oursVeryfast = "engine veryfast"   // our engine with x11grab's encoder settings
	grabVeryfast = "x11grab veryfast"  // ffmpeg, veryfast CRF 12, 2 s GOP, passthrough
	grabFast     = "x11grab ultrafast" // ffmpeg, ultrafast
	grabLossless = "x11grab lossless"  // ffmpeg, ultrafast, lossless
)

// benchCase is a recorder at work on a page that does something.
type benchCase struct {
	Workload string `json:"workload"` // a mode of the rig
	Recorder string `json:"recorder"`
	FPS      int    `json:"fps"`
}

// workload tells apart what is compared: recorders of one rate.
func (c benchCase) workload() string {
	if c.FPS == slowFPS {
		return c.Workload + " 15 fps"
	}
	return c.Workload
}

func (c benchCase) name() string { return c.workload() + "/" + c.Recorder }

const (
	fastFPS = 60
	slowFPS = 15
)

// allCases is what is measured, in the order of a run.
func allCases() []benchCase {
	var all []benchCase
	for _, w := range []string{"idle", "typing", "scroll", "anim", "full"} {
		recorders := []string{nobody, ours, grabVeryfast, oursVeryfast, grabFast}
		if w == "idle" { // there the page paints nothing, and the encoder does nothing
			recorders = []string{ours, grabVeryfast, grabFast, oursCFR}
		}
		for _, r := range recorders {
			all = append(all, benchCase{w, r, fastFPS})
		}
	}
	return append(all, benchCase{"idle", ours, slowFPS}, benchCase{"idle", grabLossless, slowFPS})
}

// grabArgs is what x11grab's encoder is told, by recorder.
func grabArgs(recorder string) []string {
	words := map[string]string{
		grabVeryfast: "-c:v libx264 -preset veryfast -crf 12 -pix_fmt yuv420p -g 120 -fps_mode passthrough",
		grabFast:     "-c:v libx264 -preset ultrafast -pix_fmt yuv420p",
		grabLossless: "-c:v libx264 -preset ultrafast -qp 0 -pix_fmt yuv444p",
	}
	return strings.Fields(words[recorder])
}
