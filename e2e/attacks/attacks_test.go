package attacks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/executor/bwrap"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/gvisor"
)

// allVar asks for every attack in every backend, and for bubblewrap as an
// ordinary user too: make test-attacks. Without it gVisor, whose boxes start
// slowly, gets those that are about the box and its doors.
const allVar = "PROOFREEL_ATTACKS"

// A hijacked agent finds nothing to steal, nowhere to send it, a fixed budget
// to burn, and one exit.
func TestAttacks(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", modelKey) // a server's environment may hold it
	b := build(t)
	all := os.Getenv(allVar) == "all"
	for _, backend := range []string{bwrap.Name, gvisor.Name} {
		t.Run(backend, func(t *testing.T) {
			l := newLab(t, b, backend)
			if l == nil {
				t.Log("an ordinary user can't have gVisor, and is told so: nothing runs")
				return
			}
			defer func() { l.table.report(t) }()
			if !l.good(t) {
				return // nothing would be proved
			}
			t.Run("inside", l.inside)
			t.Run("gateway", l.gateway)
			t.Run("reports", l.reports)
			if backend == bwrap.Name || all {
				t.Run("prompts", l.prompts)
				t.Run("money", l.money)
				t.Run("films", l.films)
				t.Run("supervisor", l.supervisor)
			}
			l.afterwards(t)
		})
	}
	if all && os.Getuid() == 0 {
		t.Run("as an ordinary user", func(t *testing.T) { asOrdinaryUser(t, b) })
	}
}

// good is the control of all: a job that behaves is published, byte for byte
// what the way out examined, and it was really the box that made it.
func (l *lab) good(t *testing.T) bool {
	t.Helper()
	o := l.run(t, job{name: "good", steps: [][]call{{hostile("film", "good"), hostile("poster", "good")}}})
	sum := sha256.Sum256(o.film)
	if o.err != nil || hex.EncodeToString(sum[:]) != o.res.Film.SHA256 || o.res.Frames != frames || !strings.Contains(o.heard[0], "= good") {
		t.Errorf("%v; %+v; %q\n%s", o.err, o.res, o.heard, l.log.String())
		return false
	}
	own, err := os.ReadFile(l.built.film)
	if err != nil || bytes.Equal(own, o.film) {
		t.Errorf("the agent's own bytes were published (%v)", err)
	}
	t.Logf("a good job takes %v", o.took)
	return true
}

// afterwards looks at what is left of all jobs: no process, no socket, no file,
// and no secret in the log.
func (l *lab) afterwards(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	left := len(processesOf(l.built.hostile)) + len(processesOf("/attack/hostile"))
	l.table.add("end", "processes of dead boxes", "0", fmt.Sprint(left), "they ran")
	n, err := l.wf.Reap(ctx)
	l.table.add("end", "boxes, sockets, files of jobs", "0 <nil>", fmt.Sprint(n, err), "jobs had them")
	log := l.log.String()
	for name, secret := range map[string]string{"model's key": modelKey, "organisation": orgID, "prompt": prompt, "tokens": "pf1."} {
		seen := "absent"
		if strings.Contains(log, secret) {
			seen = "present"
		}
		l.table.add("end", "the log holds the "+name, "absent", seen, fmt.Sprintf("%d KiB of log", len(log)>>10))
	}
	l.supplyChain(t)
	l.ids(t)
}

func processesOf(word string) []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range all {
		if raw, err := os.ReadFile(p); err == nil && bytes.Contains(raw, []byte(word)) {
			found = append(found, p)
		}
	}
	return found
}

// supplyChain: a runsc that is not the one that was chosen runs nothing.
func (l *lab) supplyChain(t *testing.T) {
	t.Helper()
	if !l.guest {
		return
	}
	path, err := runsc()
	if err != nil {
		t.Fatal(err)
	}
	c := gvisor.Config{Config: cell.Config{Dir: tempDir(t), Exe: l.built.exe}, Runsc: path, SHA256: strings.Repeat("0", 64)}
	if err := os.Chmod(c.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	e, err := gvisor.Open(c)
	if e != nil && err == nil {
		_ = e.Close()
	}
	l.table.add("end", "another runsc than was chosen", "refused", words(errors.Is(err, gvisor.ErrChanged), "refused", "opened"), "the chosen one opens")
}

// ids: a job's name becomes paths, so only harmless ones are taken.
func (l *lab) ids(t *testing.T) {
	t.Helper()
	for name, id := range map[string]string{"dots": "../x", "slash": "a/b", "hyphen": "-rf", "capital": "A", "newline": "a\nb", "NUL": "a\x00b", "long": strings.Repeat("a", 49), "empty": ""} {
		o := l.order(job{name: "x"}, filepath.Join(l.dir, "x.mp4"))
		o.ID = id
		_, err := l.wf.Run(t.Context(), o, nil)
		l.table.add("names", "a job's id: "+name, "refused", words(err != nil && strings.Contains(err.Error(), "can't be called"), "refused", "taken"), "good ids run")
	}
}

// words gives one of two.
func words(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}
