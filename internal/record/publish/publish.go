package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
)

// Film is a verified film on this machine.
type Film struct {
	Path   string // absolute
	ID     string // of its recording, a UUID
	Name   string // of its recording; may be empty
	Bytes  int64
	SHA256 string // lower-case hexadecimal
}

// Receipt says where the film is now. The zero value: only where it was.
type Receipt struct {
	URL  string // checked; https
	Path string // absolute
}

// Publisher brings films to one target.
type Publisher interface {
	// Publish may be called again for the same film, after a success or after
	// a failure: the film is at one place, once. The error is a *fault.Error
	// with the code PublishFailed that names the film as its artifact; it
	// holds no secret.
	Publish(context.Context, Film) (Receipt, error)
}

// Options is what publishers work with. Every field has a default but Spawn.
type Options struct {
	Spawn     *proc.Spawner // starts the CLI of uploads.sh
	Env       []string      // environment to choose from; nil: the process's
	Workspace string        // of uploads.sh; empty: what its CLI decides
	HTTP      *http.Client  // looks at the hosted film; its redirect policy is not used
	Log       *slog.Logger

	// Sleep waits between attempts; it returns early with ctx's error.
	Sleep func(ctx context.Context, d time.Duration) error
	// Jitter gives a number from 0 to 1.
	Jitter func() float64
	// Patience is for how long the CLI may show no sign of progress.
	Patience time.Duration
	// Beat is called once to five times a second while what is done moves, or
	// waits for something that is bounded and ends by itself. It falls silent
	// when neither can be told. It may be called from any goroutine, never
	// after Publish has returned, and must not block. nil: nobody listens.
	Beat func()
}

// New makes the publisher of a target.
func New(t Target, o Options) (Publisher, error) {
	o = o.withDefaults()
	switch t.Kind {
	case KindNone, "":
		return none{}, nil
	case KindDir:
		return dir{path: t.Path, log: o.Log, beat: o.Beat}, nil
	case KindUploads:
		if o.Spawn == nil {
			return nil, errors.New("publish to uploads.sh: no spawner was given")
		}
		return newUploads(o), nil
	default:
		return nil, fmt.Errorf("publish: unknown kind of target %q", t.Kind)
	}
}

func (o Options) withDefaults() Options {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Jitter == nil {
		o.Jitter = randomFraction
	}
	o.Beat = sparing(o.Beat)
	if o.Patience == 0 {
		o.Patience = 2 * time.Minute // the CLI itself gives up a silent upload after one
	}
	return o
}

type none struct{}

func (none) Publish(context.Context, Film) (Receipt, error) { return Receipt{}, nil }

// check refuses a film that is not what its description says: nothing wrong
// is published.
func (f Film) check() error {
	if _, err := uuid.Parse(f.ID); err != nil || len(f.ID) != 36 {
		return fmt.Errorf("recording id %q is no UUID", f.ID)
	}
	st, err := os.Stat(f.Path)
	if err != nil {
		return fmt.Errorf("look at the film: %w", err)
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", f.Path)
	}
	if st.Size() != f.Bytes {
		return fmt.Errorf("%s has %d bytes, and had %d when it was verified", f.Path, st.Size(), f.Bytes)
	}
	return nil
}

// failed makes the error that callers see.
func (f Film) failed(hint string, err error) error {
	return fault.Wrap(err, fault.PublishFailed, hint, "publish").WithArtifact(f.Path)
}
