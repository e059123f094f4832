package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// thrown is what the harness tells of an error: shim.failure, with the phase.
type thrown struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
	Frame   int    `json:"frame"`
	Phase   string `json:"phase"`
}

// said is a note as the shim has it.
type said struct {
	Code  string `json:"code"`
	Text  string `json:"text"`
	Frame int    `json:"frame"`
	Stack string `json:"stack"`
}

func (s *Stage) takeNotes(all []said) {
	for _, n := range all {
		place, _ := s.cfg.Bundle.Position(n.Stack)
		s.note(scene.Note{Code: n.Code, Text: n.Text, Frame: n.Frame, Place: place})
	}
}

// threw makes a fault of what the scene threw.
func (s *Stage) threw(t thrown) error {
	s.tell(failed{t.Code, t.Message})
	place, _ := s.cfg.Bundle.Position(t.Stack)
	f := &scene.Failure{Code: fault.Code(t.Code), Text: t.Message, Frame: t.Frame, Place: place}
	if fault.Lookup(f.Code).Code != f.Code || f.Code == fault.Internal {
		f.Code = fault.SceneThrew
	}
	if t.Frame < 0 && t.Phase != "" {
		f.Text = fmt.Sprintf("%s (in %s)", t.Message, phaseName(t.Phase))
	}
	f.Hint = hint(f.Code)
	if line := s.cfg.Bundle.Line(place); line != "" {
		f.Hint = fmt.Sprintf("The line is: %s\n%s", line, f.Hint)
	}
	return f.Fault()
}

func phaseName(phase string) string {
	switch phase {
	case "start", "import":
		return "the module's own code"
	case "assets":
		return "the loading of assets"
	case "setup":
		return "setup"
	default:
		return phase
	}
}

func hint(c fault.Code) string {
	switch c {
	case fault.SceneThrew:
		return "Mend the scene there; `proofreel scene check` draws a few frames and tells more."
	case fault.SceneAsync:
		return "Take async and await out of draw, and load what it needs in setup."
	case fault.SceneImpure:
		return "Say sequential: true in meta, or work everything out from t."
	case fault.SceneNetwork:
		return "Put the file into the scene's folder and name it in meta.assets."
	case fault.DiskFull:
		return "Make room where temporary files are kept (TMPDIR), or in /dev/shm."
	default:
		return "docs/scene.md says what a scene may do."
	}
}

// hungError says what did not come to an end in time.
type hungError struct {
	what  string // "setup", "the frame"
	limit time.Duration
	frame int
	place scene.Place
}

func (e *hungError) Error() string {
	return fmt.Sprintf("%s did not end within %v", e.what, e.limit)
}

// otherKindError says that the scene is of another kind than the browser was
// started for.
type otherKindError struct{ kind scene.Kind }

func (e *otherKindError) Error() string { return fmt.Sprintf("the scene is of kind %q", e.kind) }

// explain makes a fault of whatever ended the drawing of a frame, or, with
// scene.NoFrame, the loading. The context's causes and faults stay.
func (s *Stage) explain(err error, frame int) error {
	var (
		known  *fault.Error
		other  *otherKindError
		hung   *hungError
		memory *chromium.MemoryError
		died   *chromium.DiedError
		start  *chromium.StartError
	)
	err = s.withBrowser(err)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.As(err, &other):
		return err
	case errors.As(err, &hung):
		f := &scene.Failure{Code: fault.SceneHung, Text: hung.Error(), Frame: hung.frame, Place: hung.place, Hint: "A loop there does not end, or a promise is never kept. A slow machine can be given more time."}
		return f.Fault()
	case errors.As(err, &memory):
		f := &scene.Failure{Code: fault.SceneMemory, Text: memory.Error(), Frame: frame, Hint: "Let the scene keep less, or allow more memory."}
		return f.Fault()
	case errors.Is(err, chromium.ErrGone), errors.As(err, &died) && outOfMemory(died.Tail):
		// Nothing else ends a realm while the process lives in which it is: a scene
		// can't close its own, and ours are ended between calls.
		f := &scene.Failure{Code: fault.SceneMemory, Text: "the scene's objects grew beyond what the browser holds in one worker or page (some gigabytes)", Frame: frame, Hint: "Let the scene keep less: typed arrays for many numbers, fewer and smaller lists."}
		return f.Fault()
	case errors.As(err, &start):
		return fault.Wrap(err, fault.BrowserFailed, "Try the browser by hand: "+s.cfg.Program.Path+" --version", "the browser for the scene")
	case errors.As(err, &died):
		return fault.Wrap(err, fault.BrowserFailed, "Try again: what is finished is kept. If it comes again, give it more memory.", "the browser for the scene")
	case errors.Is(err, chromium.ErrClosed):
		return fmt.Errorf("draw frames: %w", err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	default:
		return fault.Wrap(err, fault.BrowserFailed, "Try again; if it comes again, please report it.", "the browser for the scene")
	}
}

// outOfMemory tells by what a browser wrote last whether its JavaScript engine
// gave up.
func outOfMemory(tail string) bool {
	return strings.Contains(tail, "V8 javascript OOM") || strings.Contains(tail, "JavaScript heap out of memory")
}

// crashPatience is for how long the word that a page's process has ended may
// follow the word that what was in it is gone.
const crashPatience = time.Second

// withBrowser adds to the end of a page or worker that of its process, if that
// is what ended it: somebody killed it, and no scene did.
func (s *Stage) withBrowser(err error) error {
	if !errors.Is(err, chromium.ErrGone) || s.browser == nil {
		return err
	}
	select {
	case <-s.browser.Done():
		return s.browser.Err()
	case <-time.After(crashPatience):
		return err
	}
}

func missing(err error) error {
	if errors.Is(err, chromium.ErrNotFound) {
		return fault.Wrap(err, fault.BrowserMissing, "Install one: apt-get install chromium-headless-shell (or chromium); or name it in "+chromium.Variable+".", "a scene is drawn by Chromium")
	}
	return fault.Wrap(err, fault.BrowserMissing, "Name a program, or unset "+chromium.Variable+".", "a scene is drawn by Chromium")
}

func failureOf(err error) (*scene.Failure, bool) {
	var f *scene.Failure
	ok := errors.As(err, &f)
	return f, ok
}
