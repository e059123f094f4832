package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/film"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/verify"
	"github.com/proofreel/proofreel/internal/record/publish"
)

// finish brings the recording to its end, from wherever it is: each phase
// looks at what is done and does the rest. Whatever fails, the phases after it
// that don't need it still run, so that nothing is left behind.
func (s *session) finish(ctx context.Context) error {
	proc.Wake(s.everyone()) // what was stopped can neither end nor be drained
	if s.manifest().Browser != nil {
		s.phase(ctx, recording.PhaseClosingBrowser)
		s.closeBrowser(ctx)
	}
	s.phase(ctx, recording.PhaseStoppingCapture)
	s.stopCapture()

	s.phase(ctx, recording.PhaseFinalizing)
	err := s.finalize(ctx)
	if err == nil && s.manifest().Options.Publish != "none" {
		s.phase(ctx, recording.PhasePublishing)
		err = s.publish(ctx)
	}
	s.phase(ctx, recording.PhaseCleaningUp)
	cerr := s.cleanUp(ctx)
	if err == nil {
		err = cerr
	}
	return s.conclude(err)
}

// finalize makes, verifies and installs the film, unless that was done before.
func (s *session) finalize(ctx context.Context) error {
	man := s.manifest()
	if man.Film != nil && fileSize(man.Film.Path) == man.Film.Bytes {
		return nil
	}
	if free, err := freeBytes(s.dir.Path()); err == nil && free < 1<<20 {
		return fault.New(fault.DiskFull, "Free some space and stop again: the recorded segments are kept.", "there is no space left to put the film together")
	}
	c, err := s.captured(ctx)
	if err != nil {
		return err
	}
	plan, err := film.NewPlan(c.track, c.segs, c.end, man.Options.Rate)
	if errors.Is(err, film.ErrEmpty) {
		return fault.New(fault.NoFrames, "Start again; supervisor.log in the recording's directory says what happened.", "the recording holds no frame that can be decoded")
	}
	if err != nil {
		return fault.Wrap(err, fault.FinalizeFailed, "The recorded segments are kept: stop again.", "the film could not be planned")
	}
	f, err := s.assemble(ctx, plan)
	if err != nil {
		return err
	}
	f.Verdict, f.VerdictWhy = judge(c.incidents, c.dropped)
	f.Captured, f.Dropped = plan.Frames, c.dropped
	if err := s.update(func(man *recording.Manifest) { man.Film, man.Incidents = f, c.incidents }); err != nil {
		return fault.Wrap(err, fault.FinalizeFailed, "Free some space and stop again.", "the film is there, but the state could not be written").WithArtifact(f.Path)
	}
	return nil
}

// partPath is the film while it is being put together.
func partPath(dir *recording.Dir) string { return dir.FilmPath() + ".part" }

// assemble writes the film under a temporary name, verifies it and installs it.
func (s *session) assemble(ctx context.Context, plan *film.Plan) (*recording.Film, error) {
	man := s.manifest()
	part := partPath(s.dir)
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Wrap(err, fault.FinalizeFailed, "Check who owns the recording's directory.", "the rest of an earlier attempt is in the way")
	}
	if err := plan.Write(ctx, part, man.Name, man.Clock.Wall); err != nil {
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) {
			return nil, fault.Wrap(err, fault.DiskFull, "Free some space and stop again: the recorded segments are kept.", "the film did not fit on the disk")
		}
		return nil, fault.Wrap(err, fault.FinalizeFailed, "The recorded segments are kept: stop again.", "the film could not be put together")
	}
	dec, err := s.decoder(ctx)
	if err != nil {
		return nil, err
	}
	o := man.Options
	want := verify.Want{
		Width: plan.Track.Width, Height: plan.Track.Height, FPS: o.FPS,
		CFR: o.Rate == film.CFR, Samples: plan.Samples, Ticks: plan.End,
	}
	sum, size, err := s.judged(ctx, dec, part, want)
	if err != nil {
		_ = os.Remove(part)
		return nil, fault.Wrap(err, fault.VerifyFailed, "The recorded segments are kept in the recording's directory: please report this.", "the film is not what was captured")
	}
	err = os.Rename(part, s.dir.FilmPath())
	if err == nil {
		err = statefile.SyncDir(s.dir.Path())
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.FinalizeFailed, "The recorded segments are kept: stop again.", "the film could not be installed")
	}
	return &recording.Film{
		Path: s.dir.FilmPath(), Bytes: size, SHA256: sum,
		Width: plan.Track.Width, Height: plan.Track.Height, FPS: o.FPS, Rate: o.Rate,
		Frames: int64(plan.Samples), Duration: time.Duration(plan.End) * time.Second / time.Duration(o.FPS),
	}, nil
}

