package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/exit"
)

// film is a film that is as it was ordered.
type film struct {
	frames, poster int
	bytes          int64
}

// check looks at the film and its poster. It is there so that the agent can
// mend its work: the outside believes nothing and looks itself.
func (s *session) check() (film, error) {
	name := s.path(exit.FilmName)
	st, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return film{}, fmt.Errorf("%s is missing", exit.FilmName)
	case err != nil:
		return film{}, fmt.Errorf("look at the film: %w", err)
	case !st.Mode().IsRegular():
		return film{}, fmt.Errorf("%s is no regular file", exit.FilmName)
	case st.Size() > exit.MaxBytes:
		return film{}, fmt.Errorf("%s has %d bytes; at most %d", exit.FilmName, st.Size(), exit.MaxBytes)
	}
	info, err := mp4.Inspect(name)
	if err != nil {
		return film{}, fmt.Errorf("%s: %w", exit.FilmName, err)
	}
	if err := s.compare(info); err != nil {
		return film{}, fmt.Errorf("%s: %w", exit.FilmName, err)
	}
	if err := mp4.CheckSamples(name); err != nil {
		return film{}, fmt.Errorf("%s: %w", exit.FilmName, err)
	}
	if err := s.checkPoster(); err != nil {
		return film{}, err
	}
	poster := s.poster
	if poster < 0 || poster >= info.Samples {
		poster = info.Samples / 2
	}
	return film{frames: info.Samples, poster: poster, bytes: st.Size()}, nil
}

func (s *session) compare(i mp4.Info) error {
	o := s.order
	seconds := float64(i.Samples) / agent.FPS
	switch {
	case i.Tracks != 1 || i.Fragmented || !strings.HasPrefix(i.Codec, "avc1."):
		return fmt.Errorf("%d tracks, %s; want one of H.264 and nothing else", i.Tracks, i.Codec)
	case i.Width != o.Width || i.Height != o.Height:
		return fmt.Errorf("%d x %d pixels; want %d x %d", i.Width, i.Height, o.Width, o.Height)
	case !i.Deltas.Equal || i.Deltas.Max*agent.FPS != int64(i.Timescale):
		return fmt.Errorf("the frame rate is not exactly %d", agent.FPS)
	case math.Abs(seconds-o.Seconds) > exit.Tolerance:
		return fmt.Errorf("%g seconds; want %g", seconds, o.Seconds)
	}
	return nil
}

func (s *session) checkPoster() error {
	st, err := os.Lstat(s.path(exit.PosterName))
	if err != nil || !st.Mode().IsRegular() {
		return fmt.Errorf("%s is missing", exit.PosterName)
	}
	f, err := os.Open(s.path(exit.PosterName))
	if err != nil {
		return fmt.Errorf("look at the poster: %w", err)
	}
	defer func() { _ = f.Close() }()
	c, err := jpeg.DecodeConfig(f)
	if err != nil || c.Width != s.order.Width || c.Height != s.order.Height {
		return fmt.Errorf("%s is no JPEG of %d x %d pixels", exit.PosterName, s.order.Width, s.order.Height)
	}
	return nil
}

// checkScene is the tool check.
func (s *session) checkScene(ctx context.Context, _ json.RawMessage) result {
	data, err := s.proofreel(ctx, 5*time.Minute, nil, "scene", "check", agent.SceneName)
	if err != nil {
		return failed("%v", err)
	}
	if err := s.asOrdered(data); err != nil {
		return failed("%v\n%s", err, clip(string(data), output))
	}
	return result{text: clip(string(data), output)}
}

