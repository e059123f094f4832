package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/record/doctor"
	"github.com/proofreel/proofreel/internal/record/supervisor"
	"github.com/proofreel/proofreel/internal/studio/renderer"
)

// render puts an answer into words.
func render(p palette, data any) string {
	var b lines
	switch d := data.(type) {
	case supervisor.StartResult:
		renderStart(&b, p, d)
	case supervisor.StatusResult:
		renderStatus(&b, p, d)
	case supervisor.StopResult:
		renderStop(&b, p, d)
	case StopAndClip:
		renderStop(&b, p, d.StopResult)
		renderClip(&b, p, d.Clip)
	case clip.Result:
		renderClip(&b, p, d)
	case supervisor.EventResult:
		renderEvent(&b, p, d)
	case supervisor.ListResult:
		renderList(&b, p, d)
	case supervisor.DiscardResult:
		b.add("Removed %s, %s.", clean(d.RecordingID), bytesText(d.Bytes))
	case supervisor.PruneResult:
		for _, r := range d.Removed {
			b.add("Removed %s, %s.", clean(r.RecordingID), bytesText(r.Bytes))
		}
		b.add("%s removed, %d kept.", count(len(d.Removed), "recording"), d.Kept)
	case doctor.Report:
		renderDoctor(&b, p, d)
	case renderer.RenderResult:
		renderFilm(&b, p, d)
	case renderer.StillResult:
		renderStills(&b, p, d)
	case renderer.SheetResult:
		b.field(p, "sheet", styled(p.bold, d.Path))
		renderNotes(&b, p, d.Notes)
	case renderer.CheckResult:
		renderCheck(&b, p, d)
	case renderer.PreviewResult:
		b.add("The preview of %s has ended.", clean(d.Scene))
	case renderer.NewResult:
		b.add("%s %s", p.good.Render("Made"), clean(d.Scene))
		b.field(p, "look at it", "proofreel scene preview "+clean(d.Scene))
	case GenerateResult:
		renderGenerated(&b, p, d)
	case SetupResult:
		renderSetup(&b, p, d)
	case StyleList:
		renderStyles(&b, p, d)
	case StyleDetail:
		renderStyle(&b, p, d)
	case LibraryList:
		renderLibraries(&b, p, d)
	case Version:
		b.add("%s %s", d.Name, d.Version)
	case Manifest:
		helpText(&b, p, d)
	case Group:
		groupText(&b, p, d)
	case Part:
		partText(&b, p, d)
	}
	return b.String()
}

// lines gathers an answer's lines. Whoever adds a value that others wrote cleans it.
type lines struct{ strings.Builder }

func (b *lines) add(format string, args ...any) {
	fmt.Fprintf(b, format+"\n", args...)
}

// field adds a name and a value, when there is one.
func (b *lines) field(p palette, name, value string) {
	if value != "" {
		b.WriteString(p.dim.Render(fmt.Sprintf("%-10s", name)) + " " + value + "\n")
	}
}

func renderStart(b *lines, p palette, d supervisor.StartResult) {
	b.add("%s %s", p.good.Render("Recording"), clean(d.RecordingID))
	b.field(p, "name", clean(d.Name))
	b.field(p, "display", clean(d.Display+", "+d.Size))
	b.field(p, "film", fmt.Sprintf("%s at %d fps, %s", clean(d.VideoSize), d.FPS, clean(d.Rate)))
	b.field(p, "capture", clean(d.Capture.Engine+": "+d.Capture.Why))
	b.field(p, "ends", d.EndsAt.Format(time.RFC3339)+" by itself")
	for _, n := range d.Notes {
		b.field(p, "note", p.note.Render(clean(n)))
	}
	if len(d.AgentBrowserCommand) > 0 {
		b.field(p, "browser", clean(strings.Join(d.AgentBrowserCommand, " ")))
	}
}

func renderStatus(b *lines, p palette, d supervisor.StatusResult) {
	phase := p.bold.Render(clean(string(d.Phase)))
	if !d.Phase.Terminal() && !d.SupervisorAlive {
		phase += " " + p.bad.Render("(its supervisor is dead: run proofreel recover "+clean(d.RecordingID)+")")
	}
	b.add("%s", clean(d.RecordingID))
	b.field(p, "name", clean(d.Name))
	b.field(p, "phase", phase)
	b.field(p, "recorded", fmt.Sprintf("%s, %s", clock(d.SecondsRecorded), bytesText(d.BytesOnDisk)))
	frames := fmt.Sprintf("%d captured, %d distinct, %d dropped", d.FramesCaptured, d.FramesDistinct, d.FramesDropped)
	if d.Phase == recording.PhaseRecording {
		frames += fmt.Sprintf(", %.1f fps now", d.FPSAchieved)
	}
	b.field(p, "frames", frames)
	if d.SecondsLeft > 0 {
		b.field(p, "left", clock(d.SecondsLeft))
	}
	b.field(p, "steps", fmt.Sprint(d.Steps))
	renderIncidents(b, p, d.Incidents)
}

