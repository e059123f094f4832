package renderer

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
)

// fullFolder is a folder on a disk of its own, on which there is no room.
func fullFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Fatalf("mount a tmpfs: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	for i := 0; ; i++ { // pages, and what names take
		if err := os.WriteFile(filepath.Join(dir, string(rune('a'+i))), make([]byte, 8<<10), 0o600); errors.Is(err, unix.ENOSPC) {
			return dir
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A disk that is full is nobody's fault and nothing to report: wherever it is,
// the error says so and names the place.
func TestFullDisks(t *testing.T) {
	if os.Geteuid() != 0 {
		cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--mount", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("in a mount namespace (needs unprivileged user namespaces, or run as root): %v\n%s", err, out)
		}
		return
	}
	path := writeScene(t, small("duration: 0.5")+"export function draw(ctx, t) { ctx.fillStyle = '#fff'; ctx.fillRect(t * 100, 0, 20, 20); }")
	full := fullFolder(t)
	for name, c := range map[string]struct {
		change func(s *Studio, o *RenderOptions)
		word   string
	}{
		"of the fonts":        {func(s *Studio, _ *RenderOptions) { s.Cache = filepath.Join(full, "cache") }, full},
		"of unfinished films": {func(s *Studio, _ *RenderOptions) { s.State = full }, full},
		"of the browser":      {func(s *Studio, _ *RenderOptions) { s.Scratch = full }, "browser"},
		"of the film":         {func(_ *Studio, o *RenderOptions) { o.Out = filepath.Join(full, "film.mp4") }, full},
		"of the poster":       {func(_ *Studio, o *RenderOptions) { o.Poster = filepath.Join(full, "film.jpg") }, full},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStudio(t)
			scratch := s.Scratch
			o := RenderOptions{Source: Source{Scene: path}, Out: filepath.Join(t.TempDir(), "film.mp4")}
			c.change(s, &o)
			_, err := s.Render(t.Context(), o)
			wantFault(t, err, fault.DiskFull, c.word)
			s.Scratch = scratch
		})
	}
	s := newStudio(t)
	_, err := s.Sheet(t.Context(), SheetOptions{Source: Source{Scene: path}, Out: filepath.Join(full, "x.png")})
	wantFault(t, err, fault.DiskFull, full)
	_, err = s.Stills(t.Context(), StillOptions{Source: Source{Scene: path}, At: []float64{0}, Out: filepath.Join(full, "new")})
	wantFault(t, err, fault.DiskFull, full)
	_, err = s.New(NewOptions{Name: filepath.Join(full, "new"), Style: "ink", Kind: "2d"})
	wantFault(t, err, fault.DiskFull, full)
}

// A folder that can't be one is not full, and is to be named.
func TestCacheThatIsAFile(t *testing.T) {
	s := newStudio(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Cache = filepath.Join(file, "cache")
	_, err := s.Render(t.Context(), RenderOptions{Source: Source{Scene: writeScene(t, moving)}, Out: "x.mp4"})
	wantFault(t, err, fault.StateUnwritable, s.Cache)
}
