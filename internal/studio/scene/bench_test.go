package scene_test

import (
	"testing"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

// What a command pays before the browser starts.
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"title", "chart", "orbit"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := scene.Load("../../../examples/" + name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFonts(b *testing.B) {
	b.Run("unpacked", func(b *testing.B) {
		dir := b.TempDir()
		for b.Loop() {
			if _, err := scene.Fonts(dir); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			if _, err := scene.Fonts(b.TempDir()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
