package cli

import (
	"fmt"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/studio/executor/machine"
)

func renderGenerated(b *lines, p palette, d GenerateResult) {
	b.add("%s %s", p.good.Render("Made"), styled(p.bold, d.Path))
	author := "the model " + d.Model
	if d.Author == templateAuthor {
		author = p.note.Render("a template of this program, not a model")
	}
	b.field(p, "author", author)
	b.field(p, "film", fmt.Sprintf("%dx%d at %d fps, %s, %s", d.Width, d.Height, d.FPS, clock(d.Seconds), bytesText(d.Bytes)))
	b.field(p, "poster", clean(d.Poster))
	b.field(p, "box", clean(d.Box))
	b.field(p, "took", fmt.Sprintf("%s, %s, $%s", clock(d.Took), count(d.Turns, "turn"), clean(d.SpentUSD)))
	for _, n := range d.Notes {
		b.field(p, "note", p.note.Render(clean(n)))
	}
}

func renderSetup(b *lines, p palette, d SetupResult) {
	b.add("%s %s", p.good.Render("Chosen:"), styled(p.bold, d.Box.Backend))
	b.field(p, "program", clean(d.Box.Path))
	b.field(p, "because", clean(d.Box.Why))
	b.field(p, "written", clean(d.Path))
	renderTried(b, p, d.Tried)
}

func renderTried(b *lines, p palette, all []machine.Tried) {
	for _, t := range all {
		if t.Error != "" {
			b.field(p, t.Backend, p.note.Render(clean(t.Error)))
			continue
		}
		b.field(p, t.Backend, clean(t.Report.Summary()))
	}
}

// making shows a job that goes on.
func (p *textPrinter) making(e contract.Progress) {
	words := e.Phase
	if e.Turn > 0 {
		words += fmt.Sprintf(", turn %d", e.Turn)
	}
	if e.Percent > 0 {
		words += fmt.Sprintf(", %d %%", e.Percent)
	}
	if p.stdio.ErrTTY {
		p.move(bar(e.Step*100-100+e.Percent, e.TotalSteps*100, 20) + " " + words)
		return
	}
	if e.Phase != p.phase {
		p.phase = e.Phase
		p.say(e.Phase + "\n")
	}
}

// making prints an event for each change of the phase or the turn, and ten
// while the film is rendered.
func (p *jsonPrinter) making(e contract.Progress) {
	at := e
	at.Percent = e.Percent / 10 * 10
	if at != p.made {
		p.made = at
		p.progress(e)
	}
}