func renderStop(b *lines, p palette, d supervisor.StopResult) {
	style := p.good
	if d.Verdict != recording.VerdictComplete {
		style = p.note
	}
	b.add("%s %s", style.Render(clean(strings.ToUpper(string(d.Verdict)))), clean(d.RecordingID))
	b.field(p, "name", clean(d.Name))
	b.field(p, "film", styled(p.bold, d.Path))
	b.field(p, "link", styled(p.bold, d.URL))
	b.field(p, "length", fmt.Sprintf("%s, %s at %d fps, %s", clock(d.DurationSeconds), clean(d.Size), d.FPS, bytesText(d.Bytes)))
	b.field(p, "frames", fmt.Sprintf("%d, of these %d captured; %d dropped", d.Frames, d.FramesCaptured, d.FramesDropped))
	for _, why := range d.VerdictWhy {
		b.field(p, "because", clean(why))
	}
	for _, s := range d.Steps {
		mark := map[string]string{"pass": p.good.Render("✓"), "fail": p.bad.Render("✗")}[s.Result]
		if mark == "" {
			mark = "·"
		}
		text := clean(s.Text)
		if s.Comment != "" {
			text += " — " + clean(s.Comment)
		}
		b.WriteString("  " + mark + " " + clock(s.Second) + " " + text + "\n")
	}
	renderIncidents(b, p, d.Incidents)
}

func renderClip(b *lines, p palette, d clip.Result) {
	b.field(p, "clip", styled(p.bold, d.Path))
	b.field(p, "page", styled(p.bold, d.Page))
	b.field(p, "length", fmt.Sprintf("%s of %s, %s cut; %dx%d, %s", clock(d.Seconds), clock(d.Recorded), clock(d.Cut), d.Width, d.Height, bytesText(d.Bytes)))
	b.field(p, "sheet", clean(d.Sheet))
	b.field(p, "transcript", clean(d.Transcript))
	b.field(p, "markdown", clean(d.Markdown))
	for _, n := range d.Notes {
		b.field(p, "note", p.note.Render(clean(n)))
	}
}

func renderIncidents(b *lines, p palette, all []supervisor.IncidentResult) {
	for _, i := range all {
		b.field(p, "incident", clock(i.Second)+" "+p.note.Render(clean(i.Kind+": "+i.Detail)))
	}
}

func renderEvent(b *lines, p palette, d supervisor.EventResult) {
	mark := map[string]string{"pass": p.good.Render(" ✓ pass"), "fail": p.bad.Render(" ✗ fail")}[d.Result]
	fmt.Fprintf(b, "%s %d%s at %s: %s\n", p.bold.Render("step"), d.Step, mark, clock(d.Second), clean(d.Text))
}

func renderList(b *lines, p palette, d supervisor.ListResult) {
	if len(d.Recordings) == 0 {
		b.add("No recordings.")
		return
	}
	for _, r := range d.Recordings {
		state := string(r.Phase)
		if r.Verdict != "" {
			state += ", " + string(r.Verdict)
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%s  %s  %-18s %8s %9s  %s", clean(r.RecordingID),
			r.CreatedAt.Format("2006-01-02 15:04"), clean(state), clock(r.SecondsRecorded), bytesText(r.Bytes), clean(r.Name)), " ") + "\n")
		if r.Problem != "" {
			b.WriteString("  " + p.bad.Render(clean(r.Problem)) + "\n")
		}
	}
}

func renderDoctor(b *lines, p palette, d doctor.Report) {
	for _, c := range d.Checks {
		mark := p.good.Render("✓")
		if !c.OK {
			mark = map[doctor.Level]lipgloss.Style{doctor.Error: p.bad, doctor.Warning: p.note}[c.Level].Render("✗")
		}
		fmt.Fprintf(b, "%s %-16s %s\n", mark, clean(c.Name), clean(c.Detail))
		if !c.OK && c.Fix != "" {
			fmt.Fprintf(b, "  %-16s %s\n", "", p.note.Render(clean(c.Fix)))
		}
	}
	if d.OK {
		b.add("A recording works on this machine.")
	}
}

// styled styles a value that others wrote; an empty one stays empty.
func styled(s lipgloss.Style, value string) string {
	if value == "" {
		return ""
	}
	return s.Render(clean(value))
}

// clean takes control characters out of text that others wrote, so that it
// can't move the cursor or colour the terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '·'
		}
		return r
	}, s)
}

// clock shows seconds as 1:02.3 or 1:02:03.
func clock(seconds float64) string {
	tenths := int(seconds*10 + 0.5)
	if tenths < 36000 {
		return fmt.Sprintf("%d:%02d.%d", tenths/600, tenths/10%60, tenths%10)
	}
	return fmt.Sprintf("%d:%02d:%02d", tenths/36000, tenths/600%60, tenths/10%60)
}

func bytesText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n), 0
	for ; v >= 999.95 && unit < 4; unit++ {
		v /= 1000
	}
	return fmt.Sprintf("%.1f %s", v, []string{"B", "kB", "MB", "GB", "TB"}[unit])
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
