package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
)

// A film that is compared with the wrong frames looks bad whatever its setting:
// a lossless one, and one of screenshots, tell whether the measure is right.
func TestMeasure(t *testing.T) {
	ffmpeg, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("ffmpeg is not installed: apt-get install ffmpeg")
	}
	s := study{ffmpeg: ffmpeg, dir: t.TempDir(), repeats: 1}
	path := filepath.Join(s.dir, "take.mkv")
	if err := s.draw(context.Background(), path, drawing{"shapes", shapes}, 4); err != nil {
		t.Fatal(err)
	}
	tk, err := s.open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if tk.frames != 4 || tk.width != width || tk.height != height {
		t.Fatalf("%d frames of %dx%d", tk.frames, tk.width, tk.height)
	}
	exact, err := s.measure(context.Background(), Setting{"lossless", feedYUV, []string{"-c:v", "libx264", "-preset", "ultrafast", "-qp", "0", "-colorspace", "bt709"}}, tk)
	if err != nil {
		t.Fatal(err)
	}
	shots, err := s.measure(context.Background(), peers()[0], tk)
	if err != nil {
		t.Fatal(err)
	}
	// 4:2:0 is what the lossless one loses.
	if exact.SSIMLuma < 0.998 || exact.SSIM < 0.99 || exact.KBytes <= shots.KBytes || exact.CPU <= 0 {
		t.Errorf("lossless: %+v", exact)
	}
	if shots.SSIMLuma < 0.97 || shots.SSIMLuma >= exact.SSIMLuma {
		t.Errorf("screenshots: %+v, lossless: %+v", shots, exact)
	}
}

// Two settings of one name could not be told apart in the table.
func TestSettingsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range settings() {
		if seen[s.Name] {
			t.Errorf("%q twice", s.Name)
		}
		seen[s.Name] = true
	}
}
