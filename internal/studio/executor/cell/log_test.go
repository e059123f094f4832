package cell

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However a box's output is cut into writes, what comes after the word is the
// box's, what comes before is ours, and no more than the limit passes.
func TestLogPipe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringMatching(`[a-z \n]{0,200}`).Draw(t, "before")
		after := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "after")
		limit := rapid.Int64Range(0, 6000).Draw(t, "limit")
		ready := rapid.Bool().Draw(t, "ready")
		all := []byte(before)
		if ready {
			all = append(append(all, readyWord+"nonce\n"...), after...)
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		l := newLogPipe(r, "nonce")
		var got bytes.Buffer
		go l.copyTo(&got, limit)
		for len(all) > 0 {
			n := rapid.IntRange(1, len(all)).Draw(t, "cut")
			if _, err := w.Write(all[:n]); err != nil {
				t.Fatal(err)
			}
			all = all[n:]
		}
		_ = w.Close()
		<-l.done
		_ = r.Close()
		if l.failed.String() != before {
			t.Fatalf("ours: %q", l.failed.String())
		}
		if !ready {
			select {
			case <-l.ready:
				t.Fatal("ready without the word")
			default:
			}
			return
		}
		<-l.ready
		want := after[:min(int64(len(after)), limit)]
		if !bytes.Equal(got.Bytes(), want) || l.bytes() != int64(len(after)) {
			t.Fatalf("passed on %d of %d bytes, counted %d", got.Len(), len(after), l.bytes())
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

// A log that can't be written must not hold up the box that writes it.
func TestLogWriterFails(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l := newLogPipe(r, "n")
	go l.copyTo(broken{}, 1<<20)
	if _, err := w.WriteString(readyWord + "n\n" + strings.Repeat("x", 300<<10)); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	<-l.done
	if l.bytes() != 300<<10 {
		t.Errorf("counted %d", l.bytes())
	}
}
