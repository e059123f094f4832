package mcpserver

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// shownRows is how many recordings the text of list names; its data holds all.
const shownRows = 20

func startText(r supervisor.StartResult) string {
	lines := []string{fmt.Sprintf("Recording %s films display %s, %s at %d frames a second. It ends by itself after %.0f s.",
		r.RecordingID, r.Display, r.Size, r.FPS, r.MaxDurationSeconds)}
	if len(r.AgentBrowserCommand) > 0 {
		lines = append(lines, "Put this before every browser action: "+strings.Join(r.AgentBrowserCommand, " "))
	}
	return strings.Join(append(lines, r.Notes...), "\n")
}

func eventText(r supervisor.EventResult) string {
	if r.Result == "" {
		return fmt.Sprintf("Step %d at %.1f s: %s", r.Step, r.Second, r.Text)
	}
	return fmt.Sprintf("%s Step %d at %.1f s: %s", mark(r.Result), r.Step, r.Second, r.Text)
}

func mark(result string) string {
	switch result {
	case "pass":
		return "✓"
	case "fail":
		return "✗"
	default:
		return "▶"
	}
}

func statusText(r supervisor.StatusResult) string {
	s := fmt.Sprintf("Recording %s: %s, %.1f s, %d frames (%d dropped), %d steps.",
		r.RecordingID, r.Phase, r.SecondsRecorded, r.FramesCaptured, r.FramesDropped, r.Steps)
	if !r.Phase.Terminal() && !r.SupervisorAlive {
		return s + " Its supervisor has died: action stop delivers what was recorded."
	}
	if r.SecondsLeft > 0 {
		s += fmt.Sprintf(" It ends by itself in %.0f s.", r.SecondsLeft)
	}
	return s
}

func listText(r supervisor.ListResult) string {
	if len(r.Recordings) == 0 {
		return "There is no recording on this machine."
	}
	lines := []string{fmt.Sprintf("%d recordings, newest first:", len(r.Recordings))}
	for i, row := range r.Recordings {
		if i == shownRows {
			lines = append(lines, fmt.Sprintf("and %d older ones.", len(r.Recordings)-i))
			break
		}
		words := []string{row.RecordingID, row.Name, string(row.Phase), fmt.Sprintf("%.1f s", row.SecondsRecorded), string(row.Verdict), row.Path, row.Problem}
		lines = append(lines, joined(words))
	}
	return strings.Join(lines, "\n")
}

// joined puts the words that are there into one line.
func joined(words []string) string {
	var there []string
	for _, w := range words {
		if w != "" {
			there = append(there, w)
		}
	}
	return strings.Join(there, ", ")
}

// stopText says what the film is, how the steps went, and what the line after
// it is for.
func stopText(r supervisor.StopResult, clip Clip) string {
	lines := []string{fmt.Sprintf("The film is verified: %s. %.1f s, %s, %.1f MB: %s",
		joined(append([]string{string(r.Verdict)}, r.VerdictWhy...)), r.DurationSeconds, r.Size, float64(r.Bytes)/1e6, r.Path)}
	if r.URL != "" {
		lines = append(lines, "Published: "+r.URL)
	}
	for _, s := range r.Steps {
		line := fmt.Sprintf("%s %d at %.1f s: %s", mark(s.Result), s.Step, s.Second, s.Text)
		if s.Comment != "" {
			line += " — " + s.Comment
		}
		lines = append(lines, line)
	}
	lines = append(lines, clip.Notes...)
	return strings.Join(append(lines, "The next line shows it in Markdown:"), "\n")
}

// stopBlocks are the Markdown line, the links, and the contact sheet.
func stopBlocks(r supervisor.StopResult, clip Clip) []mcp.Content {
	line := clip.Markdown
	if line == "" {
		line = markdown(r)
	}
	blocks := []mcp.Content{&mcp.TextContent{Text: line}}
	for _, f := range append(clip.Files, File{Path: r.Path, Title: "The whole film", MIME: "video/mp4", Bytes: r.Bytes}) {
		blocks = append(blocks, f.link())
	}
	if r.URL != "" {
		blocks = append(blocks, &mcp.ResourceLink{URI: r.URL, Name: "film.mp4", Title: "The whole film, published", MIMEType: "video/mp4"})
	}
	if len(clip.Sheet) > 0 {
		blocks = append(blocks, &mcp.ImageContent{Data: clip.Sheet, MIMEType: "image/png"})
	}
	return blocks
}

// link is a file as a resource of the protocol.
func (f File) link() *mcp.ResourceLink {
	l := &mcp.ResourceLink{
		URI:  (&url.URL{Scheme: "file", Path: filepath.ToSlash(f.Path)}).String(),
		Name: filepath.Base(f.Path), Title: f.Title, MIMEType: f.MIME,
	}
	if f.Bytes > 0 {
		l.Size = &f.Bytes
	}
	return l
}

// markdown is the line that shows a film: where it was published, else where
// it lies. Threads show a film by the syntax of images.
func markdown(r supervisor.StopResult) string {
	target := r.URL
	if target == "" {
		target = (&url.URL{Path: filepath.ToSlash(r.Path)}).EscapedPath()
	}
	target = strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E").Replace(target)
	name := r.Name
	if name == "" {
		name = "Film"
	}
	// A name must not end the line's brackets, nor begin another syntax.
	name = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "`", "\\`", "<", `\<`, "*", `\*`, "_", `\_`, "!", `\!`, "&", `\&`).Replace(name)
	return fmt.Sprintf("![%s, %.1f s, %s](%s)", name, r.DurationSeconds, r.Verdict, target)
}
