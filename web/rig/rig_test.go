package rig_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/web/rig"
	"github.com/proofreel/proofreel/web/rig/beacon"
)

// patience is for a machine that is busy with other tests; nothing here measures time.
const patience = 2 * time.Minute

func tool(t *testing.T, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is needed: apt install %s", name, pkg)
	}
	return path
}

func chromium(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	argv := []string{"--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage", "--user-data-dir=" + profileDir(t)}
	if os.Geteuid() == 0 {
		argv = append(argv, "--no-sandbox")
	}
	return exec.CommandContext(ctx, tool(t, "chromium", "chromium"), append(argv, args...)...)
}

// profileDir is a directory of its own, and not t.TempDir, because Chromium's helper
// processes may write there for a moment after it was killed.
func profileDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rig-profile-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 50 {
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return dir
}

func readPicture(t *testing.T, file string) *image.Gray {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	gray := image.NewGray(src.Bounds())
	draw.Draw(gray, gray.Rect, src, src.Bounds().Min, draw.Src)
	return gray
}

func mean(img *image.Gray) float64 {
	sum := 0
	for _, v := range img.Pix {
		sum += int(v)
	}
	return float64(sum) / float64(len(img.Pix))
}

// The page and the decoder hold the layout in two languages; only a picture of the
// real page shows that they agree. The brightness is what end-to-end tests judge a
// recording's first frame by.
func TestPageAndDecoderAgree(t *testing.T) {
	server := httptest.NewServer(rig.Handler())
	defer server.Close()
	tests := []struct {
		name, size, query string
		number            uint32
	}{
		{"full HD", "1920,1080", "", 0},
		{"full HD, high number", "1920,1080", "start=11259375", 11259375},
		{"last number", "1366,768", "start=16777215", beacon.NumberMask},
		{"smallest display", "640,360", "start=4242", 4242},
		{"upper strip alone", "1280,720", "start=5&beacon=top", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			file := filepath.Join(t.TempDir(), "page.png")
			cmd := chromium(ctx, t, "--headless", "--hide-scrollbars", "--window-size="+tt.size, "--screenshot="+file, server.URL+"/?"+tt.query)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("chromium: %v: %s", err, out)
			}
			img := readPicture(t, file)
			got, err := beacon.Read(img.Pix, img.Rect.Dx(), img.Rect.Dy(), img.Stride)
			if err != nil {
				t.Fatal(err)
			}
			// A window that takes its size late paints again, and counts that rightly.
			if again := (got.Number - tt.number) & beacon.NumberMask; got.Torn || again > 3 {
				t.Errorf("got %+v, want number %d", got, tt.number)
			}
			if light := mean(img); light <= 200 {
				t.Errorf("mean luma %.1f, want more than 200", light)
			}
		})
	}
}

// The counters are what benchmarks trust: an idle page must not count, a click must
// count once, each mode must move, and each click must give a latency.
func TestCounters(t *testing.T) {
	type latency struct {
		ID      string
		Painted int
		MS      float64
	}
	type result struct {
		Error                           string
		Start, IdleMoved, ClickPaints   int
		FlashPaints, Clicks, StillMoved int
		Coloured, Refused               bool
		Latencies                       []latency
		Modes                           map[string]bool
	}
	results := make(chan result, 1)
	mux := http.NewServeMux()
	mux.Handle("/", rig.Handler())
	mux.HandleFunc("GET /probe.html", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, "testdata/probe.html")
	})
	mux.HandleFunc("POST /result", func(w http.ResponseWriter, r *http.Request) {
		var got result
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			got.Error = err.Error()
		}
		results <- got
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	cmd := chromium(ctx, t, "--headless", "--window-size=1300,800", server.URL+"/probe.html")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // killed: its error says no more than that
	}()
	var got result
	select {
	case got = <-results:
	case <-ctx.Done():
		t.Fatal("the page never posted its result")
	}
	if got.Error != "" {
		t.Fatal(got.Error)
	}
	for _, l := range got.Latencies {
		if l.ID == "" || l.Painted <= 100 || l.MS <= 0 {
			t.Errorf("latency %+v", l)
		}
	}
	if len(got.Latencies) != 5 {
		t.Errorf("%d latencies, want 5", len(got.Latencies))
	}
	got.Latencies = nil
	want := result{
		Start: 100, ClickPaints: 2, FlashPaints: 2, Clicks: 2, Coloured: true, Refused: true,
		Modes: map[string]bool{"typing": true, "scroll": true, "anim": true, "full": true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// display starts an Xvfb and returns its name.
func display(t *testing.T, size string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, tool(t, "Xvfb", "xvfb"), "-displayfd", "3", "-screen", "0", size+"x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // interrupted: its error says no more than that
	})
	// Xvfb writes the number and the end of the line apart.
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb: %v", err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return ":" + strconv.Itoa(number)
}

