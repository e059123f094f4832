package boxed_test

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/bwrap"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/executortest"
	"github.com/proofreel/proofreel/internal/studio/exit"
	"github.com/proofreel/proofreel/internal/studio/exit/boxed"
)

func open(dir string) (executor.Executor, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return bwrap.Open(context.Background(), cell.Config{Dir: dir, Exe: exe}, "")
}

// The test binary is also the program that boxes get.
func TestMain(m *testing.M) { executortest.Main(m, open) }

// runner opens real boxes.
func runner(t *testing.T) boxed.Runner {
	t.Helper()
	e, err := open(t.TempDir())
	if err != nil {
		t.Fatalf("%v: apt-get install bubblewrap", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return boxed.Runner{Executor: e, JobID: "test"}
}

// film puts a film into a work directory, as a job would have.
func film(t *testing.T) *os.File {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), mediatest.FFmpeg(t), "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=30",
		"-frames:v", "60", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-fflags", "+bitexact", "-flags:v", "+bitexact",
		"-movflags", "+faststart", filepath.Join(dir, exit.FilmName))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func config(t *testing.T, r exit.Runner) exit.Config {
	t.Helper()
	out := t.TempDir()
	return exit.Config{
		Work: film(t), Owner: uint32(os.Getuid()), Runner: r,
		Want: exit.Want{Width: 640, Height: 360, FPS: 30, Seconds: 2, MaxBytes: exit.MaxBytes, PosterFrame: 30},
		Film: filepath.Join(out, "film.mp4"), Poster: filepath.Join(out, "poster.jpg"),
	}
}

// A film goes the whole way out, its decoders in real boxes.
func TestLeaveThroughBoxes(t *testing.T) {
	r := runner(t)
	for _, mode := range exit.Modes() {
		cfg := config(t, r)
		cfg.Mode = mode
		p, err := exit.Leave(t.Context(), cfg)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		b, err := os.ReadFile(p.Poster.Path)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := jpeg.DecodeConfig(bytes.NewReader(b))
		if err != nil || picture.Width != 640 || p.Frames != 60 || p.PosterFrame != 30 {
			t.Errorf("%s: %+v, poster %+v, %v", mode, p, picture, err)
		}
	}
}

// A run that takes too long is ended from outside. That may be a busy
// machine's fault: the film is neither published nor blamed.
func TestWallClock(t *testing.T) {
	cfg := config(t, runner(t))
	cfg.Wall = time.Millisecond
	_, err := exit.Leave(t.Context(), cfg)
	var refused *exit.RefusedError
	if f := fault.As(err); f.Code != fault.BoxFailed || errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

// A caller that gives up gets its context's error, and no box goes on.
func TestCancelled(t *testing.T) {
	r := runner(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := r.Run(ctx, exit.Program{Argv: []string{"/usr/bin/sleep", "600"}, Wall: time.Hour, Disk: 1 << 20})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A program that fails says so by its status, not as an error of the box.
func TestStatus(t *testing.T) {
	ran, err := runner(t).Run(t.Context(), exit.Program{Argv: []string{"/bin/sh", "-c", "echo x >left; exit 3"}, Wall: time.Minute, Disk: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer ran.Close()
	if ran.Status != 3 || ran.Limit != "" {
		t.Errorf("ended with %d, %q", ran.Status, ran.Limit)
	}
	names, err := ran.Work.Readdirnames(-1)
	if err != nil || len(names) != 1 {
		t.Errorf("work directory holds %v (%v)", names, err)
	}
}
