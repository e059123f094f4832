// Package doctor looks whether this machine has what a recording needs, says
// what to do about what lacks, and tries a real recording. It installs,
// starts and removes nothing itself: the recording and the look at a display
// are the caller's functions.
package doctor

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/install"
)

// Level says how bad it is when a check is not OK.
type Level string

// The levels.
const (
	Error   Level = "error"   // no recording would work
	Warning Level = "warning" // a recording works, but something will be missing or slow
	Info    Level = "info"    // good to know
)

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Level  Level  `json:"level"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do, in the machine's own words; only when not OK
}

// Report is everything that was looked at, in the order of the looks.
type Report struct {
	OK     bool    `json:"ok"` // a recording works: no check of level Error failed
	Checks []Check `json:"checks"`
}

// Deps is what the doctor works with.
type Deps struct {
	Home    string // directory of the recordings; need not exist
	MinFree int64  // bytes that must be free there; 0: 200 MB

	// TryRecording makes, verifies and removes a real recording of one second.
	TryRecording func(context.Context) error
	// OpenDisplay looks at a display that is there and says what it is. It is
	// called when DISPLAY is set. Hints are taken from errors of all three
	// functions that are *fault.Error.
	OpenDisplay func(ctx context.Context, name, xauthority string) (string, error)
	// Leftovers lists recordings whose supervisor died before their end, one
	// line of words each.
	Leftovers func(context.Context) ([]string, error)

	// The rest has defaults: this process's environment and this machine.
	Getenv   func(string) string
	Host     *install.Host
	Shm      string   // mount point of shared memory
	FontDirs []string // looked through when there is no fc-list
}

// toolTimeout bounds a question to a program, for one that hangs.
const toolTimeout = 30 * time.Second

// Run looks at everything. What is wrong with the machine is in the report;
// the error is a *fault.Error with the code Interrupted when ctx has ended.
func Run(ctx context.Context, d Deps) (Report, error) {
	d = d.withDefaults()
	var r Report
	for _, look := range []func(context.Context, Deps) []Check{
		ffmpegChecks, screenChecks, browserChecks, fontChecks, homeChecks, shmCheck, displayCheck, leftoverCheck,
	} {
		r.Checks = append(r.Checks, look(ctx, d)...)
		if err := ctx.Err(); err != nil {
			return Report{}, brokenOff(err)
		}
	}
	r.Checks = append(r.Checks, recordingCheck(ctx, d, failed(r.Checks)))
	if err := ctx.Err(); err != nil {
		return Report{}, brokenOff(err)
	}
	r.OK = len(failed(r.Checks)) == 0
	return r, nil
}

func brokenOff(err error) error {
	return fault.Wrap(err, fault.Interrupted, "Nothing of this machine was changed. Run proofreel doctor again.", "the look at this machine was broken off")
}

func (d Deps) withDefaults() Deps {
	if d.MinFree == 0 {
		d.MinFree = 200 << 20
	}
	if d.Getenv == nil {
		d.Getenv = os.Getenv
	}
	if d.Host == nil {
		h := install.Detect()
		d.Host = &h
	}
	if d.Shm == "" {
		d.Shm = "/dev/shm"
	}
	if d.FontDirs == nil {
		d.FontDirs = []string{"/usr/share/fonts", "/usr/local/share/fonts", d.Getenv("HOME") + "/.local/share/fonts", d.Getenv("HOME") + "/.fonts"}
	}
	return d
}

// failed names the checks that make a recording impossible.
func failed(checks []Check) []string {
	var names []string
	for _, c := range checks {
		if !c.OK && c.Level == Error {
			names = append(names, c.Name)
		}
	}
	return names
}

// recordingCheck is the proof: what looks right may still not work.
func recordingCheck(ctx context.Context, d Deps, broken []string) Check {
	c := Check{Name: "recording", Level: Error}
	switch {
	case len(broken) > 0:
		c.Detail = "not tried, because of: " + strings.Join(broken, ", ")
		c.Fix = "mend what is named, then run: proofreel doctor"
		return c
	case d.TryRecording == nil:
		c.Detail, c.Fix = "not tried: there is no recorder", "run: proofreel doctor"
		return c
	}
	if err := d.TryRecording(ctx); err != nil {
		c.Detail, c.Fix = "a recording of one second failed: "+err.Error(), fixOf(err, "see the error; what it names is where to look")
		return c
	}
	c.OK, c.Detail = true, "a recording of one second was made and verified"
	return c
}

// fixOf gives the hint of an error that is a *fault.Error.
func fixOf(err error, other string) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Hint != "" {
		return f.Hint
	}
	return other
}
