// Package cliptest makes recordings for tests and benchmarks of clips: real
// ones on disk, encoded with the recorder's own profile, of screens that are
// drawn. Nothing of the product imports it.
package cliptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/proofreel/proofreel/internal/media/film"
	"github.com/proofreel/proofreel/internal/media/flv"
	"github.com/proofreel/proofreel/internal/media/h264"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/segment"
)

// Change is a moment at which the screen changes.
type Change struct {
	At   time.Duration
	Box  recording.Rect // for the damage log
	Draw func(*pixel.Frame)
}

// Spec says what is recorded.
type Spec struct {
	Name               string
	Width, Height, FPS int
	Rate               string // film.CFR or film.VFR; empty: CFR
	Length             time.Duration
	Changes            []Change // in the order of time; the first at 0
	Events             []recording.Event
	NoDamage           bool // no damage log, as where the capture is told nothing
	Incidents          []recording.Incident
	Verdict            recording.Verdict // empty: complete
	Options            recording.Options
	Start              time.Time // wall clock of the first frame; zero: a day in 2026
	OwnDisplay         bool
}

// Build makes the recording in a home.
func Build(ctx context.Context, ffmpeg, home string, s Spec) (*recording.Dir, error) {
	s.Changes = s.kept()
	if s.Rate == "" {
		s.Rate = film.CFR
	}
	if s.Verdict == "" {
		s.Verdict = recording.VerdictComplete
	}
	if s.Start.IsZero() {
		s.Start = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	}
	man := recording.Manifest{
		FormatVersion: recording.FormatVersion, ID: uuid.NewString(), Name: s.Name, CreatedAt: s.Start,
		Phase: recording.PhaseDone, Options: s.Options, Incidents: s.Incidents,
		Display: recording.Display{Own: s.OwnDisplay, Width: s.Width, Height: s.Height}, Clock: recording.Clock{Wall: s.Start},
	}
	man.Options.FPS, man.Options.Rate = s.FPS, s.Rate
	dir, err := recording.Create(home, man)
	if err != nil {
		return nil, fmt.Errorf("make the recording: %w", err)
	}
	if err := s.log(dir); err != nil {
		return nil, err
	}
	plan, err := s.record(ctx, ffmpeg, dir)
	if err != nil {
		return nil, err
	}
	if err := plan.Write(ctx, dir.FilmPath(), s.Name, s.Start); err != nil {
		return nil, fmt.Errorf("write the film: %w", err)
	}
	man.Film = &recording.Film{
		Path: dir.FilmPath(), Width: plan.Track.Width, Height: plan.Track.Height, FPS: s.FPS, Rate: s.Rate,
		Frames: int64(plan.Samples), Duration: segment.Length(plan.End, s.FPS), Verdict: s.Verdict, VerdictWhy: []string{},
	}
	if man.Result, err = json.Marshal(map[string]any{"recordingId": man.ID, "path": dir.FilmPath()}); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return dir, dir.Save(man)
}

// kept adds the frames with which a recorder's engine keeps a still screen's
// film alive: a second after the last change the same picture once more, so
// that it is a keyframe.
func (s Spec) kept() []Change {
	var list []Change
	for i, c := range s.Changes {
		list = append(list, c)
		next := s.Length
		if i+1 < len(s.Changes) {
			next = s.Changes[i+1].At
		}
		if next-c.At > time.Second {
			list = append(list, Change{At: c.At + time.Second})
		}
	}
	return list
}

// log writes the events and the damage log.
func (s Spec) log(dir *recording.Dir) error {
	var b bytes.Buffer
	for _, e := range s.Events {
		e.Wall = s.Start.Add(e.At)
		raw, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode an event: %w", err)
		}
		b.Write(append(raw, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir.Path(), "events.jsonl"), b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the events: %w", err)
	}
	if s.NoDamage {
		return nil
	}
	log, err := dir.CreateDamage()
	if err != nil {
		return err
	}
	for _, c := range s.Changes {
		if c.Draw == nil {
			continue
		}
		if err := log.Add(c.At, []recording.Rect{c.Box}); err != nil {
			return err
		}
	}
	return log.Close()
}

