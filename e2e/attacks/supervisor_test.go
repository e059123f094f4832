package attacks

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/executor/gvisor"
)

// supervisor: a job that does not want to end ends, with all that it started,
// and the machine stays as it was.
func (l *lab) supervisor(t *testing.T) {
	slots := make(chan struct{}, 2)
	var running sync.WaitGroup
	for _, what := range []string{"fork-bomb", "stop-everybody", "trace-runner", "daemon", "ignore-signals", "memory", "kill-everybody"} {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			l.unending(t, what)
		})
	}
	running.Wait()
	l.clock(t)
	l.disk(t)
	after := l.run(t, job{name: "after", steps: [][]call{{hostile("film", "good")}}})
	l.table.add("processes", "a good job after all that", "published", after.code(), "it is the control")
}

// remains are the arguments of what some attacks turn into.
func remains() map[string]string {
	return map[string]string{"fork-bomb": "f() { f | f & }", "ignore-signals": "trap '' TERM INT HUP", "daemon": "sleep\x003599"}
}

// unending is cancelled once it has begun.
func (l *lab) unending(t *testing.T, what string) {
	name := "do-" + what
	mark := request{ID: "mark", Raw: raw(line, plain, strings.Replace(body(""), `"hi"`, `"MARK-`+name+`!"`, 1))}
	o := l.run(t, job{name: name, cancel: true, steps: [][]call{
		{put("mark.json", []request{mark}), bash("/attack/hostile requests mark.json; exec /attack/hostile do " + what)},
		{bash("sleep 400")},
	}})
	seen := "ended, nothing left"
	// Some end the job before it is cancelled: that is their own affair.
	if o.err == nil || o.took > 4*time.Minute {
		seen = fmt.Sprintf("%s after %v", o.code(), o.took)
	}
	left := 0
	if l.backend != gvisor.Name { // there its tasks are no processes of the host's
		for _, word := range []string{"hostile\x00do\x00" + what, remains()[what]} {
			if word != "" {
				left += len(processesOf(word))
			}
		}
	}
	if left > 0 {
		seen = fmt.Sprintf("%d processes left", left)
	}
	l.mu.Lock()
	begun := false
	select {
	case <-l.scripts[name].mark:
		begun = true
	default:
	}
	l.mu.Unlock()
	l.table.add("processes", what, "ended, nothing left", seen, words(begun, "it had begun", ""))
}

// clock: nobody cancels; the wall clock outside ends the box.
func (l *lab) clock(t *testing.T) {
	o := l.run(t, job{name: "clock", wall: 20 * time.Second, steps: [][]call{{hostile("do", "ignore-signals")}}})
	l.table.add("processes", "the wall clock", "generate_timeout", o.code(), "jobs within it are published")
}

// disk: what a job writes is bounded, and lies on no disk.
func (l *lab) disk(t *testing.T) {
	o := l.run(t, job{name: "disk", steps: [][]call{
		{bash("for f in /work/full /tmp/full /dev/shm/full; do head -c 1G /dev/zero >$f; done 2>&1 | grep -c 'No space'; rm /work/full; yes | head -c 40M; true")},
		{hostile("film", "good")},
	}})
	l.table.add("files", "filling /work, /tmp, /dev/shm", "3 full", words(strings.HasPrefix(o.heard[0], "3"), "3 full", o.heard[0][:min(40, len(o.heard[0]))]), "small files are written")
	l.table.add("files", "the job goes on", "published", o.code(), "it is the control")
	size := int64(0)
	for _, dir := range []string{l.dir, l.state} {
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if st, err := d.Info(); err == nil {
					size += st.Size()
				}
			}
			return nil
		})
	}
	l.table.add("files", "what it left on the host's disk", "nothing", words(size < 8<<20, "nothing", fmt.Sprintf("%d MiB", size>>20)), fmt.Sprintf("%d KiB of films", size>>10))
}
