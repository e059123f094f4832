package verify_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/proofreel/proofreel/internal/media/film"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/verify"
)

// A film that is right must pass, however short and with however many threads.
func TestWholePasses(t *testing.T) {
	track, segs := record(t, 35)
	for _, end := range []int64{1, 2, 35, 90} {
		path, want := build(t, track, segs, end, film.CFR)
		for _, threads := range []int{0, 1, 4} {
			if err := decoder(t).Whole(context.Background(), path, threads, want); err != nil {
				t.Errorf("%d frames, %d threads: %v", end, threads, err)
			}
		}
	}
}

// Film looks at both ends; a fault in the middle is for Whole to find, in
// whichever picture it is.
func TestWholeFindsAFaultAnywhere(t *testing.T) {
	track, segs := record(t, 35)
	path, want := build(t, track, segs, 35, film.CFR)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, samples, err := readFilm(path)
	if err != nil {
		t.Fatal(err)
	}
	dec := decoder(t)
	for _, n := range []int{0, 5, 17, 34} {
		bad := append([]byte(nil), raw...)
		s := samples[n]
		for i := s.Offset + s.Size/3; i < s.Offset+s.Size/3+40 && i < s.Offset+s.Size; i++ {
			bad[i] ^= 0x5A
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := dec.Whole(context.Background(), path, 2, want); err == nil {
			t.Errorf("picture %d is spoiled, and it passed", n)
		}
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	want.Samples--
	var wrong *verify.MismatchError
	if err := dec.Whole(context.Background(), path, 2, want); !errors.As(err, &wrong) {
		t.Errorf("another number of frames: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	want.Samples++
	if err := dec.Whole(ctx, path, 2, want); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func readFilm(path string) (mp4.Track, []mp4.Sample, error) {
	f, err := os.Open(path)
	if err != nil {
		return mp4.Track{}, nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return mp4.Track{}, nil, err
	}
	return mp4.ReadFilm(f, st.Size())
}
