package scene_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

func covers(ranges [][2]rune, r rune) bool {
	for _, x := range ranges {
		if r >= x[0] && r <= x[1] {
			return true
		}
	}
	return false
}

func TestFonts(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	sets := make([]scene.FontSet, 3)
	for i := range sets {
		wg.Go(func() {
			set, err := scene.Fonts(dir)
			if err != nil {
				t.Error(err)
			}
			sets[i] = set
		})
	}
	wg.Wait()
	set := sets[0]
	for _, other := range sets[1:] {
		if d := cmp.Diff(set, other); d != "" {
			t.Error(d)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v in the cache, %v", left, err)
	}
	for _, r := range "aZé9 łŐΩЖẹ₿→✓─█⠿漢字あ한ไعאक𝔸∑🍊👩" {
		if !covers(set.Glyphs, r) {
			t.Errorf("no font has %c (%U)", r, r)
		}
	}
	for _, r := range []rune{0xE5E5, 0x10FFFD, 0x12000} {
		if covers(set.Glyphs, r) {
			t.Errorf("%U is said to be covered", r)
		}
	}

	// A damaged cache would change pixels for good.
	files, err := filepath.Glob(filepath.Join(set.Dir, "files", "inter-bold*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], whole[:1000], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := scene.Fonts(dir); err != nil {
		t.Fatal(err)
	}
	if mended, err := os.ReadFile(files[0]); err != nil || len(mended) != len(whole) {
		t.Errorf("%d of %d bytes, %v", len(mended), len(whole), err)
	}
}
