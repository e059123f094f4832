package supervisor

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// beat is how often the supervisor looks at limits and reports live figures.
const beat = 500 * time.Millisecond

// film waits until the film ends, for whatever reason, fixes its end, and
// notes why.
func (s *session) film(ctx context.Context) {
	s.phase(ctx, recording.PhaseRecording)
	tick := time.NewTicker(beat)
	defer tick.Stop()
	browser, openbox := s.deaths()
	for {
		if stop := s.reasonToStop(ctx); stop != nil {
			s.endFilm(*stop)
			return
		}
		s.report()
		select {
		case <-tick.C:
		case <-ctx.Done():
		case <-s.rec.Lost():
		case <-browser:
			browser = nil
			s.rec.Note(recording.IncidentDied, s.browser.LostWhat()+" ended before the film did", true)
		case <-openbox:
			openbox = nil
			s.rec.Note(recording.IncidentDied, "the window manager ended before the film did", true)
		}
	}
}

// deaths gives what tells that the browser or the window manager has ended;
// nil channels where there is none.
func (s *session) deaths() (browser, openbox <-chan struct{}) {
	if s.browser != nil {
		browser = s.browser.Lost()
	}
	if s.screen != nil && s.screen.Openbox != nil {
		openbox = s.screen.Openbox.Done()
	}
	return browser, openbox
}

// report writes the live figures, and the incidents when there are new ones:
// they must outlive this process.
func (s *session) report() {
	if err := s.dir.SaveLive(s.rec.Live()); err != nil {
		s.log.Warn("live figures not saved", "err", err)
	}
	incidents := s.rec.Incidents()
	if len(incidents) == len(s.manifest().Incidents) {
		return
	}
	if err := s.update(func(man *recording.Manifest) { man.Incidents = incidents }); err != nil {
		s.log.Warn("incidents not saved", "err", err)
	}
}

// reasonToStop says why the film ends now; nil: it goes on.
func (s *session) reasonToStop(ctx context.Context) *recording.Stop {
	now, o := s.rec.Now(), s.manifest().Options
	if req, ok := s.dir.StopRequest(); ok {
		return &req
	}
	if ctx.Err() != nil {
		return &recording.Stop{At: now, Reason: recording.ReasonStop, Detail: "the supervisor was told to end"}
	}
	select {
	case <-s.rec.Lost():
		if stop := s.rec.Ended(); stop != nil {
			return stop
		}
		return &recording.Stop{At: now, Reason: recording.ReasonCaptureLost}
	default:
	}
	if now >= o.MaxDuration {
		return &recording.Stop{At: o.MaxDuration, Reason: recording.ReasonMaxDuration}
	}
	if o.UntilPID.PID != 0 && !o.UntilPID.Alive() {
		return &recording.Stop{At: now, Reason: recording.ReasonUntilPID, Detail: "process " + pidText(o.UntilPID) + " has ended"}
	}
	// The film is put together beside its segments: it takes as much again.
	need := o.MinFree + s.rec.Live().Bytes
	if free, err := freeBytes(s.dir.Path()); err == nil && free < need {
		return &recording.Stop{
			At: now, Reason: recording.ReasonDiskFloor,
			Detail: fmt.Sprintf("%d MB are free; %d MB are kept for the film and as a floor", free/1e6, need/1e6),
		}
	}
	return nil
}

// endFilm fixes the end and tells the capture.
func (s *session) endFilm(stop recording.Stop) {
	stop.At = min(max(stop.At, 0), s.rec.Now())
	s.rec.EndAt(stop.At)
	s.report()
	if err := s.update(func(man *recording.Manifest) { man.Stop = &stop }); err != nil {
		s.log.Error("state not saved", "err", err)
	}
	s.log.Info("film ends", "at", stop.At, "reason", stop.Reason, "detail", stop.Detail)
}

// freeBytes is the space that this user can still fill.
func freeBytes(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, fmt.Errorf("look for free space: %w", err)
	}
	return int64(st.Bavail) * st.Bsize, nil
}
