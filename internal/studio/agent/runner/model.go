package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

// model is the Messages API behind the gateway.
type model struct {
	s   *session
	api anthropic.MessageService
}

// Bounds of one call.
const (
	attempts    = 6
	callTimeout = 15 * time.Minute // the gateway's own is as long
	longestWait = time.Minute
)

// errBudget says that nothing more will be paid for.
var errBudget = errors.New("the job's budget is used up")

// errShut says that the gateway lets this job in no more.
var errShut = errors.New("the gateway is shut for this job")

// deniedError is a refusal of what was sent, in words for the model.
type deniedError struct{ text string }

func (e *deniedError) Error() string { return "denied: " + e.text }

// tryAgainError says that the same call may succeed later.
type tryAgainError struct {
	err  error
	wait time.Duration // that was asked for; 0: none
}

func (e *tryAgainError) Error() string { return e.err.Error() }

func (e *tryAgainError) Unwrap() error { return e.err }

func newModel(s *session, base string) *model {
	// Nothing of the environment: what is to be called stands in the order.
	transport := &http.Transport{Proxy: nil, DisableCompression: true, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second}
	return &model{s: s, api: anthropic.NewMessageService(
		option.WithBaseURL(base), option.WithAPIKey(s.order.Token), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: transport}),
	)}
}

// call asks for the next message, again where that helps.
func (m *model) call(ctx context.Context, t *talk) (*anthropic.Message, error) {
	wait := time.Second
	for n := 1; ; n++ {
		answer, err := m.once(ctx, t)
		var again *tryAgainError
		if err == nil || !errors.As(err, &again) || n == attempts || ctx.Err() != nil {
			return answer, err
		}
		pause := min(max(wait, again.wait), longestWait)
		m.s.log.Warn("the model is asked again", "after", pause, "error", err)
		if err := m.s.c.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		wait *= 2
	}
}

// once asks for it a single time.
func (m *model) once(ctx context.Context, t *talk) (*anthropic.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	stream := m.api.NewStreaming(ctx, t.params(m.s.order))
	defer func() { _ = stream.Close() }()
	var answer anthropic.Message
	ended := false
	for stream.Next() {
		event := stream.Current()
		if err := answer.Accumulate(event); err != nil {
			return nil, &tryAgainError{err: fmt.Errorf("understand the model's stream: %w", err)}
		}
		ended = ended || event.Type == "message_stop"
	}
	switch err := stream.Err(); {
	case err != nil:
		return nil, classify(err)
	case !ended:
		return nil, &tryAgainError{err: errors.New("the model's stream ends too early")}
	}
	return &answer, nil
}

// classify tells what an error of the SDK's means.
func classify(err error) error {
	var api *anthropic.Error
	if !errors.As(err, &api) {
		return &tryAgainError{err: fmt.Errorf("reach the model: %w", err)}
	}
	wrapped := fmt.Errorf("ask the model: %d: %s", api.StatusCode, clip(api.Message, 500))
	final := api.Response != nil && api.Response.Header.Get("X-Should-Retry") == "false"
	switch code := api.StatusCode; {
	case code == http.StatusPaymentRequired:
		return fmt.Errorf("%w: %w", errBudget, wrapped)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fmt.Errorf("%w: %w", errShut, wrapped)
	case code == http.StatusBadRequest, code == http.StatusRequestEntityTooLarge:
		return &deniedError{clip(api.Message, 2000)}
	case code == http.StatusOK: // an error event inside of a stream
		if api.Type() == anthropic.ErrorTypeInvalidRequestError {
			return &deniedError{clip(api.Message, 2000)}
		}
		return &tryAgainError{err: wrapped}
	case final:
		return wrapped
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code == http.StatusConflict, code >= 500:
		return &tryAgainError{err: wrapped, wait: retryAfter(api.Response)}
	default:
		return wrapped
	}
}

func retryAfter(r *http.Response) time.Duration {
	if r == nil {
		return 0
	}
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}
