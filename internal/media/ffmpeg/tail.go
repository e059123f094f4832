package ffmpeg

import (
	"bytes"
	"strings"
	"sync"
)

// maxLine bounds what is kept of one line, in bytes.
const maxLine = 500

// Tail is an io.Writer that keeps the last lines of what ffmpeg writes to
// stderr, without its banner. It holds at most lines × 500 bytes, however much
// is written, and may be written and read from several goroutines.
type Tail struct {
	mu      sync.Mutex
	max     int
	kept    []string
	partial []byte
	skip    int // bytes of the partial line that were dropped
}

// NewTail makes a Tail that keeps the last n lines, at least one.
func NewTail(n int) *Tail { return &Tail{max: max(n, 1)} }

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		// The status line is redrawn after a carriage return.
		end := bytes.IndexAny(p, "\r\n")
		if end < 0 {
			t.add(p)
			break
		}
		t.add(p[:end])
		t.close()
		p = p[end+1:]
	}
	return n, nil
}

func (t *Tail) add(p []byte) {
	room := maxLine - len(t.partial)
	if len(p) > room {
		t.skip += len(p) - room
		p = p[:room]
	}
	t.partial = append(t.partial, p...)
}

func (t *Tail) close() {
	line := t.line()
	t.partial, t.skip = t.partial[:0], 0
	if line == "" || isBanner(line) {
		return
	}
	if len(t.kept) == t.max {
		copy(t.kept, t.kept[1:])
		t.kept = t.kept[:t.max-1]
	}
	t.kept = append(t.kept, line)
}

func (t *Tail) line() string {
	s := strings.TrimRight(strings.ToValidUTF8(string(t.partial), "\uFFFD"), " \t")
	if t.skip > 0 {
		s += "..."
	}
	return s
}

// Lines gives the kept lines, oldest first, with one that has no end yet.
func (t *Tail) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	ls := append([]string(nil), t.kept...)
	if last := t.line(); last != "" && !isBanner(last) {
		ls = append(ls, last)
	}
	if len(ls) > t.max {
		ls = ls[len(ls)-t.max:]
	}
	return ls
}

// String joins the kept lines.
func (t *Tail) String() string { return strings.Join(t.Lines(), "\n") }

// isBanner knows the lines that every ffmpeg prints first
// (fftools/opt_common.c, print_program_info and print_all_libs_info).
func isBanner(line string) bool {
	if strings.HasPrefix(line, "ffmpeg version ") {
		return true
	}
	indented, ok := strings.CutPrefix(line, "  ")
	if !ok {
		return false
	}
	for _, p := range []string{"built with ", "configuration: ", "WARNING: library configuration mismatch"} {
		if strings.HasPrefix(indented, p) {
			return true
		}
	}
	f := strings.Fields(indented)
	return len(f) > 2 && (strings.HasPrefix(f[0], "libav") || strings.HasPrefix(f[0], "libsw") || strings.HasPrefix(f[0], "libpostproc")) &&
		strings.Contains(indented, " / ")
}
