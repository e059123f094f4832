package executortest

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// browsers are where Chromium's program itself lies, not its start script.
func browsers() []string {
	return []string{"/usr/lib/chromium/headless_shell", "/usr/bin/chromium-headless-shell", "/usr/lib/chromium/chromium", "/usr/bin/chromium", "/opt/google/chrome/chrome"}
}

// Programs holds that what renders films works in a box: a browser paints a
// page, ffmpeg encodes.
func Programs(t *testing.T, open Opener) {
	t.Helper()
	e, err := open(stateDir(t))
	if err != nil {
		t.Fatalf("%v (install what is missing: make install-box)", err)
	}
	defer func() { _ = e.Close() }()
	s := &suite{e: e}
	limits := sandbox.Limits{Memory: 3 << 30, Disk: 128 << 20, Wall: bounded}
	t.Run("chromium", func(t *testing.T) {
		browser := ""
		for _, b := range browsers() {
			if _, err := os.Stat(b); err == nil {
				browser = b
				break
			}
		}
		if browser == "" {
			t.Fatal("install chromium")
		}
		spec := sandbox.Spec{
			Argv: []string{
				browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=/work/profile",
				"--window-size=320,240", "--screenshot=/work/page.png", "file:///work/page.html",
			},
			Env:    []string{"PATH=" + sandbox.Path, "HOME=" + sandbox.Home},
			Files:  []sandbox.File{{Name: "page.html", Data: []byte("<body style='background:#ff0000;margin:0'>")}},
			Limits: limits,
		}
		if within := filepath.Dir(browser); within == "/opt/google/chrome" {
			spec.Inputs = []sandbox.Mount{{Source: within, Target: within}}
		}
		r := s.run(t, spec)
		if r.Reason != executor.Exited || r.Code != 0 {
			t.Fatalf("%+v: %s", r.Exit, r.log)
		}
		picture, err := png.Decode(bytes.NewReader([]byte(readWork(t, r.box, "page.png"))))
		if err != nil {
			t.Fatal(err)
		}
		if red, green, blue, _ := picture.At(100, 100).RGBA(); red != 0xffff || green != 0 || blue != 0 {
			t.Errorf("the page is %x %x %x", red, green, blue)
		}
		t.Logf("a screenshot took %v", r.Took)
	})
	t.Run("ffmpeg", func(t *testing.T) {
		r := s.run(t, sandbox.Spec{
			Argv:   []string{"/usr/bin/ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30:duration=1", "-pix_fmt", "yuv420p", "-c:v", "libx264", "/work/out.mp4"},
			Env:    []string{"PATH=" + sandbox.Path},
			Limits: limits,
		})
		if r.Reason != executor.Exited || r.Code != 0 || len(readWork(t, r.box, "out.mp4")) < 1000 {
			t.Errorf("%+v: %s", r.Exit, r.log)
		}
		t.Logf("an encode took %v", r.Took)
	})
}
