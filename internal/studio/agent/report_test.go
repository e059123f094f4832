package agent

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What is within bounds comes out as it went in, and the rest at the bound.
func TestReportRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Report{
			Phase: Phase(rapid.IntRange(int(Starting), int(Failed)).Draw(t, "phase")), End: End(rapid.IntRange(0, int(Broken)).Draw(t, "end")),
			Percent: rapid.Int().Draw(t, "percent"), Turn: rapid.Int().Draw(t, "turn"), Frames: rapid.Int().Draw(t, "frames"),
			Poster: rapid.Int().Draw(t, "poster"), Bytes: rapid.Int64().Draw(t, "bytes"),
		}
		got, err := ParseReport(r.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r.clamp(), got); d != "" {
			t.Fatal(d)
		}
	})
}

// sealed makes a record with a right checksum, as a hostile runner can.
func sealed(change func(rec []byte)) []byte {
	rec := Report{Phase: Writing}.Append(nil)
	change(rec)
	binary.LittleEndian.PutUint32(rec[60:], crc32.ChecksumIEEE(rec[:60]))
	return rec
}

// Whatever comes: an error, or numbers within bounds and known words.
func FuzzParseReport(f *testing.F) {
	f.Add(Report{Phase: Done, End: Finished, Percent: 100, Turn: 7, Frames: 150, Bytes: 1e6}.Append(nil))
	f.Add([]byte("PRRP"))
	f.Add(sealed(func(b []byte) { b[5] = 99 }))
	f.Add(sealed(func(b []byte) { b[7] = 255 }))
	f.Add(sealed(func(b []byte) { copy(b[24:], bytes.Repeat([]byte{255}, 8)) }))
	f.Fuzz(func(t *testing.T, rec []byte) {
		for _, b := range [][]byte{rec, seal(rec)} {
			r, err := ParseReport(b)
			if err != nil {
				if !errors.Is(err, ErrRecord) || r != (Report{}) {
					t.Errorf("%+v, %v", r, err)
				}
				continue
			}
			if r != r.clamp() || r.Phase.String() == "unknown" || r.End.String() == "unknown" {
				t.Errorf("out of bounds: %+v", r)
			}
			if again, err := ParseReport(r.Append(nil)); err != nil || again != r {
				t.Errorf("%+v becomes %+v, %v", r, again, err)
			}
		}
	})
}

// seal gives a fuzzer's bytes a right checksum: else it never gets past it.
func seal(rec []byte) []byte {
	if len(rec) != RecordBytes {
		return nil
	}
	out := append([]byte{}, rec...)
	binary.LittleEndian.PutUint32(out[60:], crc32.ChecksumIEEE(out[:60]))
	return out
}

func listen(t *testing.T) (net.Listener, func() net.Conn) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "r")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	return l, func() net.Conn {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Error(err)
			return nil
		}
		return c
	}
}

// A runner that sends rubbish, then begins anew, is heard again; after an end
// nothing is.
func TestServeReports(t *testing.T) {
	l, dial := listen(t)
	go func() {
		for _, b := range [][]byte{
			[]byte("GET / HTTP/1.1\r\n\r\n"), nil, []byte("PRRP\x01"), sealed(func(b []byte) { b[20] = 1 }),
			Report{Phase: Writing, Turn: 3}.Append(nil),
			Report{Phase: Done, End: Finished}.Append(Report{Phase: Rendering, Percent: 50}.Append(nil)),
		} {
			if c := dial(); c != nil {
				_, _ = c.Write(b)
				_ = c.Close()
			}
		}
	}()
	var got []Report
	if err := ServeReports(t.Context(), l, func(r Report) { got = append(got, r) }); err != nil {
		t.Fatal(err)
	}
	want := []Report{{Phase: Writing, Turn: 3}, {Phase: Rendering, Percent: 50}, {Phase: Done, End: Finished}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A runner can neither keep the reader busy nor make it go on for ever.
func TestReportsAreBounded(t *testing.T) {
	l, dial := listen(t)
	go func() {
		for range reportConns {
			if c := dial(); c != nil {
				_ = c.Close()
			}
		}
	}()
	if err := ServeReports(t.Context(), l, func(Report) {}); !errors.Is(err, ErrRecord) {
		t.Errorf("after %d connections: %v", reportConns, err)
	}

	many, dialMany := listen(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	flooded := make(chan struct{})
	go func() {
		defer close(flooded)
		c := dialMany()
		rec := bytes.Repeat(Report{Phase: Writing}.Append(nil), 1000)
		for {
			if _, err := c.Write(rec); err != nil {
				_ = c.Close()
				return
			}
		}
	}()
	n := 0
	err := ServeReports(ctx, many, func(Report) { n++ })
	if <-flooded; !errors.Is(err, context.DeadlineExceeded) || n > 40 {
		t.Errorf("%d reports in 300 ms, %v", n, err)
	}
}
