package statefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

type document struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func writers() map[string]func(string, any) error {
	return map[string]func(string, any) error{"durable": Write, "volatile": WriteVolatile}
}

// What was written must come back, be the user's alone, and leave no temporary
// file for somebody to wonder about.
func TestWriteThenRead(t *testing.T) {
	for name, write := range writers() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "state.json")
			for i := range 3 {
				if err := write(path, document{"a", i}); err != nil {
					t.Fatal(err)
				}
			}
			var got document
			if err := Read(path, &got); err != nil || got != (document{"a", 2}) {
				t.Errorf("%+v, %v", got, err)
			}
			if list := names(t, dir); len(list) != 1 {
				t.Errorf("files: %v", list)
			}
			st, err := os.Stat(path)
			if err != nil || st.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", st.Mode(), err)
			}
		})
	}
}

// A document that can't be encoded, or written, must leave the old one whole.
func TestFailedWriteKeepsTheOldDocument(t *testing.T) {
	for name, write := range writers() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := write(path, document{"old", 1}); err != nil {
				t.Fatal(err)
			}
			if err := write(path, map[string]any{"f": func() {}}); err == nil {
				t.Error("a function was written as JSON")
			}
			if err := write(filepath.Join(path, "below", "a", "file"), 1); err == nil {
				t.Error("a file was written below a file")
			}
			var got document
			if err := Read(path, &got); err != nil || got.Name != "old" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// Readers poll while the writer writes: one that ever sees half a document
// would take the recording for broken.
func TestReadersNeverSeeHalfADocument(t *testing.T) {
	for name, write := range writers() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			long := strings.Repeat("x", 100_000)
			if err := write(path, document{long, 0}); err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				defer close(done)
				for i := range 50 {
					if err := write(path, document{long[:i*2000], i}); err != nil {
						t.Error(err)
					}
				}
			})
			for reading := true; reading; {
				select {
				case <-done:
					reading = false
				default:
				}
				var got document
				if err := Read(path, &got); err != nil {
					t.Fatal(err)
				}
			}
			wg.Wait()
		})
	}
}

// A caller must tell "not there" from "not readable": the first is normal
// before the first write, the second is told to the user.
func TestReadTellsMissingFromCorrupt(t *testing.T) {
	cases := []struct {
		name, content string
		corrupt       bool
	}{
		{"empty", "", true},
		{"cut off", `{"name": "a`, true},
		{"two documents", "{}\n{}", true},
		{"of another shape", `{"count": "many"}`, true},
		{"zeros, as a power cut leaves them", "\x00\x00\x00\x00", true},
		{"too large", `{"name": "` + strings.Repeat("x", maxSize) + `"}`, true},
		{"with fields of a later version", `{"name": "a", "new": [1]}`, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			err := Read(path, &document{})
			var corrupt *CorruptError
			if errors.As(err, &corrupt) != c.corrupt || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error %v", err)
			}
			if c.corrupt && corrupt.Path != path {
				t.Errorf("path %q", corrupt.Path)
			}
		})
	}
	err := Read(filepath.Join(t.TempDir(), "none"), &document{})
	if corrupt := (*CorruptError)(nil); !errors.Is(err, fs.ErrNotExist) || errors.As(err, &corrupt) {
		t.Errorf("missing file: %v", err)
	}
}

// Whatever is in the file: an answer, or a CorruptError; and what is read can
// be written and read again.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "null", "{}", `{"name":"a","count":3}`, `{"count":1e9}`, "[", "\x00", `{"name":"\ud800"}`} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(dir, "in.json")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var got, again document
		if err := Read(path, &got); err != nil {
			if corrupt := (*CorruptError)(nil); !errors.As(err, &corrupt) {
				t.Fatal(err)
			}
			return
		}
		if err := WriteVolatile(path, got); err != nil {
			t.Fatal(err)
		}
		if err := Read(path, &again); err != nil || again != got {
			t.Fatalf("%+v became %+v, %v", got, again, err)
		}
	})
}

// Two owners of one recording would both write its film.
func TestOnlyOneHoldsALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	first.Unlock()
	first.Unlock() // a second call does nothing
	second, err := TryLock(path)
	if err != nil {
		t.Fatalf("after unlock: %v", err)
	}
	second.Unlock()
	if _, err := TryLock(filepath.Join(path, "x")); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("a lock that can't be made is no held lock: %v", err)
	}
}

// Acquire waits: one that did not would lose an update.
func TestAcquireWaitsForItsTurn(t *testing.T) {
	dir := t.TempDir()
	lock, counter := filepath.Join(dir, "lock"), filepath.Join(dir, "n.json")
	const workers, rounds = 8, 25
	if err := WriteVolatile(counter, 0); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range rounds {
				l, err := Acquire(lock)
				if err != nil {
					t.Error(err)
					return
				}
				var n int
				err = errors.Join(Read(counter, &n), WriteVolatile(counter, n+1))
				l.Unlock()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var n int
	if err := Read(counter, &n); err != nil || n != workers*rounds {
		t.Errorf("%d updates, want %d: %v", n, workers*rounds, err)
	}
}

const childVar = "PROOFREEL_TEST_LOCK"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVar); path != "" {
		if _, err := TryLock(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		time.Sleep(time.Hour) // until it is killed
	}
	os.Exit(m.Run())
}

// A killed supervisor must not lock its recording for ever.
func TestLockDiesWithItsProcess(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lock")
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childVar+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	word := make([]byte, 4)
	if _, err := out.Read(word); err != nil || !bytes.Equal(word, []byte("held")) {
		t.Fatalf("the child says %q, %v", word, err)
	}
	if _, err := TryLock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("while the child lives: %v", err)
	}
	if err := cmd.Process.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	l, err := TryLock(path)
	if err != nil {
		t.Fatalf("after the child's death: %v", err)
	}
	l.Unlock()
}

// A directory that is not there must be told: the caller relies on the sync.
func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	if err := SyncDir(dir); err != nil {
		t.Error(err)
	}
	if err := SyncDir(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
}

// People read state files: they are indented and end with a newline.
func TestDocumentIsReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if err := Write(path, document{"a", 1}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || string(raw) != "{\n  \"name\": \"a\",\n  \"count\": 1\n}\n" || !json.Valid(raw) {
		t.Errorf("%q, %v", raw, err)
	}
}
