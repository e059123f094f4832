package clip

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/typeset"

	"github.com/proofreel/proofreel/internal/edit/timeline"
)

// answer says what was made.
func (m *maker) answer(r *rendered) Result {
	p, n := r.plan, m.names()
	in := func(name string) string { return filepath.Join(m.work.out, name) }
	res := Result{
		RecordingID: m.src.id, Name: m.Name,
		Path: in(n.video), Captions: in(n.captions), Transcript: in(n.transcript), Poster: in(n.poster),
		Format: m.Format, Width: r.size.X, Height: r.size.Y, FPS: r.fps, CRF: r.crf, Bytes: r.bytes,
		Stills: p.Options.Stills, Speed: p.Options.Speed, Position: p.Options.Position,
		Seconds: seconds(p.Length()), Recorded: seconds(p.Recording), Cut: seconds(p.CutTotal), StartedAt: p.Start,
		Steps: []Step{}, Map: stretches(p), Notes: append([]string{}, m.notes...),
		Markdown: m.markdown(n), Verdict: m.src.verdict, VerdictWhy: m.src.why,
	}
	if m.Format == MP4 || m.Format == WebM {
		res.Page = in(n.page)
	}
	if m.Format == GIF {
		res.CRF = 0
	}
	if r.stills.sheet != nil {
		res.Sheet = in(n.sheet)
	}
	for _, c := range p.Chapters {
		res.Steps = append(res.Steps, stepOf(p, c))
	}
	return res
}

func stepOf(p *timeline.Plan, c timeline.Chapter) Step {
	s := Step{Step: c.Step, Text: c.Title, Second: seconds(p.Time(c.In)), At: c.UTC}
	if n := len(c.Results); n > 0 {
		last := c.Results[n-1]
		s.Result, s.Comment = "fail", last.Text
		if last.Pass {
			s.Result = "pass"
		}
		at := seconds(p.Time(last.In))
		s.ResultSecond = &at
	}
	return s
}

func stretches(p *timeline.Plan) []Stretch {
	list := []Stretch{}
	for _, s := range p.Map() {
		list = append(list, Stretch{
			Clip:      [2]float64{seconds(s.ClipFrom), seconds(s.ClipTo)},
			Recording: [2]float64{seconds(s.RecordingFrom), seconds(s.RecordingTo)}, UTC: s.UTC, Hold: s.Hold,
		})
	}
	return list
}

// markdown is the line for a thread. Markdown has no videos: a picture that
// links to the video works wherever both files can be reached. GIF and WebP
// are pictures themselves.
func (m *maker) markdown(n fileNames) string {
	title := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "`", "\\`", "<", "&lt;").Replace(short(m.Name))
	if m.Format == GIF || m.Format == WebP {
		return fmt.Sprintf("![%s](%s)", title, link(n.video))
	}
	return fmt.Sprintf("[![%s](%s)](%s)", title, link(n.poster), link(n.video))
}

// link writes a file's name as an address.
func link(name string) string { return (&url.URL{Path: name}).EscapedPath() }

// short is a title of at most 200 bytes on one line.
func short(s string) string { return cutBytes(typeset.Plain(s, 200), 200) }

func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e6 }

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the video: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read the video: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// explain makes an error for the user of what went wrong while the clip was
// made.
func (m *maker) explain(ctx context.Context, err error) error {
	var own *fault.Error
	var film *decodeError
	text := err.Error()
	switch {
	case errors.As(err, &own):
		return own
	case ctx.Err() != nil:
		return fault.Wrap(ctx.Err(), fault.Interrupted, "The recording is as it was: run the command again.", "making the clip was interrupted")
	case errors.Is(err, timeline.ErrEmpty):
		return fault.Wrap(err, fault.ClipFailed, "Record for longer.", "there is nothing to show")
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EFBIG),
		strings.Contains(text, "No space left on device"), strings.Contains(text, "Disk quota exceeded"):
		return unwritable(unix.ENOSPC, m.Out)
	case errors.As(err, &film):
		return fault.Wrap(err, fault.ClipFailed, "The film is damaged; a published copy may be whole. The recording was not changed.", "the film can't be shown")
	case strings.Contains(text, "Unknown encoder"), strings.Contains(text, "Encoder not found"):
		return fault.Wrap(err, fault.MissingTool, "Install a complete ffmpeg, or choose another --format.", "this ffmpeg can't make %s", m.Format)
	default:
		return fault.Wrap(err, fault.ClipFailed, "The recording is as it was; please report this.", "the clip could not be made")
	}
}
