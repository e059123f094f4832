package main

import (
	"fmt"
	"io"
)

type row struct {
	Setting Setting `json:"setting"`
	Still   Figures `json:"still"`
	Scroll  Figures `json:"scroll"`
}

// result is what the command writes as JSON.
type result struct {
	// Seconds is the length of each take.
	Seconds int `json:"seconds"`
	// PipeOnlyCPU is the CPU seconds for each recorded second without an encoder.
	PipeOnlyCPU float64 `json:"pipeOnlyCpu"`
	Rows        []row   `json:"rows"`
}

// printTable writes a Markdown table: the still take's quality, then the scrolling
// take's, each with its size and its cost.
func printTable(w io.Writer, res result) {
	fmt.Fprintln(w, "| setting | profile | 12 px text Y (worst) | SSIM | 12 px code Y | ladder Y | edges U / V | edges U / V vs 4:4:4 | text RGB | edges RGB | still kB/s | still CPU s/s | scroll log Y (worst) | scroll SSIM | scroll kB/s | scroll CPU s/s |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range res.Rows {
		text, edges, log := r.Still.Crops["text12"], r.Still.Crops["edges"], r.Scroll.Crops["log"]
		fmt.Fprintf(w, "| %s | %s | %.1f (%.1f) | %.4f | %.1f | %.1f | %.1f / %.1f | %.1f / %.1f | %.1f | %.1f | %.0f | %.2f | %.1f (%.1f) | %.4f | %.0f | %.2f |\n",
			r.Setting.Name, r.Still.Profile, text.Luma, text.LumaWorst, text.SSIM,
			r.Still.Crops["mono12"].Luma, r.Still.Crops["ladder"].Luma,
			edges.U, edges.V, edges.U444, edges.V444, text.RGB, edges.RGB,
			r.Still.KBytesPerSecond, r.Still.CPUPerSecond,
			log.Luma, log.LumaWorst, log.SSIM, r.Scroll.KBytesPerSecond, r.Scroll.CPUPerSecond)
	}
	fmt.Fprintf(w, "\nWithout an encoder ffmpeg spends %.2f CPU seconds a recorded second on the pipe.\n", res.PipeOnlyCPU)
}
