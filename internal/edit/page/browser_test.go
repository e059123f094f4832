package page

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func sec(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// example is a clip of 24 s with six steps.
func example() Clip {
	c := Clip{
		Title: "Checkout with an expired card", Video: "checkout 1.mp4", Poster: "checkout 1.jpg", Transcript: "checkout 1.json",
		Width: 1280, Height: 720, Size: 284_113, Length: sec(24), Recording: sec(97), Cut: sec(71), Speed: 1,
		Started: time.Date(2026, 11, 30, 12, 4, 31, 0, time.UTC),
	}
	for i, s := range []struct {
		name, result string
		outcome      Outcome
	}{
		{"Open the shop", "The start page shows 12 products", Passed},
		{"Put a lamp into the basket", "The basket shows 1 item and 24.90 €", Passed},
		{"Go to the checkout", "", Open},
		{"Pay with an expired card", "“Payment accepted” is shown, a refusal was expected", Failed},
		{"Read the order's mail", "No mail came", Passed},
		{"登入頁面：點擊「開始」 · افتح صفحة", "✓ 完成", Passed},
	} {
		at := sec(float64(i) * 4)
		live := sec(float64(i) * 16)
		c.Steps = append(c.Steps, Step{
			Name: s.name, Result: s.result, Outcome: s.outcome, From: at, To: at + sec(4), ResultAt: at + sec(2), At: live, ResultIn: live + sec(7),
			Changes: []Change{{From: live, To: live + sec(1), X: 10, Y: 20, Width: 300, Height: 40}},
		})
	}
	return c
}

// film makes a real MP4 of 24 s beside a page.
func film(t *testing.T, folder string, c Clip) {
	t.Helper()
	tool, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("no ffmpeg: install it (apt-get install ffmpeg)")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(ctx, tool, append([]string{"-v", "error", "-y", "-nostdin", "-threads", "1"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("ffmpeg: %v: %s", err, out)
		}
	}
	run("-f", "lavfi", "-i", "testsrc2=s=640x360:r=5:d=24", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "10", "-movflags", "+faststart", filepath.Join(folder, c.Video))
	run("-f", "lavfi", "-i", "testsrc2=s=640x360:r=5:d=1", "-frames:v", "1", filepath.Join(folder, c.Poster))
}

func write(t *testing.T, folder, name string, data []byte) string {
	t.Helper()
	p := filepath.Join(folder, name)
	if err := os.WriteFile(p, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + strings.ReplaceAll(p, " ", "%20")
}

// Guards the page as a person uses it, in a real browser, from a file.
func TestPageInChromium(t *testing.T) {
	folder, c := t.TempDir(), example()
	film(t, folder, c)
	address := write(t, folder, "checkout.html", HTML(c))
	b := open(t)
	b.size(1280, 800, false)
	b.visit(address)

	b.until(`document.querySelector('video').readyState >= 2 && document.querySelector('video').currentTime > 0.2`) // it plays by itself
	if v := b.eval(`(v => v.muted && v.loop && v.controls && v.playsInline && v.videoWidth === 640)(document.querySelector('video'))`); v != true {
		t.Error("the video lacks what the page promises")
	}
	t.Run("click", func(t *testing.T) {
		b.t = t
		box, ok := b.eval(`(r => [r.x + r.width/2, r.y + r.height/2])(document.querySelectorAll('ol button')[3].getBoundingClientRect())`).([]any)
		if !ok {
			t.Fatal("no fourth step")
		}
		b.click(box[0].(float64), box[1].(float64))
		b.until(`document.querySelector('video').currentTime >= 12 && document.querySelector('video').currentTime < 15.9 && !document.querySelector('video').paused`)
		b.until(`document.querySelector('[aria-current] bdi').textContent === 'Pay with an expired card'`)
	})
	t.Run("bar", func(t *testing.T) {
		b.t = t
		b.until(`document.querySelectorAll('.bar button').length === 6`)
		b.eval(`document.querySelectorAll('.bar button')[1].click()`)
		b.until(`(v => v.currentTime >= 4 && v.currentTime < 8)(document.querySelector('video'))`)
	})
	t.Run("keyboard", func(t *testing.T) {
		b.t = t
		b.eval(`document.activeElement.blur()`)
		b.press(" ")
		b.until(`document.querySelector('video').paused`)
		b.press("n")
		b.until(`(v => v.currentTime >= 8 && v.currentTime < 12 && !v.paused)(document.querySelector('video'))`)
		b.press("k")
		b.until(`document.querySelector('video').paused`)
		b.press("ArrowRight")
		b.until(`document.querySelector('video').currentTime >= 12.9`)
		b.press("p")
		b.until(`(v => v.currentTime >= 8 && v.currentTime < 12)(document.querySelector('video'))`)
		b.eval(`document.querySelectorAll('ol button')[0].focus()`)
		b.press("Enter")
	})
	t.Run("light and dark", func(t *testing.T) {
		b.t = t
		seen := map[any]bool{}
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			b.eval(`document.querySelector('video').currentTime = 13`)
			b.until(`!document.querySelector('video').seeking && document.querySelector('[aria-current] bdi').textContent.startsWith('Pay')`)
			seen[b.eval(`getComputedStyle(document.documentElement).backgroundColor`)] = true
			b.screenshot("page-" + scheme)
		}
		if len(seen) != 2 {
			t.Errorf("grounds: %v", seen)
		}
	})
	t.Run("phone", func(t *testing.T) {
		b.t = t
		for _, width := range []int{360, 320} {
			b.size(width, 740, true)
			if w := b.eval(`document.scrollingElement.scrollWidth`); w != float64(width) {
				t.Errorf("at %d px the page is %v px wide", width, w)
			}
			b.screenshot(fmt.Sprintf("page-%d", width))
		}
	})
	b.t = t
	for _, line := range b.console {
		t.Errorf("the console says %s", line)
	}
}

// Guards a page that lost its video: it says so.
func TestPageWithoutItsVideo(t *testing.T) {
	b := open(t)
	b.visit(write(t, t.TempDir(), "clip.html", HTML(example())))
	b.until(`document.querySelector('.missing a').textContent === 'checkout 1.mp4'`)
}

// Guards the frame that other sites put it into: no storage, no origin.
func TestPageInAnOpaqueFrame(t *testing.T) {
	folder, c := t.TempDir(), example()
	film(t, folder, c)
	write(t, folder, "clip.html", HTML(c))
	write(t, folder, "host.html", []byte(`<!doctype html><iframe sandbox="allow-scripts" allow="autoplay" src="clip.html#4" width="900" height="700"></iframe>`))
	// Chromium lets no opaque frame read file: addresses at all; sites that
	// frame a page have a server.
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	b := open(t)
	b.visit(server.URL + "/host.html")
	// A frame of opaque origin lives in a target of its own: it is asked there.
	page := b.session
	b.session = b.frame()
	b.until(`self.origin === 'null' && document.readyState === 'complete'`)
	b.until(`document.querySelector('video').currentTime >= 12`) // #4 is the fourth step
	b.until(`document.querySelectorAll('.bar button').length === 6`)
	b.session = page
	b.screenshot("page-frame")
}

// frame attaches to the page's only frame.
func (b *browser) frame() string {
	b.t.Helper()
	page := b.session
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var targets struct {
			TargetInfos []struct{ TargetID, Type string }
		}
		b.session = ""
		b.call("Target.getTargets", nil, &targets)
		for _, target := range targets.TargetInfos {
			if target.Type == "iframe" {
				var attached struct{ SessionID string }
				b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
				return attached.SessionID
			}
		}
		b.session = page
	}
	b.t.Fatal("the page has no frame")
	return ""
}

// hostile are texts that try to leave their place.
func hostile() []string {
	return []string{
		`</script><script>window.owned=1</script>`, `<img src=x onerror="window.owned=1">`, `"><svg onload=window.owned=1>`, `javascript:window.owned=1`,
		`' onmouseover='window.owned=1`, "\u202egnp.exe\u202c \u2066x", "\x00\x1b[31m\x07", strings.Repeat("wörd ", 400), strings.Repeat("x", 2000),
		strings.Repeat("👩‍💻", 500), "-->", "<!--", "]]>", "{{.}}", "&lt;b&gt;", strings.Repeat("\u0301", 50), "\xff\xfe", "",
	}
}

// Guards what is shown: no text runs, hides the rest, or breaks the layout.
func TestHostileTextsInChromium(t *testing.T) {
	folder, c := t.TempDir(), example()
	film(t, folder, c)
	c.Title = hostile()[0] + hostile()[7]
	c.Steps = nil
	for i, text := range hostile() {
		c.Steps = append(c.Steps, Step{Name: text, Result: text, Outcome: Outcome(i % 3), From: sec(float64(i)), To: sec(float64(i) + 1)})
	}
	address := write(t, folder, "hostile.html", HTML(c))
	b := open(t)
	b.size(360, 740, true)
	b.visit(address)
	b.until(`document.querySelector('video').currentTime > 0`)
	if v := b.eval(`window.owned === undefined && document.images.length === 0 && document.scripts.length === 1 && document.querySelectorAll('svg').length === 0`); v != true {
		t.Error("a text became part of the page")
	}
	if n := b.eval(`document.querySelectorAll('ol > li').length`); n != float64(len(c.Steps)) {
		t.Errorf("%v rows of %d", n, len(c.Steps))
	}
	if w := b.eval(`document.scrollingElement.scrollWidth`); w != 360.0 {
		t.Errorf("the page is %v px wide", w)
	}
	if s := b.eval(`document.querySelectorAll('ol bdi')[0].textContent`); s != hostile()[0] {
		t.Errorf("the first name reads %v", s)
	}
	b.screenshot("page-hostile")
	for _, line := range b.console {
		t.Errorf("the console says %s", line)
	}
}
