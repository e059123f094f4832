package mp4

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// recorder keeps what was written, and where each call ended.
type recorder struct {
	bytes.Buffer
	ends []int
	fail error
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.fail != nil {
		return 0, r.fail
	}
	n, err := r.Buffer.Write(b)
	r.ends = append(r.ends, r.Len())
	return n, err
}

// writeFragments writes aus at ticks that skip some.
func writeFragments(t testing.TB, track Track, aus [][]byte, start int64) (*recorder, []Sample) {
	t.Helper()
	var r recorder
	w, err := NewFragmentWriter(&r, track)
	if err != nil {
		t.Fatal(err)
	}
	var want []Sample
	tick := start
	for i, au := range aus {
		if err := w.Write(tick, h264.IsKey(au), au); err != nil {
			t.Fatal(err)
		}
		want = append(want, Sample{Tick: tick, Key: h264.IsKey(au), Offset: int64(r.Len() - len(au)), Size: int64(len(au))})
		tick += int64(1 + i%3)
	}
	return &r, want
}

func TestFragmentsRoundTrip(t *testing.T) {
	track, aus := encode(t, "322x178", 30, "24")
	// Segments begin late in a recording: the time must be absolute, over 32 bits.
	r, want := writeFragments(t, track, aus, 200_000_000)
	if len(r.ends) != len(aus)+1 {
		t.Errorf("%d calls of Write for a head and %d pictures", len(r.ends), len(aus))
	}
	gotTrack, got, err := ReadFragments(bytes.NewReader(r.Bytes()), int64(r.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(track, gotTrack); diff != "" {
		t.Errorf("track (-want +got):\n%s", diff)
	}
	file := filepath.Join(t.TempDir(), "f.mp4")
	if err := os.WriteFile(file, r.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := len(hashes(t, file)); n != len(aus) {
		t.Errorf("ffmpeg decoded %d pictures of %d", n, len(aus))
	}
}

// A kill may cut the file anywhere; whatever is whole must survive, and the
// loss must be told.
func TestTornFragments(t *testing.T) {
	track, aus := encode(t, "160x90", 30, "8", "-crf", "40")
	r, want := writeFragments(t, track, aus, 0)
	for n := range r.Len() {
		whole, samples := 0, 0
		for i, end := range r.ends {
			if end <= n {
				whole, samples = end, i
			}
		}
		_, got, err := ReadFragments(bytes.NewReader(r.Bytes()[:n]), int64(n))
		if len(got) != samples {
			t.Fatalf("cut at %d: %d samples, want %d", n, len(got), samples)
		}
		if samples > 0 && !cmp.Equal(want[:samples], got) {
			t.Fatalf("cut at %d: %v", n, got)
		}
		var torn *TruncatedError
		switch {
		case n == whole && n > 0:
			if err != nil {
				t.Fatalf("cut between fragments at %d: %v", n, err)
			}
		case !errors.As(err, &torn):
			t.Fatalf("cut at %d: %v", n, err)
		case whole > 0 && (torn.Offset != int64(whole) || torn.Dropped != int64(n-whole)):
			t.Fatalf("cut at %d: %v, want %d bytes dropped", n, torn, n-whole)
		}
	}
}

// After a power cut a file may have its length but zeros for its last blocks.
func TestZeroedTail(t *testing.T) {
	track, aus := encode(t, "160x90", 30, "8")
	r, want := writeFragments(t, track, aus, 0)
	for _, zeroFrom := range []int{r.ends[5] + 3, r.ends[5] + 104, r.ends[6] + 110} {
		data := bytes.Clone(r.Bytes())
		clear(data[zeroFrom:])
		_, got, err := ReadFragments(bytes.NewReader(data), int64(len(data)))
		var torn *TruncatedError
		if !errors.As(err, &torn) {
			t.Fatalf("zeros from %d: %v", zeroFrom, err)
		}
		if n := len(got); n < 5 || n > 7 || !cmp.Equal(want[:n], got) {
			t.Errorf("zeros from %d: %d samples", zeroFrom, n)
		}
	}
}

func TestFragmentWriterRefuses(t *testing.T) {
	track, aus := encode(t, "160x90", 30, "3")
	var r recorder
	w, err := NewFragmentWriter(&r, track)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(0, false, aus[1]); err == nil {
		t.Error("the first picture was no key")
	}
	if err := w.Write(7, true, aus[0]); err != nil {
		t.Fatal(err)
	}
	for _, tick := range []int64{7, 6, -1} {
		if err := w.Write(tick, false, aus[1]); err == nil {
			t.Errorf("tick %d came after 7", tick)
		}
	}
	if err := w.Write(8, false, nil); err == nil {
		t.Error("an empty picture was taken")
	}
	// A short write leaves a torn file: nothing may follow it.
	r.fail = io.ErrShortWrite
	if err := w.Write(8, false, aus[1]); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
	r.fail = nil
	if err := w.Write(9, false, aus[1]); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
	track.Width++
	if _, err := NewFragmentWriter(&r, track); err == nil {
		t.Error("the size is not that of the SPS")
	}
}

type brokenReader struct{ io.ReaderAt }

func (b brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if off > 2000 {
		return 0, os.ErrPermission
	}
	return b.ReaderAt.ReadAt(p, off)
}

// A disk that cannot be read is no torn file: nothing may be thrown away.
func TestReadErrorIsNotTruncation(t *testing.T) {
	track, aus := encode(t, "160x90", 30, "8")
	r, _ := writeFragments(t, track, aus, 0)
	_, _, err := ReadFragments(brokenReader{bytes.NewReader(r.Bytes())}, int64(r.Len()))
	var torn *TruncatedError
	if !errors.Is(err, os.ErrPermission) || errors.As(err, &torn) {
		t.Errorf("got %v", err)
	}
}
