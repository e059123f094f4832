package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/policy"
	"github.com/proofreel/proofreel/internal/studio/gateway/sse"
	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// denial is a refusal as the agent gets it: an error of the Messages API whose
// text names the rule, so that the agent can mend its call. It never holds
// anything of the provider's answer, of the key or of other jobs.
type denial struct {
	Status  int
	Type    string // the API's word: invalid_request_error, …
	Rule    string
	Place   string
	Message string
	Retry   time.Duration // after which trying again helps; 0: never
}

// text names the rule, the place and what is wrong.
func (d *denial) text() string {
	if d.Place == "" {
		return d.Rule + ": " + d.Message
	}
	return d.Rule + " at " + d.Place + ": " + d.Message
}

// headerRule tells programs the rule.
const headerRule = "X-Proofreel-Rule"

func (d *denial) body() []byte {
	b := strictjson.AppendString([]byte(`{"type":"error","error":{"type":`), d.Type)
	b = strictjson.AppendString(append(b, `,"message":`...), "proofreel gateway: "+d.text())
	return append(b, "}}"...)
}

// write answers a request.
func (d *denial) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set(headerRule, d.Rule)
	if d.Retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int(d.Retry.Round(time.Second)/time.Second)))
	} else {
		h.Set("X-Should-Retry", "false") // the official clients heed it
	}
	body := d.body()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(d.Status)
	_, _ = w.Write(body) //nolint:gosec // G705: JSON of our own, written by an escaping writer
}

// event is the denial of a stream that has begun.
func (d *denial) event() []byte { return sse.Append(nil, sse.Event{Name: "error", Data: d.body()}) }

func invalid(rule, format string, args ...any) *denial {
	return &denial{Status: http.StatusBadRequest, Type: "invalid_request_error", Rule: rule, Message: fmt.Sprintf(format, args...)}
}

func status(code int, rule, format string, args ...any) *denial {
	d := invalid(rule, format, args...)
	d.Status = code
	switch {
	case code == http.StatusUnauthorized:
		d.Type = "authentication_error"
	case code == http.StatusForbidden:
		d.Type = "permission_error"
	case code == http.StatusNotFound:
		d.Type = "not_found_error"
	case code == http.StatusPaymentRequired:
		d.Type = "billing_error"
	case code == http.StatusRequestEntityTooLarge:
		d.Type = "request_too_large"
	case code == http.StatusTooManyRequests:
		d.Type, d.Retry = "rate_limit_error", time.Second
	case code >= http.StatusInternalServerError:
		d.Type = "api_error"
	}
	return d
}

// refused makes the denial of a body that breaks a rule.
func refused(err error) *denial {
	var r *policy.RefusalError
	if errors.As(err, &r) {
		d := invalid(r.Rule, "%s", r.Message)
		d.Place = r.Place
		return d
	}
	return invalid("body", "it can't be read")
}

// unpaid makes the denial of a call that the ledger did not take.
func unpaid(err error) *denial {
	var gone *ledger.ExhaustedError
	switch {
	case errors.As(err, &gone):
		return status(http.StatusPaymentRequired, "budget_exhausted",
			"this call can cost %v and %v is left of the job's budget; make the conversation shorter, or finish", gone.Needed, gone.Left)
	case errors.Is(err, ledger.ErrCalls):
		return status(http.StatusPaymentRequired, "calls_exhausted", "the job has made all its calls; finish")
	case errors.Is(err, ledger.ErrStopped):
		return status(http.StatusForbidden, "job_stopped", "the job was stopped")
	case errors.Is(err, ledger.ErrClosed):
		return status(http.StatusUnauthorized, "token", "the job has ended")
	default:
		return status(http.StatusInternalServerError, "ledger", "the call can't be booked, so it is not made")
	}
}
