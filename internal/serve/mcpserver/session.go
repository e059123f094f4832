package mcpserver

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// stall is for how long nothing may move before a stop gives up, as it is on
// the command line.
const stall = time.Minute

// session is one client and the recordings that it started.
type session struct {
	Options
	args []argument
	ctx  context.Context //nolint:containedctx // the session's life: the library gives each call one that does not end with it

	mu   sync.Mutex
	open []string // started here and not yet delivered, oldest first
	last string   // the newest that was started here
}

// own notes a recording that was started here.
func (s *session) own(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.last = append(s.open, id), id
}

// delivered notes a recording whose final answer was given.
func (s *session) delivered(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(o string) bool { return o == id })
}

// find says which recording a call means: the named one, else the one that was
// started here and still runs. That of another client is never guessed.
func (s *session) find(action, given string) (string, error) {
	if given != "" {
		if !regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z-]{0,63}$`).MatchString(given) {
			return "", fault.New(fault.InvalidValue, "Take it from the answer of action start or list.", "recordingId: %s is no recording id", quote(given))
		}
		return given, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.open) == 1:
		return s.open[0], nil
	case len(s.open) > 1:
		return "", fault.New(fault.Ambiguous, "Give recordingId, one of: "+strings.Join(s.open, ", ")+".",
			"you have started %d recordings and named none", len(s.open))
	case s.last != "" && (action == "stop" || action == "status"):
		return s.last, nil // a repeated stop gives the same answer
	default:
		return "", fault.New(fault.NotFound, "Start one with action start, or give the recordingId of another; action list shows those of this machine.",
			"no recording that you started runs")
	}
}

// stop ends a recording and notes when its answer is final.
func (s *session) stop(ctx context.Context, id string, o supervisor.StopOptions) (supervisor.Stopped, error) {
	o.Timeout = stall
	res, err := s.Recorder.Stop(ctx, id, o)
	if err == nil || !fault.Lookup(fault.As(err).Code).Retryable {
		s.delivered(id)
	}
	return res, err //nolint:wrapcheck // it is the user's error already
}

// end ends the recordings that were started here, each to its film. What is
// not done at ctx's end is done by the recordings' own supervisors, which have
// been told.
func (s *session) end(ctx context.Context) error {
	s.mu.Lock()
	left := slices.Clone(s.open)
	s.mu.Unlock()

	errs := make([]error, len(left))
	var wg sync.WaitGroup
	for i, id := range left {
		wg.Go(func() {
			s.Log.Info("the client is gone: ending its recording", "recordingId", id)
			res, err := s.stop(ctx, id, supervisor.StopOptions{})
			if err != nil {
				s.Log.Error("recording not ended", "recordingId", id, "err", err)
				errs[i] = err
				return
			}
			s.Log.Info("recording ended", "recordingId", id, "verdict", res.Result.Verdict, "path", res.Result.Path)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
