package exit

import (
	"bytes"
	"testing"
)

// fullSize is five seconds at the size that is ordered most.
func fullSize() Want {
	return Want{Width: 1920, Height: 1080, FPS: 30, Seconds: 5, MaxBytes: MaxBytes}
}

// BenchmarkWalk is the judgement and the rewriting alone.
func BenchmarkWalk(b *testing.B) {
	w := fullSize()
	film := encodeFilm(b, w, 150, "-preset", "ultrafast", "-crf", "16")
	b.SetBytes(int64(len(film)))
	for b.Loop() {
		f, err := walkBytes(film, w)
		check(b, err)
		var out bytes.Buffer
		check(b, f.rewrite(bytes.NewReader(film), &out))
	}
}

// BenchmarkLeave is the whole way out, without the start of boxes.
func BenchmarkLeave(b *testing.B) {
	w := fullSize()
	film := encodeFilm(b, w, 150, "-preset", "veryfast", "-crf", "18")
	for _, mode := range Modes() {
		b.Run(string(mode), func(b *testing.B) {
			for b.Loop() {
				cfg, _ := config(b, film, nil)
				cfg.Want, cfg.Mode = w, mode
				p, err := Leave(b.Context(), cfg)
				check(b, err)
				b.ReportMetric(float64(p.Film.Size)/float64(len(film)), "size/in")
			}
		})
	}
}
