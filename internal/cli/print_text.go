package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/doctor"
	"github.com/proofreel/proofreel/internal/record/supervisor"
	"github.com/proofreel/proofreel/internal/studio/renderer"
)

// textPrinter prints for people: words, and where there is a terminal, colours
// and a line that moves.
type textPrinter struct {
	stdio    Stdio
	out, err palette
	live     bool // the last line on stderr is a moving one
	tenths   tenths
	pace     pace
	phase    string // the last one of generate
}

// palette colours words, or leaves them.
type palette struct{ bold, dim, good, bad, note lipgloss.Style }

func newPalette(on bool) palette {
	s := lipgloss.NewStyle()
	if !on {
		return palette{s, s, s, s, s}
	}
	return palette{
		bold: s.Bold(true), dim: s.Faint(true),
		good: s.Foreground(lipgloss.Green), bad: s.Foreground(lipgloss.Red), note: s.Foreground(lipgloss.Yellow),
	}
}

func newTextPrinter(stdio Stdio) *textPrinter {
	return &textPrinter{
		stdio: stdio,
		out:   newPalette(stdio.OutTTY && stdio.Colour),
		err:   newPalette(stdio.ErrTTY && stdio.Colour),
	}
}

// progress shows a step of stop: a bar that moves on a terminal, lines elsewhere.
func (p *textPrinter) progress(e contract.Progress) {
	words := strings.ReplaceAll(e.Phase, "_", " ")
	if !p.stdio.ErrTTY {
		p.say(fmt.Sprintf("%d/%d %s\n", e.Step, e.TotalSteps, words))
		return
	}
	p.move(bar(e.Step, e.TotalSteps, 20) + " " + words)
}

// working shows work that is counted: a bar that moves on a terminal, a line
// for each tenth elsewhere.
func (p *textPrinter) working(e contract.Progress) {
	switch {
	case e.URL != "":
		p.rest()
		p.say(p.err.bold.Render(clean(e.URL)) + "\n" + p.err.dim.Render("Ctrl+C ends it.") + "\n")
	case p.stdio.ErrTTY:
		p.move(fmt.Sprintf("%s frame %d of %d%s", bar(e.Step, e.TotalSteps, 20), e.Step, e.TotalSteps, p.pace.words(e, time.Now())))
	case p.tenths.passed(e):
		p.say(fmt.Sprintf("%d/%d frames\n", e.Step, e.TotalSteps))
	}
}

// watching shows a recording that goes on.
func (p *textPrinter) watching(s supervisor.StatusResult) {
	line := fmt.Sprintf("%s  %s  %d frames  %.1f fps  %s", clean(string(s.Phase)), clock(s.SecondsRecorded), s.FramesCaptured, s.FPSAchieved, bytesText(s.BytesOnDisk))
	if s.FramesDropped > 0 {
		line += fmt.Sprintf("  %d dropped", s.FramesDropped)
	}
	if !p.stdio.ErrTTY {
		p.say(line + "\n")
		return
	}
	if total := s.SecondsRecorded + s.SecondsLeft; total > 0 {
		line = bar(int(s.SecondsRecorded*1000), int(total*1000), 20) + " " + line
	}
	p.move(line)
}

// move redraws the moving line, cut to the terminal.
func (p *textPrinter) move(line string) {
	if r := []rune(line); len(r) > p.stdio.Width-1 && p.stdio.Width > 1 {
		line = string(r[:p.stdio.Width-1])
	}
	p.live = true
	p.say("\r\x1b[K" + line)
}

// rest takes the moving line away, so that what follows stands alone.
func (p *textPrinter) rest() {
	if p.live {
		p.say("\r\x1b[K")
		p.live = false
	}
}

func (p *textPrinter) say(s string) {
	_, _ = io.WriteString(p.stdio.Err, s) // progress is worth no failure
}

func (p *textPrinter) success(_ string, a answer) error {
	p.rest()
	if _, err := io.WriteString(p.stdio.Out, render(p.out, a.data)); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

func (p *textPrinter) failure(_ string, a answer, err error) {
	p.rest()
	switch report := a.data.(type) {
	case doctor.Report, renderer.CheckResult:
		p.say(render(p.err, report))
	}
	e := fault.As(err)
	p.say(p.err.bad.Render("error:") + " " + clean(e.Message) + "\n")
	if e.Hint != "" {
		p.say(p.err.note.Render("hint:") + "  " + clean(e.Hint) + "\n")
	}
	if e.Artifact != "" {
		p.say(p.err.note.Render("kept:") + "  " + clean(e.Artifact) + "\n")
	}
}

// bar draws how much of a whole is done.
func bar(done, whole, width int) string {
	if whole <= 0 {
		return ""
	}
	n := min(max(done*width/whole, 0), width)
	return strings.Repeat("█", n) + strings.Repeat("░", width-n)
}
