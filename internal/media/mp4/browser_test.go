package mp4

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

const playPage = `<!DOCTYPE html><video id=v src=/film.mp4 muted></video><script>
const say = (event) => {
  const q = v.getVideoPlaybackQuality();
  fetch('/done?' + new URLSearchParams({event, duration: v.duration, w: v.videoWidth, h: v.videoHeight,
    error: v.error ? v.error.message : '', corrupted: q.corruptedVideoFrames, total: q.totalVideoFrames}));
};
v.onended = () => say('ended');
v.onerror = () => say('error');
v.playbackRate = 4;
v.play().catch(e => say('refused ' + e));
</script>`

// The film must play to its end in the browser in which most will see it.
func TestChromiumPlaysFilm(t *testing.T) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium is not installed: install it (Debian: apt-get install chromium)")
	}
	track, aus := encode(t, "640x360", 30, "24")
	_, samples := writeFragments(t, track, aus, 0)
	out, keys, _ := expand(t, track, aus, samples, samples[len(samples)-1].Tick+40)
	film := writeFilm(t, track, FilmPlan{Durations: ConstantRate(len(out)), Keys: keys}, out)

	done := make(chan url.Values, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, playPage)
		case "/film.mp4":
			http.ServeFile(w, r, film)
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
		"--autoplay-policy=no-user-gesture-required", "--remote-debugging-port=0", "--user-data-dir="+t.TempDir(), server.URL)
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
	want := fmt.Sprintf("%.4g", float64(len(out))/30)
	if got.Get("event") != "ended" || got.Get("error") != "" || got.Get("corrupted") != "0" ||
		got.Get("w") != "640" || got.Get("h") != "360" || got.Get("duration")[:min(4, len(got.Get("duration")))] != want[:min(4, len(want))] {
		t.Errorf("Chromium says %v, want the end after %s seconds", got, want)
	}
}
