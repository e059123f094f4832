package chromium

import (
	"bytes"
	"os"
	"testing"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// What the browser sends may be anything: it runs what strangers write.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"id":1,"result":{}}` + "\x00"))
	f.Add([]byte(`{"method":"Target.attachedToTarget","params":{"sessionId":"a","targetInfo":{"url":"u"}}}` + "\x00" +
		`{"method":"x","sessionId":"a","params":1}` + "\x00" + `{"method":"Target.detachedFromTarget","params":{"sessionId":"a"}}` + "\x00"))
	f.Add([]byte(`{"method":"Target.targetCrashed"}` + "\x00{\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if bytes.Contains(raw, []byte("requestPaused")) {
			return // is answered by the browser that is not there
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := newConn(r, out)
		b := &Browser{conn: c, sessions: map[string]*Session{}, done: make(chan struct{})}
		b.tail = &proc.Tail{}
		answer, forget, err := c.send("", "one", nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = w.Write(raw)
			_ = w.Close()
		}()
		c.read(b.event)
		select {
		case m := <-answer:
			_ = m.into("one", new(any))
		default:
		}
		forget()
		c.close()
	})
}
