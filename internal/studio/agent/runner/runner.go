package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/agent/forward"
)

// Config says where the runner is.
type Config struct {
	Work    string   // the job's folder, absolute
	Run     string   // the folder of the doors
	Program string   // this program, absolute: its commands draw
	Foreign string   // the folder of a foreign agent's program; empty: agent.ForeignDir
	Env     []string // whole environment of what the agent starts
	Log     *slog.Logger
	Output  io.Writer // what a foreign agent prints

	// Sleep waits between attempts; nil: by the clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// ErrNoFilm says that the job ends without a film.
var ErrNoFilm = errors.New("there is no film")

// Run does the job in c.Work. Its error wraps ErrNoFilm, or says what of the
// box's own is not as it must be. The outside learns of both from the report.
func Run(ctx context.Context, c Config) error {
	s, err := open(c)
	if err != nil {
		return err
	}
	defer s.close()
	s.report.set(func(r *agent.Report) { r.Phase = agent.Starting })
	end := s.write(ctx)
	s.log.Info("the agent has ended", "end", end.String(), "turns", s.report.now().Turn)
	s.report.set(func(r *agent.Report) { r.End = end })
	f, err := s.finish(ctx)
	if err != nil {
		s.log.Error("no film", "error", err)
		s.report.set(func(r *agent.Report) { r.Phase = agent.Failed })
		return fmt.Errorf("%w: %w", ErrNoFilm, err)
	}
	s.report.set(func(r *agent.Report) {
		r.Phase, r.Percent, r.Frames, r.Poster, r.Bytes = agent.Done, 100, f.frames, f.poster, f.bytes
	})
	return nil
}

// session is one job under way.
type session struct {
	c      Config
	order  agent.Order
	brief  string // JOB.md
	log    *slog.Logger
	report *reporter
	spawn  *proc.Spawner
	began  time.Time
	poster int // frame of the last poster that was drawn here; -1: none
}

func open(c Config) (*session, error) {
	if c.Foreign == "" {
		c.Foreign = agent.ForeignDir
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Output == nil {
		c.Output = io.Discard
	}
	s := &session{c: c, log: c.Log, began: time.Now(), poster: -1}
	raw, err := os.ReadFile(filepath.Join(c.Work, agent.JobName))
	if err != nil {
		return nil, fmt.Errorf("read the order: %w", err)
	}
	if err := json.Unmarshal(raw, &s.order); err != nil {
		return nil, fmt.Errorf("read the order: %w", err)
	}
	brief, err := os.ReadFile(filepath.Join(c.Work, agent.BriefName))
	if err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(c.Work, "out"), 0o755); err != nil { //nolint:gosec // the box has one user
		return nil, fmt.Errorf("make the film's folder: %w", err)
	}
	s.brief = string(brief)
	s.report = newReporter(filepath.Join(c.Run, agent.ReportName))
	s.spawn = proc.NewSpawner()
	return s, nil
}

func (s *session) close() {
	s.spawn.Close()
	s.report.close()
}

// write has the agent work for as long as it may, and gives why it stopped.
func (s *session) write(ctx context.Context) agent.End {
	ctx, cancel := context.WithDeadline(ctx, s.began.Add(s.wall()-s.reserve()))
	defer cancel()
	l, err := forward.Listen(ctx)
	if err != nil {
		s.log.Error("no way to the gateway", "error", err)
		return agent.Broken
	}
	base := forward.BaseURL(ctx, l)
	ended := make(chan error, 1)
	forwarding, stop := context.WithCancel(ctx)
	go func() { ended <- forward.Serve(forwarding, l, filepath.Join(s.c.Run, agent.DoorName)) }()
	defer func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, net.ErrClosed) {
			s.log.Error("the way to the gateway", "error", err)
		}
	}()
	if s.order.Agent == agent.ClaudeCodeName {
		return s.runClaudeCode(ctx, base)
	}
	return newLoop(s, base).run(ctx)
}

func (s *session) wall() time.Duration { return time.Duration(s.order.WallMS) * time.Millisecond }

// reserve is the part of the wall clock in which the film is finished.
func (s *session) reserve() time.Duration { return s.wall() / 4 }

// path is a file's of the work folder.
func (s *session) path(name string) string { return filepath.Join(s.c.Work, name) }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait: %w", ctx.Err())
	case <-t.C:
		return nil
	}
}