// judged verifies the film and takes its checksum, both at once: each reads
// the file once.
func (s *session) judged(ctx context.Context, dec verify.Decoder, path string, want verify.Want) (sum string, size int64, err error) {
	hashed := make(chan error, 1)
	go func() {
		var err error
		sum, size, err = film.Hash(path)
		hashed <- err
	}()
	err = dec.Film(ctx, path, want)
	return sum, size, errors.Join(err, <-hashed)
}

// decoder finds the decoder.
func (s *session) decoder(context.Context) (verify.Decoder, error) {
	if s.ffmpeg == "" {
		path, err := ffmpeg.Find()
		if err != nil {
			return verify.Decoder{}, fault.As(err)
		}
		s.ffmpeg = path
	}
	return verify.Decoder{FFmpeg: s.ffmpeg, Spawn: s.spawn, Log: s.log}, nil
}

// publish brings the film to where it should be, unless it is there.
func (s *session) publish(ctx context.Context) error {
	man := s.manifest()
	if man.Published != nil {
		return nil
	}
	target, err := publish.Parse(man.Options.Publish)
	if err != nil {
		return fault.As(err).WithArtifact(man.Film.Path)
	}
	p, err := publish.New(target, publish.Options{
		Spawn: s.spawn, Env: s.environ, Workspace: man.Options.Workspace, Log: s.log, Beat: s.beat(),
	})
	if err != nil {
		return fault.As(err).WithArtifact(man.Film.Path)
	}
	rec, err := p.Publish(ctx, publish.Film{
		Path: man.Film.Path, ID: man.ID, Name: man.Name, Bytes: man.Film.Bytes, SHA256: man.Film.SHA256,
	})
	if err != nil {
		return fault.As(err).WithArtifact(man.Film.Path)
	}
	pub := &recording.Published{Target: man.Options.Publish, URL: rec.URL, Path: rec.Path, At: time.Now().UTC()}
	if err := s.update(func(man *recording.Manifest) { man.Published = pub }); err != nil {
		return fault.Wrap(err, fault.StateUnwritable, "Stop again: publishing twice does no harm.", "the film was published, but the state could not be written").WithArtifact(man.Film.Path)
	}
	return nil
}

// beat shows whoever waits for the end that a wait is in order, at most twice
// a second.
func (s *session) beat() func() {
	var last atomic.Int64
	return func() {
		now := time.Now().UnixNano()
		if before := last.Load(); now-before > int64(time.Second)/2 && last.CompareAndSwap(before, now) {
			s.dir.Beat()
		}
	}
}

// conclude writes the terminal state: the answer, or why there is none.
func (s *session) conclude(cause error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.man.Owned = nil
	if cause != nil {
		e := fault.As(cause)
		s.man.Phase = recording.PhaseFailed
		s.man.Failure = &recording.Failure{Code: string(e.Code), Message: e.Message, Hint: e.Hint, Artifact: e.Artifact}
	} else {
		res, err := s.result()
		if err != nil {
			return err
		}
		s.man.Phase, s.man.Failure, s.man.Result = recording.PhaseDone, nil, res
	}
	if err := s.dir.Save(s.man); err != nil {
		s.log.Error("terminal state not saved", "err", err)
		return fmt.Errorf("save the terminal state: %w", errors.Join(err, cause))
	}
	s.log.Info("ended", "phase", s.man.Phase, "cause", cause)
	return cause
}

// result is the terminal answer in its bytes.
func (s *session) result() (json.RawMessage, error) {
	evs, err := s.dir.Events()
	if err != nil {
		s.log.Error("events not read", "err", err)
	}
	raw, err := json.Marshal(stopResult(s.man, evs))
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return raw, nil
}

func fileSize(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return st.Size()
}

// removeSegments deletes what the film was made of, once the film is there.
func (s *session) removeSegments() error {
	man := s.manifest()
	if f := man.Film; f == nil || fileSize(f.Path) != f.Bytes {
		return nil
	}
	for _, i := range man.Incidents {
		if i.Kind == recording.IncidentBad {
			return nil // not all of them are in the film
		}
	}
	if err := os.RemoveAll(s.dir.Segments()); err != nil {
		return fmt.Errorf("remove %s: %w", filepath.Base(s.dir.Segments()), err)
	}
	return nil
}