// asOrdered compares a check's answer with the order.
func (s *session) asOrdered(data json.RawMessage) error {
	var got struct {
		Width   int     `json:"width"`
		Height  int     `json:"height"`
		FPS     int     `json:"fps"`
		Seconds float64 `json:"seconds"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		return fmt.Errorf("understand the check: %w", err)
	}
	o := s.order
	if got.Width != o.Width || got.Height != o.Height || got.FPS != agent.FPS || math.Abs(got.Seconds-o.Seconds) > exit.Tolerance {
		return fmt.Errorf("meta says %d x %d, fps %d, duration %g; the order is %d x %d, fps %d, duration %g",
			got.Width, got.Height, got.FPS, got.Seconds, o.Width, o.Height, agent.FPS, o.Seconds)
	}
	return nil
}

// renderTool is the tool render.
func (s *session) renderTool(ctx context.Context, _ json.RawMessage) result {
	// A film of the wrong size is known before the minutes that it takes.
	data, err := s.proofreel(ctx, 3*time.Minute, nil, "scene", "check", agent.SceneName, "--frames=2")
	if err != nil {
		return failed("%v", err)
	}
	if err := s.asOrdered(data); err != nil {
		return failed("%v", err)
	}
	text, err := s.render(ctx)
	if err != nil {
		return failed("%v", err)
	}
	if _, err := s.check(); err != nil {
		return failed("rendered, but %v", err)
	}
	return result{text: text + "\nThe film is there as it was ordered."}
}

// render makes film and poster, for as long as ctx has.
func (s *session) render(ctx context.Context) (string, error) {
	left := s.wall()
	if end, ok := ctx.Deadline(); ok {
		left = time.Until(end)
	}
	s.report.set(func(r *agent.Report) { r.Phase, r.Percent = agent.Rendering, 0 })
	data, err := s.proofreel(ctx, left, func(done, total int) {
		s.report.set(func(r *agent.Report) { r.Percent, r.Frames = done*100/total, total })
	}, "render", agent.SceneName, "--out="+exit.FilmName, "--poster="+exit.PosterName, fmt.Sprintf("--timeout=%dms", max(1000, left.Milliseconds())))
	if err != nil {
		return "", err
	}
	var got struct {
		PosterFrame int `json:"posterFrame"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		return "", fmt.Errorf("understand the render: %w", err)
	}
	s.poster = got.PosterFrame
	return clip(string(data), output), nil
}

// finish sees to it that there is a film, whatever the agent has left: it
// renders the scene when there is no film, or one of an older scene. Where that
// fails, an older film that is as ordered is better than none.
func (s *session) finish(ctx context.Context) (film, error) {
	ctx, cancel := context.WithDeadline(ctx, s.began.Add(s.wall()-s.wall()/20))
	defer cancel()
	f, wrong := s.check()
	if wrong == nil && !s.stale() {
		return f, nil
	}
	if _, err := os.Stat(s.path(agent.SceneName)); err != nil {
		if wrong == nil {
			return f, nil
		}
		return film{}, fmt.Errorf("the agent left neither a scene nor a film: %w", wrong)
	}
	_, err := s.render(ctx)
	if err == nil {
		var again film
		if again, err = s.check(); err == nil {
			return again, nil
		}
	}
	if wrong == nil {
		if f, wrong = s.check(); wrong == nil {
			s.log.Warn("the newer scene can't be rendered: the older film stays", "error", err)
			return f, nil
		}
	}
	return film{}, err
}

// stale says whether a file of the scene is newer than the film.
func (s *session) stale() bool {
	made, err := os.Lstat(s.path(exit.FilmName))
	if err != nil {
		return true
	}
	newer, looked := false, 0
	err = filepath.WalkDir(s.c.Work, func(name string, d fs.DirEntry, err error) error {
		if looked++; err != nil || looked > 10_000 {
			return err
		}
		top := name == s.path("out") || name == s.path(agent.Examples) || strings.HasPrefix(d.Name(), ".")
		if d.IsDir() && name != s.c.Work && top {
			return fs.SkipDir
		}
		// Pictures that the agent looked at are no part of the scene, as a rule.
		if st, err := d.Info(); err == nil && d.Type().IsRegular() && partOfScene(name) && st.ModTime().After(made.ModTime()) {
			newer = true
			return fs.SkipAll
		}
		return nil
	})
	return newer && err == nil
}

func partOfScene(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".js", ".mjs", ".ts", ".json", ".css", ".html", ".svg", ".glsl", ".vert", ".frag", ".csv", ".tsv":
		return true
	}
	return false
}