// The whole way, headed: a real window on a real display, filmed by ffmpeg. An idle
// page must give one number for the whole film, whatever the browser draws around it,
// and a moving one must be readable in every frame, never running backwards.
func TestFilmedPage(t *testing.T) {
	server := httptest.NewServer(rig.Handler())
	defer server.Close()
	ffmpeg := tool(t, "ffmpeg", "ffmpeg")
	tests := []struct {
		name, size, query string
		fewest, most      int
	}{
		{"idle", "1280x720", "start=9", 1, 1},
		{"anim", "1280x720", "mode=anim", 5, 1000},
		{"scroll, small display", "640x360", "mode=scroll", 5, 1000},
		{"full", "1280x720", "mode=full&beacon=top", 5, 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			screen := display(t, tt.size)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			browser := chromium(ctx, t, "--start-maximized", "--window-position=0,0", "--window-size="+strings.Replace(tt.size, "x", ",", 1), "--app="+server.URL+"/?"+tt.query)
			browser.Env = append(os.Environ(), "DISPLAY="+screen)
			if err := browser.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				cancel()
				_ = browser.Wait() // killed: its error says no more than that
			}()
			awaitPage(ctx, t, ffmpeg, screen, tt.size)
			film := filepath.Join(t.TempDir(), "film.mp4")
			grab(ctx, t, ffmpeg, screen, tt.size, "-frames:v", "60", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "28", "-pix_fmt", "yuv420p", film)
			got, err := beacon.Scan(ctx, ffmpeg, film)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(got)
			if got.Unreadable != 0 || got.Backwards != 0 || len(got.Present) < tt.fewest || len(got.Present) > tt.most {
				t.Errorf("want all readable and %d to %d painted frames", tt.fewest, tt.most)
			}
		})
	}
}

func grab(ctx context.Context, t *testing.T, ffmpeg, screen, size string, args ...string) {
	t.Helper()
	argv := append([]string{"-v", "error", "-nostdin", "-f", "x11grab", "-draw_mouse", "0", "-framerate", "30", "-video_size", size, "-i", screen}, args...)
	if out, err := exec.CommandContext(ctx, ffmpeg, argv...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
}

// awaitPage returns when two pictures of the display, a moment apart, hold the beacon:
// the window is there and has its final size.
func awaitPage(ctx context.Context, t *testing.T, ffmpeg, screen, size string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "look.png")
	for seen := 0; seen < 2; time.Sleep(300 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("the page never came up")
		}
		grab(ctx, t, ffmpeg, screen, size, "-frames:v", "1", "-update", "1", "-y", file)
		img := readPicture(t, file)
		if _, err := beacon.Read(img.Pix, img.Rect.Dx(), img.Rect.Dy(), img.Stride); err == nil {
			seen++
		}
	}
}

// A cached page would be tested in an old form; a listing would not be the page.
func TestHandler(t *testing.T) {
	server := httptest.NewServer(rig.Handler())
	defer server.Close()
	for path, want := range map[string]int{"/": 200, "/rig.js": 200, "/beacon.js": 200, "/rig.css": 200, "/rig.go": 404} {
		resp, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		cached := want == http.StatusOK && resp.Header.Get("Cache-Control") != "no-store"
		if resp.StatusCode != want || cached {
			t.Errorf("%s: %d, %q", path, resp.StatusCode, resp.Header.Get("Cache-Control"))
		}
	}
}
