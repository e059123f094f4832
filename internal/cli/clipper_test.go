package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/host/statefile"
)

// A repeated stop gives its answer again and leaves a clip that the user made
// since as it is; only a video that is gone is made again.
func TestKeptClip(t *testing.T) {
	for name, c := range map[string]struct {
		change func(video, page string) error
		kept   bool
	}{
		"as it was":          {func(string, string) error { return nil }, true},
		"the user's clip":    {func(v, _ string) error { return os.WriteFile(v, []byte("of other options"), 0o600) }, true},
		"the page is gone":   {func(_, p string) error { return os.Remove(p) }, true},
		"the video is gone":  {func(v, _ string) error { return os.Remove(v) }, false},
		"the folder is gone": {func(v, _ string) error { return os.RemoveAll(filepath.Dir(v)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			out, kept := t.TempDir(), filepath.Join(t.TempDir(), clipKept)
			video, page := filepath.Join(out, "a.mp4"), filepath.Join(out, "a.html")
			for _, p := range []string{video, page} {
				if err := os.WriteFile(p, []byte("made"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := statefile.Write(kept, clip.Result{Path: video, Page: page, Bytes: 4}); err != nil {
				t.Fatal(err)
			}
			if err := c.change(video, page); err != nil {
				t.Fatal(err)
			}
			if _, ok := keptClip(kept); ok != c.kept {
				t.Errorf("kept: %v, want %v", ok, c.kept)
			}
		})
	}
}
