package exit

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
)

// allocated gives the bytes that a call allocates.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Whatever a film's bytes are: no panic, no memory by a declared number, and
// what passes is rewritten to a film that passes and is its own rewriting.
func FuzzWalk(f *testing.F) {
	w := Want{Width: 32, Height: 32, FPS: 30, Seconds: 0.2, MaxBytes: 64 << 10}
	good := encodeFilm(f, w, 6)
	f.Add(good)
	f.Add(encodeFilm(f, w, 6, "-bf", "0", "-movflags", "-faststart"))
	for _, cases := range [][]walkCase{fileCases(), headerCases(), entryCases()} {
		for _, c := range cases {
			if b := change(f, good, c.edit); len(b) < 16<<10 {
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var x *film
		var err error
		if used := allocated(func() { x, err = walkBytes(b, w) }); used > 4<<20 {
			t.Errorf("%d bytes allocated for %d", used, len(b))
		}
		if err != nil {
			var r *RefusedError
			if !errors.As(err, &r) {
				t.Errorf("an error that is no refusal: %v", err)
			}
			return
		}
		var clean bytes.Buffer
		check(t, x.rewrite(bytes.NewReader(b), &clean))
		if again := rewriteBytes(t, clean.Bytes(), w); !bytes.Equal(again, clean.Bytes()) {
			t.Error("rewriting a rewritten film changes it")
		}
	})
}

// Whatever a poster's bytes are: no panic, memory by the ordered size alone,
// and what passes comes out as a JPEG that passes.
func FuzzJPEG(f *testing.F) {
	const size = 32
	good := goodPoster(f, size, size)
	f.Add(good)
	f.Add(behindSOI(good, jfif()))
	f.Add(behindSOI(good, segment(0xdd, []byte{0, 1})))
	f.Add(behindSOI(good, segment(0xfe, []byte("x"))))
	f.Add(append(bytes.Clone(good), good...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 64<<10 {
			return
		}
		var out bytes.Buffer
		var err error
		if used := allocated(func() { err = cleanJPEG(&out, b, size, size) }); used > 2<<20 {
			t.Errorf("%d bytes allocated for %d", used, len(b))
		}
		if err != nil {
			var r *RefusedError
			if !errors.As(err, &r) || r.Item != Poster {
				t.Errorf("an error that is no refusal of a poster: %v", err)
			}
			return
		}
		check(t, checkJPEG(out.Bytes(), size, size))
	})
}
