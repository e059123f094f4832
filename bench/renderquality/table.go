package main

import (
	"fmt"
	"io"
)

type row struct {
	Setting Setting `json:"setting"`
	Figures Figures `json:"figures"`
}

// result is what one take gave.
type result struct {
	Take   string `json:"take"`
	Frames int    `json:"frames"`
	Rows   []row  `json:"rows"`
}

// printTables writes a Markdown table for each take. Sizes also stand as ratios to
// the first row, which is what others do by default.
func printTables(w io.Writer, results []result) {
	for _, res := range results {
		fmt.Fprintf(w, "\nTake %q, %d frames:\n\n", res.Take, res.Frames)
		fmt.Fprintln(w, "| setting | SSIM Y | SSIM all | kB | of the first | CPU ms/frame |")
		fmt.Fprintln(w, "|---|---|---|---|---|---|")
		for _, r := range res.Rows {
			f := r.Figures
			fmt.Fprintf(w, "| %s | %.5f | %.5f | %.0f | %.2f | %.1f |\n",
				r.Setting.Name, f.SSIMLuma, f.SSIM, f.KBytes, f.KBytes/res.Rows[0].Figures.KBytes, f.CPU)
		}
	}
}
