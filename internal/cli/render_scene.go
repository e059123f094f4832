package cli

import (
	"fmt"

	"github.com/proofreel/proofreel/internal/studio/renderer"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

func renderFilm(b *lines, p palette, d renderer.RenderResult) {
	b.add("%s %s", p.good.Render("Rendered"), p.bold.Render(clean(d.Path)))
	b.field(p, "film", fmt.Sprintf("%s, %dx%d at %d fps, %d frames, %s, %s", clock(d.Seconds), d.Width, d.Height, d.FPS, d.Frames, bytesText(d.Bytes), clean(string(d.Quality))))
	b.field(p, "poster", clean(d.Poster))
	took := fmt.Sprintf("%s with %s", clock(d.Took), count(d.Workers, "worker"))
	if d.Reused > 0 {
		took += fmt.Sprintf("; %d of %s were there from before", d.Reused, count(d.Stretches, "part"))
	}
	if d.Restarts > 0 {
		took += "; the browser or ffmpeg died and was started again " + count(d.Restarts, "time")
	}
	b.field(p, "took", took)
	renderNotes(b, p, d.Notes)
}

func renderStills(b *lines, p palette, d renderer.StillResult) {
	for _, s := range d.Stills {
		b.add("%s  %.2f s, frame %d", p.bold.Render(clean(s.Path)), s.Seconds, s.Frame)
	}
	renderNotes(b, p, d.Notes)
}

func renderNotes(b *lines, p palette, notes []scene.Note) {
	for _, n := range notes {
		text := n.Text
		if place := n.Place.String(); place != "" {
			text = place + ": " + text
		}
		b.field(p, "note", p.note.Render(clean(text)))
	}
}

func renderCheck(b *lines, p palette, d renderer.CheckResult) {
	if d.Frames > 0 {
		b.field(p, "scene", fmt.Sprintf("%s, %s, %dx%d at %d fps, %d frames", clean(d.Scene), clean(string(d.Kind)), d.Width, d.Height, d.FPS, d.Frames))
		b.field(p, "drawn", fmt.Sprintf("%s, each twice; %.0f ms in the median, %.0f ms the slowest", count(len(d.Checked), "frame"), d.FrameMS, d.SlowMS))
	}
	for _, f := range d.Errors {
		renderFinding(b, p, p.bad.Render("✗"), f)
	}
	for _, f := range d.Warnings {
		renderFinding(b, p, p.note.Render("!"), f)
	}
	if d.OK {
		b.add("%s", p.good.Render("Nothing is wrong with it."))
	}
}

func renderFinding(b *lines, p palette, mark string, f renderer.Finding) {
	b.WriteString(mark + " " + clean(f.Code+"  "+findingText(f)) + "\n")
	if f.Hint != "" {
		b.WriteString("  " + p.dim.Render(clean(f.Hint)) + "\n")
	}
}

func renderStyles(b *lines, p palette, d StyleList) {
	for _, s := range d.Styles {
		fmt.Fprintf(b, "%s %s\n  %s\n", p.bold.Render(fmt.Sprintf("%-12s", s.Name)), s.About, p.dim.Render(s.Good))
	}
	b.add("\nproofreel scene styles NAME tells all about one.")
}

func renderStyle(b *lines, _ palette, d StyleDetail) { b.WriteString(d.Guide) }

func renderLibraries(b *lines, p palette, d LibraryList) {
	for _, l := range d.Libraries {
		fmt.Fprintf(b, "%s %-8s %-12s %s\n", p.bold.Render(fmt.Sprintf("%-20s", l.Name)), l.Version, l.License, l.About)
	}
}