// record encodes the screen and puts it into segments.
func (s Spec) record(ctx context.Context, ffmpeg string, dir *recording.Dir) (*film.Plan, error) {
	track, frames, err := s.encode(ctx, ffmpeg)
	if err != nil {
		return nil, err
	}
	var segs []segment.Segment
	w := segment.NewWriter(dir.Segments(), track, 0, func(g segment.Segment) { segs = append(segs, g) })
	end := segment.Ticks(s.Length, s.FPS)
	for i, f := range frames {
		next := end
		if i+1 < len(frames) {
			next = frames[i+1].Tick
		}
		err = errors.Join(err, w.Write(f))
		// No frame follows a hold closely here: a segment that begins with a
		// hold takes what comes within half a second into itself.
		for hold := f.Tick + int64(s.FPS); hold+int64(s.FPS) <= next; hold += int64(s.FPS) {
			err = errors.Join(err, w.Hold(hold))
		}
	}
	if err := errors.Join(err, w.Finish()); err != nil {
		return nil, fmt.Errorf("write segments: %w", err)
	}
	plan, err := film.NewPlan(track, segs, end, s.Rate)
	if err != nil {
		return nil, fmt.Errorf("plan the film: %w", err)
	}
	return plan, nil
}

// encode encodes each change as a frame of its own.
func (s Spec) encode(ctx context.Context, ffmpeg string) (mp4.Track, []segment.Frame, error) {
	args := []string{
		"-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", fmt.Sprintf("%dx%d", s.Width, s.Height),
		"-framerate", fmt.Sprint(s.FPS), "-i", "pipe:0",
	}
	args = append(args, profile.Recording().Args()...)
	args = append(args, "-force_key_frames", "expr:"+s.keys(), "-f", "flv", "pipe:1")
	cmd := exec.CommandContext(ctx, ffmpeg, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return mp4.Track{}, nil, fmt.Errorf("reach the encoder: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return mp4.Track{}, nil, fmt.Errorf("reach the encoder: %w", err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return mp4.Track{}, nil, fmt.Errorf("start the encoder: %w", err)
	}
	drawn := make(chan error, 1)
	go func() { drawn <- s.draw(in) }()
	track, frames, err := s.read(out)
	_, _ = io.Copy(io.Discard, out)
	if err := errors.Join(err, <-drawn, cmd.Wait()); err != nil {
		return mp4.Track{}, nil, fmt.Errorf("encode: %w: %s", err, errs.String())
	}
	return track, frames, nil
}

// keys says which frames are keyframes: those that come 0.9 s or more after the
// last one, as with the recorder's engines. The encoder gets the frames one
// after the other, whatever their times.
func (s Spec) keys() string {
	list, last := "eq(n,0)", time.Duration(0)
	for n, c := range s.Changes {
		if c.At-last >= 900*time.Millisecond {
			list += fmt.Sprintf("+eq(n,%d)", n)
			last = c.At
		}
	}
	return list
}

// draw writes the screen after each change.
func (s Spec) draw(w io.WriteCloser) error {
	screen, err := pixel.NewFrame(s.Width, s.Height)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	for _, c := range s.Changes {
		if c.Draw != nil {
			c.Draw(screen)
		}
		if _, err := w.Write(screen.Data); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// read takes the encoded frames and gives them their changes' times.
func (s Spec) read(r io.Reader) (mp4.Track, []segment.Frame, error) {
	track := mp4.Track{Width: profile.Even(s.Width), Height: profile.Even(s.Height), FPS: s.FPS}
	var frames []segment.Frame
	for packets := flv.NewReader(r); ; {
		p, err := packets.Next()
		switch {
		case errors.Is(err, io.EOF):
			return track, frames, nil
		case err != nil:
			return track, nil, fmt.Errorf("read the encoder: %w", err)
		case p.Config != nil:
			set, err := h264.ParseConfig(p.Config)
			if err != nil {
				return track, nil, fmt.Errorf("read the encoder: %w", err)
			}
			track.SPS, track.PPS = set.SPS, set.PPS
		default:
			tick := segment.Ticks(s.Changes[len(frames)].At, s.FPS)
			frames = append(frames, segment.Frame{Tick: tick, Key: p.Key, Data: p.Data})
		}
	}
}
