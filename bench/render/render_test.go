package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary be the measured process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == measuredCommand {
		if err := measured(context.Background(), os.Args[2:]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// What a process leaves to its children, also to orphaned ones, must be
// counted: browsers do their work three forks away.
func TestMeasureCountsDescendants(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const burn = `i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done`
	direct, err := measure(t.Context(), self, t.TempDir(), []string{"sh", "-c", burn}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The orphan outlives its parent; wait is what the measurement does.
	orphan, err := measure(t.Context(), self, t.TempDir(), []string{"sh", "-c", `sh -c '` + burn + `' &`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if direct.CPUSeconds <= 0 || orphan.CPUSeconds < direct.CPUSeconds/3 {
		t.Errorf("CPU: %.3f s direct, %.3f s in an orphan", direct.CPUSeconds, orphan.CPUSeconds)
	}
	if direct.Left != 0 || orphan.Left != 0 {
		t.Errorf("processes are said to be left: %d, %d", direct.Left, orphan.Left)
	}
}

// A renderer that fails must not become a fast one.
func TestMeasureFails(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, err = measure(t.Context(), self, t.TempDir(), []string{"sh", "-c", "echo because >&2; exit 3"}, nil)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "because") {
		t.Errorf("the error is %v", err)
	}
}

// The table must compare with the faster peer, and the SSIM with the better.
func TestDues(t *testing.T) {
	mk := func(setting, name string, fps, ssim float64) row {
		return row{
			benchCase: benchCase{Scene: "canvas", Setting: setting, Name: name, film: true},
			cost:      cost{WallSeconds: frames / fps}, FPS: fps, SSIM: ssim,
		}
	}
	r := summarize(nil, 1, []row{
		mk(equal, ours, 25, 0.99), mk(equal, remotion, 5, 0.98), mk(equal, hyperframes, 3, 0.985),
		mk(equal, encodeAlone, 28, 0), mk(equal, framesAlone, 50, 0),
		mk(defaults, ours, 20, 0.98), mk(defaults, remotion, 4, 0.99), mk(defaults, hyperframes, 3, 0.97),
	})
	want := map[string]bool{ // met
		"equal frames a second, times those of remotion":           true,  // 5.0
		"equal whole time over the slower of its two parts":        true,  // 1.12
		"default frames a second, times those of remotion":         false, // 5.0 of 7
		"default SSIM, less that of the better peer":               false,
		"default whole time over the slower of its two parts (no)": false,
	}
	delete(want, "default whole time over the slower of its two parts (no)") // its parts were not measured
	if len(r.Due) != len(want) {
		t.Errorf("%d targets, want %d: %+v", len(r.Due), len(want), r.Due)
	}
	for _, d := range r.Due {
		if met, ok := want[d.Setting+" "+d.What]; !ok || met != d.Met {
			t.Errorf("%s %s: got %.3f, met %v", d.Setting, d.What, d.Got, d.Met)
		}
	}
	if best, _ := r.fastestPeer("canvas", equal); best.Name != remotion {
		t.Errorf("the faster peer is said to be %s", best.Name)
	}
}

// Words of other programs that the figures hang on.
func TestParsing(t *testing.T) {
	if v, err := parseSSIM("x\n[Parsed_ssim_4 @ 0x1] SSIM G:0.99 (20) B:0.98 (17) R:0.97 (15) All:0.981234 (17.2)\n"); err != nil || v != 0.981234 {
		t.Errorf("SSIM %v, %v", v, err)
	}
	if _, err := parseSSIM("Error"); err == nil {
		t.Error("no SSIM is one")
	}
	for raw, want := range map[string]string{`"dist/cli.js"`: "dist/cli.js", `{"hyperframes":"dist/cli.js","hf":"x"}`: "dist/cli.js", `7`: ""} {
		if got := binOf([]byte(raw)); got != want {
			t.Errorf("%s: %q", raw, got)
		}
	}
}

// The peers' projects must hold what prepare replaces, and every scene.
func TestProjects(t *testing.T) {
	for _, scene := range allScenes() {
		page, err := os.ReadFile(filepath.Join("peers", "hyperframes", scene+".html"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), `data-duration="DURATION"`) || !strings.Contains(string(page), "data-no-timeline") {
			t.Errorf("the page of %s lacks its length", scene)
		}
		if _, err := os.Stat(filepath.Join("scenes", scene+".js")); err != nil {
			t.Error(err)
		}
	}
	index, err := os.ReadFile("peers/remotion/index.jsx")
	if err != nil {
		t.Fatal(err)
	}
	for _, scene := range allScenes() {
		if !strings.Contains(string(index), `id="`+scene+`"`) {
			t.Errorf("Remotion's project lacks %s", scene)
		}
	}
	lock, err := os.ReadFile("peers/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, pin := range []string{`"hyperframes": "0.8.170"`, `"@remotion/renderer": "4.0.529"`} {
		if !strings.Contains(string(lock), pin) {
			t.Errorf("the lock file lacks %s", pin)
		}
	}
}
