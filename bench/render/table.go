package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/proofreel/proofreel/bench/internal/gauge"
)

// The targets: how many times as many frames a second as the faster peer, and
// our whole time over that of the slower of its two parts.
const (
	targetEqual    = 5.0
	targetDefaults = 7.0
	targetOthers   = 1.5 // the webgl and dom scenes, at either setting
	targetLimit    = 1.25
)

// caseResult is a case over all its runs.
type caseResult struct {
	benchCase
	FPS    gauge.Spread `json:"fps"`
	Wall   gauge.Spread `json:"wallSeconds"`
	CPUms  gauge.Spread `json:"cpuMs"`
	PeakMB gauge.Spread `json:"peakMB"`
	MB     gauge.Spread `json:"mb"`
	SSIM   gauge.Spread `json:"ssim"`
	Format string       `json:"format,omitempty"`
	Left   int          `json:"left"`
}

// due is a target and what was reached.
type due struct {
	Scene   string  `json:"scene"`
	Setting string  `json:"setting"`
	What    string  `json:"what"`
	Got     float64 `json:"got"`
	Want    float64 `json:"want"`
	Met     bool    `json:"met"`
}

// result is what the command prints and keeps.
type result struct {
	At       time.Time    `json:"at"`
	Cores    int          `json:"cores"`
	Runs     int          `json:"runs"`
	Versions []string     `json:"versions"`
	Others   gauge.Spread `json:"others"` // cores that other processes used meanwhile
	Cases    []caseResult `json:"cases"`
	Due      []due        `json:"due"`
	Rows     []row        `json:"rows"`
}

func summarize(versions []string, runs int, rows []row) result {
	r := result{At: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), Runs: runs, Versions: versions, Rows: rows}
	r.Others = gauge.Over(rows, func(r row) float64 { return r.Others })
	var titles []string
	for _, one := range rows {
		if slices.Contains(titles, one.title()) {
			continue
		}
		titles = append(titles, one.title())
		r.Cases = append(r.Cases, sumUp(slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.title() != one.title() })))
	}
	r.Due = r.dues()
	return r
}

func sumUp(rows []row) caseResult {
	c := caseResult{
		benchCase: rows[0].benchCase, Format: rows[0].Codec,
		FPS:    gauge.Over(rows, func(r row) float64 { return r.FPS }),
		Wall:   gauge.Over(rows, func(r row) float64 { return r.WallSeconds }),
		CPUms:  gauge.Over(rows, func(r row) float64 { return r.CPUms }),
		PeakMB: gauge.Over(rows, func(r row) float64 { return r.PeakMB }),
		MB:     gauge.Over(rows, func(r row) float64 { return float64(r.Bytes) / 1e6 }),
		SSIM:   gauge.Over(rows, func(r row) float64 { return r.SSIM }),
	}
	for _, r := range rows {
		c.Left += r.Left
	}
	return c
}

// dues holds the medians against the targets.
func (r result) dues() (all []due) {
	for _, scene := range allScenes() {
		for _, setting := range allSettings() {
			own, ok := r.find(scene, setting, ours)
			if !ok {
				continue
			}
			if peer, ok := r.fastestPeer(scene, setting); ok {
				want := targetOthers
				if scene == "canvas" {
					want = map[string]float64{equal: targetEqual, defaults: targetDefaults}[setting]
				}
				all = append(all, atLeast(scene, setting, "frames a second, times those of "+peer.Name, own.FPS.Median/peer.FPS.Median, want))
				if setting == defaults {
					all = append(all, atLeast(scene, setting, "SSIM, less that of the better peer", own.SSIM.Median-r.bestSSIM(scene), 0))
				}
			}
			encoder, ok := r.find(scene, setting, encodeAlone)
			pictures, also := r.find(scene, setting, framesAlone)
			if ok && also {
				got := own.Wall.Median / max(encoder.Wall.Median, pictures.Wall.Median)
				all = append(all, due{scene, setting, "whole time over the slower of its two parts", got, targetLimit, got <= targetLimit})
			}
		}
	}
	return all
}

func atLeast(scene, setting, what string, got, want float64) due {
	return due{scene, setting, what, got, want, got >= want}
}

func (r result) find(scene, setting, name string) (caseResult, bool) {
	i := slices.IndexFunc(r.Cases, func(c caseResult) bool { return c.Scene == scene && c.Setting == setting && c.Name == name })
	if i < 0 {
		return caseResult{}, false
	}
	return r.Cases[i], true
}

func (r result) fastestPeer(scene, setting string) (best caseResult, ok bool) {
	for _, c := range r.Cases {
		if c.Scene == scene && c.Setting == setting && (c.Name == remotion || c.Name == hyperframes) && c.FPS.Median > best.FPS.Median {
			best, ok = c, true
		}
	}
	return best, ok
}

func (r result) bestSSIM(scene string) (best float64) {
	for _, c := range r.Cases {
		if c.Scene == scene && c.Setting == defaults && (c.Name == remotion || c.Name == hyperframes) {
			best = max(best, c.SSIM.Median)
		}
	}
	return best
}

func (r result) print(w io.Writer) {
	fmt.Fprintf(w, "%s, %d cores, %d runs of each; other processes used %.2f cores in the median (%.2f to %.2f)\n%s\n",
		r.At.Format(time.DateOnly), r.Cores, r.Runs, r.Others.Median, r.Others.Min, r.Others.Max, strings.Join(r.Versions, ", "))
	if len(r.Rows) > 0 {
		fmt.Fprintf(w, "CPU time by %s.\n", r.Rows[0].Counted)
	}
	fmt.Fprintf(w, "Films of %d frames, %dx%d. Medians; frames a second of the whole process.\n\n", frames, width, height)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tframes/s\tfrom\tto\tCPU ms a frame\tpeak MB\tMB\tSSIM\tpixels")
	for _, c := range r.Cases {
		size, ssim := "", ""
		if c.film {
			size, ssim = fmt.Sprintf("%.2f", c.MB.Median), fmt.Sprintf("%.4f", c.SSIM.Median)
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%.0f\t%.0f\t%s\t%s\t%s\n", c.title(), c.FPS.Median, c.FPS.Min, c.FPS.Max, c.CPUms.Median, c.PeakMB.Median, size, ssim, c.Format)
	}
	_ = t.Flush() // to a terminal or a file: a broken one shows
	fmt.Fprintln(w)
	for _, d := range r.Due {
		verdict := "met"
		if !d.Met {
			verdict = "MISSED"
		}
		fmt.Fprintf(w, "%-8s %-8s %-60s %7.3f  target %.2f  %s\n", d.Scene, d.Setting, d.What, d.Got, d.Want, verdict)
	}
	for _, c := range r.Cases {
		if c.Note != "" {
			fmt.Fprintf(w, "%s: %s\n", c.title(), c.Note)
		}
		if c.Left > 0 {
			fmt.Fprintf(w, "%s: %d processes were left running and had to be killed\n", c.title(), c.Left)
		}
	}
}
