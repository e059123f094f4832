package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// The targets: how many times as many frames a second as the faster peer, and
// our whole time over that of the slower of its two parts.
const (
	targetEqual    = 5.0
	targetDefaults = 7.0
	targetOthers   = 1.5 // the webgl and dom scenes, at either setting
	targetLimit    = 1.25
)

// spread is the median of a figure over the runs, and its ends.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return spread{Median: (v[(n-1)/2] + v[n/2]) / 2, Min: v[0], Max: v[n-1]}
}

// caseResult is a case over all its runs.
type caseResult struct {
	benchCase
	FPS    spread `json:"fps"`
	Wall   spread `json:"wallSeconds"`
	CPUms  spread `json:"cpuMs"`
	PeakMB spread `json:"peakMB"`
	MB     spread `json:"mb"`
	SSIM   spread `json:"ssim"`
	Format string `json:"format,omitempty"`
	Left   int    `json:"left"`
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
	Others   spread       `json:"others"` // cores that other processes used meanwhile
	Cases    []caseResult `json:"cases"`
	Due      []due        `json:"due"`
	Rows     []row        `json:"rows"`
}

func summarize(versions []string, runs int, rows []row) result {
	r := result{At: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), Runs: runs, Versions: versions, Rows: rows}
	r.Others = over(rows, func(r row) float64 { return r.Others })
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

func over(rows []row, figure func(row) float64) spread {
	values := make([]float64, len(rows))
	for i, r := range rows {
		values[i] = figure(r)
	}
	return spreadOf(values)
}

func sumUp(rows []row) caseResult {
	c := caseResult{
		benchCase: rows[0].benchCase, Format: rows[0].Codec,
		FPS:    over(rows, func(r row) float64 { return r.FPS }),
		Wall:   over(rows, func(r row) float64 { return r.WallSeconds }),
		CPUms:  over(rows, func(r row) float64 { return r.CPUms }),
		PeakMB: over(rows, func(r row) float64 { return r.PeakMB }),
		MB:     over(rows, func(r row) float64 { return float64(r.Bytes) / 1e6 }),
		SSIM:   over(rows, func(r row) float64 { return r.SSIM }),
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

func (r result) save(path string) error {
	if path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the figures: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder for the figures: %w", err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}
