package clip

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"path/filepath"

	"github.com/proofreel/proofreel/internal/edit/overlay"
	"github.com/proofreel/proofreel/internal/edit/page"
	"github.com/proofreel/proofreel/internal/edit/timeline"
)

// posterQuality of the JPEG: text stays clean.
const posterQuality = 88

// finish writes what goes with the video and installs all of it.
func (m *maker) finish(r *rendered) (Result, error) {
	switch {
	case errors.Is(r.captionless, overlay.ErrScreen):
		m.note("The clip is too small for captions, so it has none.")
	case r.captionless != nil:
		m.note("The captions could not be drawn, so the clip has none: " + r.captionless.Error())
	}
	if r.bare != nil {
		m.note("Pointer, keys, zoom and frame could not be drawn: " + r.bare.Error())
	}
	if r.capless != nil {
		m.note("Some keys could not be drawn: " + r.capless.Error())
	}
	sum, err := digest(r.path)
	if err != nil {
		return Result{}, err
	}
	res := m.answer(r)
	res.SHA256 = sum
	if err := m.beside(r, &res); err != nil {
		return Result{}, err
	}
	if err := m.work.adopt(r.path, filepath.Base(res.Path)); err != nil {
		return Result{}, err
	}
	if err := m.work.install(); err != nil {
		return Result{}, err
	}
	return res, nil
}

// beside writes the page, the captions, the transcript, the poster and the
// contact sheet. Without a sheet a clip is whole: what keeps it from being
// drawn is a note.
func (m *maker) beside(r *rendered, res *Result) error {
	about := m.describe(r)
	names := m.names()
	var poster bytes.Buffer
	if err := jpeg.Encode(&poster, r.stills.best(), &jpeg.Options{Quality: posterQuality}); err != nil {
		return fmt.Errorf("draw the poster: %w", err)
	}
	if sheet, err := m.sheet(r); err != nil {
		m.note("The contact sheet could not be drawn: " + err.Error())
		res.Sheet = ""
	} else if sheet != nil {
		if err := m.work.write(names.sheet, sheet); err != nil {
			return err
		}
	}
	res.Notes = append(res.Notes[:0], m.notes...)
	transcript, err := m.transcript(about, *res, r.plan)
	if err != nil {
		return err
	}
	files := []struct {
		name string
		data []byte
	}{{names.poster, poster.Bytes()}, {names.captions, page.WebVTT(about)}, {names.transcript, transcript}}
	if res.Page != "" {
		files = append(files, struct {
			name string
			data []byte
		}{names.page, page.HTML(about)})
	}
	for _, f := range files {
		if err := m.work.write(f.name, f.data); err != nil {
			return err
		}
	}
	return nil
}

// sheet draws the contact sheet; nil when there are no steps.
func (m *maker) sheet(r *rendered) ([]byte, error) {
	plan, n := r.stills.sheet, 0
	if plan == nil {
		return nil, nil
	}
	img, err := plan.Draw(m.Deps.Setter, func(page.Shot) (image.Image, error) {
		n++
		return r.stills.taken[n-1], nil
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // it is told as a note
	}
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("encode the contact sheet: %w", err)
	}
	return b.Bytes(), nil
}

// document is the JSON file beside the clip.
type document struct {
	FormatVersion int             `json:"formatVersion"`
	RecordingID   string          `json:"recordingId,omitempty"`
	Verdict       string          `json:"verdict,omitempty"`
	VerdictWhy    []string        `json:"verdictWhy"`
	Notes         []string        `json:"notes"`
	Transcript    json.RawMessage `json:"transcript"`
	Cuts          []cut           `json:"cuts"`
	Map           []Stretch       `json:"map"`
}

// cut is what was left out: of the recording, in seconds, and where in the
// clip.
type cut struct {
	Recording [2]float64 `json:"recording"`
	At        float64    `json:"clip"`
	Gap       bool       `json:"notRecorded,omitempty"`
}

func (m *maker) transcript(about page.Clip, res Result, p *timeline.Plan) ([]byte, error) {
	text, err := page.Transcript(about)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what it was doing
	}
	d := document{
		FormatVersion: 1, RecordingID: res.RecordingID, Verdict: string(res.Verdict), VerdictWhy: res.VerdictWhy,
		Notes: res.Notes, Transcript: text, Cuts: []cut{}, Map: res.Map,
	}
	for _, c := range p.Cuts {
		d.Cuts = append(d.Cuts, cut{[2]float64{seconds(c.From), seconds(c.To)}, seconds(p.Time(c.Frame)), c.Gap})
	}
	out, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write the transcript: %w", err)
	}
	return append(out, '\n'), nil
}
