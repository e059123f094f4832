package flv

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"testing"
	"time"
)

func stream(t testing.TB) []byte {
	t.Helper()
	cmd := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=10", "-frames:v", "5",
		"-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "0", "-f", "flv", "-")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("encode (is ffmpeg installed? apt-get install ffmpeg): %v", err)
	}
	return out
}

func readAll(raw []byte) (list []Packet, err error) {
	r := NewReader(bytes.NewReader(raw))
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, p)
	}
}

func TestReadsWhatFFmpegWrites(t *testing.T) {
	list, err := readAll(stream(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 6 || list[0].Config == nil {
		t.Fatalf("%d packets, want the configuration and 5 pictures", len(list))
	}
	for i, p := range list[1:] {
		if want := time.Duration(i) * 100 * time.Millisecond; p.Time != want || p.Key != (i == 0) || len(p.Data) == 0 {
			t.Errorf("picture %d: time %v key %v, %d bytes", i, p.Time, p.Key, len(p.Data))
		}
	}
}

// A killed encoder leaves a torn stream: all whole pictures count, and the end
// is an end, not an error.
func TestTornStreamEndsQuietly(t *testing.T) {
	raw := stream(t)
	whole, err := readAll(raw)
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		got, err := readAll(raw[:n])
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if len(got) > len(whole) {
			t.Fatalf("cut at %d: %d packets", n, len(got))
		}
	}
}

func TestForeignBytes(t *testing.T) {
	for _, raw := range []string{"MKV has another head", "FLV\x01\x05\x00\x00\x00\x63....", "FLV\x01\x05\x00\x00\x00\x09\x00\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00"} {
		if _, err := readAll([]byte(raw)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: error %v, want ErrFormat", raw, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(stream(f))
	f.Add([]byte("FLV\x01\x01\x00\x00\x00\x09\x00\x00\x00\x00\x09\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x17\x00\x00\x00\x00\x00\x00\x00\x10"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := readAll(raw)
		total := 0
		for _, p := range list {
			total += len(p.Data) + len(p.Config)
		}
		if total > len(raw) {
			t.Fatalf("%d bytes out of %d, err %v", total, len(raw), err)
		}
	})
}
