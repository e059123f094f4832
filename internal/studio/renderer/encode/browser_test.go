package encode

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"testing"
	"time"
)

// seekPage shows the film's first frame, then seeks to the middle of others, and
// tells for each what time the frame has and which number it shows.
const seekPage = `<!DOCTYPE html><video id=v src=/film.mp4 muted preload=auto></video><script>
const c = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const number = () => {
  c.canvas.width = v.videoWidth; c.canvas.height = v.videoHeight;
  c.drawImage(v, 0, 0);
  let n = 0;
  for (let i = 0; i < %[1]d; i++) if (c.getImageData(i*%[2]d + %[2]d/2, %[2]d/2, 1, 1).data[1] > 126) n |= 1 << i;
  return n;
};
const shown = () => new Promise(done => v.requestVideoFrameCallback((now, m) => done(m.mediaTime)));
(async () => {
  const out = [];
  let first = shown();
  await new Promise(done => v.onloadeddata = done);
  out.push(Math.round(await first * 1000) + ':' + number());
  for (const n of [%[3]s]) {
    const next = shown();
    v.currentTime = (n + 0.5) / %[4]d;
    await next;
    out.push(n + ':' + number());
  }
  fetch('/done?' + new URLSearchParams({got: out.join(' '), duration: v.duration}));
})().catch(e => fetch('/done?' + new URLSearchParams({got: String(e)})));
</script>`

// What players make of the joins is what counts: the first frame at time 0, and
// at each time the frame of that time, keyframe or not, on both sides of a join.
func TestChromiumShowsTheFrameOfEachTime(t *testing.T) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium is not installed: apt-get install chromium")
	}
	o := options(t, testW, testH, testFPS, testFrames)
	must(t, o, &source{w: testW, h: testH, paint: func(c canvas, n int) {
		moving(c, n)
		if n > 50 && n < 58 { // a still stretch of skip-only pictures
			moving(c, 50)
		}
	}})
	joins := Stretches(testFrames, testFPS)
	want := "0:0"
	seeks := ""
	for _, n := range []int{1, joins[1].From - 1, joins[1].From, joins[1].From + 1, 50, 56, 58, joins[3].From, testFrames - 1, 7} {
		seeks += fmt.Sprintf("%d,", n)
		shows := n
		if n > 50 && n < 58 {
			shows = 50
		}
		want += fmt.Sprintf(" %d:%d", n, shows)
	}
	page := fmt.Sprintf(seekPage, stripBits, stripCell, seeks, testFPS)

	done := make(chan url.Values, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, page)
		case "/film.mp4":
			http.ServeFile(w, r, o.Out)
		case "/done":
			select {
			case done <- r.URL.Query():
			default:
			}
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	browser := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--remote-debugging-port=0", "--user-data-dir="+t.TempDir(), server.URL)
	browser.WaitDelay = 5 * time.Second
	if err := browser.Start(); err != nil {
		t.Fatal(err)
	}
	var got url.Values
	select {
	case got = <-done:
	case <-ctx.Done():
		t.Error("Chromium told nothing of the film")
	}
	cancel()
	_ = browser.Wait() // killed: its error says only that
	if got.Get("got") != want {
		t.Errorf("Chromium shows\n%s, want\n%s", got.Get("got"), want)
	}
	if d := fmt.Sprintf("%.4f", float64(testFrames)/testFPS); len(got.Get("duration")) < 5 || got.Get("duration")[:5] != d[:5] {
		t.Errorf("duration %s, want %s", got.Get("duration"), d)
	}
}
