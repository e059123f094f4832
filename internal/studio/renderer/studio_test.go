package renderer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/studio/renderer/stage"
)

// hashCommand makes the test binary a process that draws frames and prints
// their hashes: SCENE WORKERS FRAME...
const hashCommand = "hash-frames"

// renderCommand makes it one that renders: SCENE OUT DIR. It prints how many
// frames are done.
const renderCommand = "render"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == hashCommand {
		if err := hashFrames(context.Background(), os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == renderCommand {
		if err := renderOne(context.Background(), os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func renderOne(ctx context.Context, path, out, dir string) error {
	s, err := testStudio(dir)
	if err != nil {
		return err
	}
	defer s.Spawn.Close()
	_, err = s.Render(ctx, RenderOptions{
		Source: Source{Scene: path}, Out: out,
		Progress: func(done, _ int) { fmt.Println(done) },
	})
	return err
}

// testStudio is a studio on this machine that keeps everything below dir but
// the fonts, which all tests share: unpacking takes longer than a test.
func testStudio(dir string) (*Studio, error) {
	program, err := ffmpeg.Find()
	if err != nil {
		return nil, err
	}
	browser, err := chromium.Find(nil)
	if err != nil {
		return nil, fmt.Errorf("%w: install chromium-headless-shell", err)
	}
	if err := proc.AdoptOrphans(); err != nil {
		return nil, err
	}
	scratch := filepath.Join(dir, "scratch")
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return nil, err
	}
	return &Studio{
		FFmpeg: program, Browser: browser, Spawn: proc.NewSpawner(), State: filepath.Join(dir, "state"), Scratch: scratch,
		Cache: filepath.Join(os.TempDir(), "proofreel-test-fonts"), Log: slog.New(slog.DiscardHandler),
	}, nil
}

// newStudio also checks, at the test's end, that no process and no folder of a
// browser is left.
func newStudio(t *testing.T) *Studio {
	t.Helper()
	s, err := testStudio(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Spawn.Close()
		self, err := proc.Self()
		if err != nil {
			t.Fatal(err)
		}
		if left := proc.Descendants(self); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
		emptyFolder(t, s.Scratch)
	})
	return s
}

// writeScene makes a scene of its code.
func writeScene(t *testing.T, code string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scene.js")
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// small begins a scene that is quick to draw.
func small(more string) string {
	return "export const meta = { width: 320, height: 180, fps: 30, " + more + " };\n"
}

// hashFrames draws frames with several workers and prints their hashes, in the
// order in which they were asked for.
func hashFrames(ctx context.Context, args []string, out io.Writer) (err error) {
	var workers int
	if _, err := fmt.Sscan(args[1], &workers); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hash-frames-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := testStudio(dir)
	if err != nil {
		return err
	}
	defer s.Spawn.Close()
	st, err := s.Open(ctx, Source{Scene: args[0], Workers: workers})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for i, word := range args[2:] {
		var n int
		if _, err := fmt.Sscan(word, &n); err != nil {
			return err
		}
		err := st.Frames(ctx, i%st.Workers(), n, n+1, func(_ int, f stage.Frame) error {
			fmt.Fprintf(out, "%d %x\n", n, sumOf(f))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wantFault holds an error to a code and to words of its message.
func wantFault(t *testing.T, err error, code fault.Code, words ...string) {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error %v, want the code %s", err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(e.Message, w) {
			t.Errorf("the message %q lacks %q", e.Message, w)
		}
	}
}

func fileSum(t *testing.T, path string) [sha256.Size]byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(raw)
}

func emptyFolder(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s is left", e.Name())
	}
}
