package beacon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ffmpegPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("ffmpeg is needed: apt install ffmpeg")
	}
	return path
}

// encode makes a film of drawn pages, one for each number, with ffmpeg's arguments
// between the raw input and the file.
func encode(t *testing.T, numbers []uint32, args ...string) string {
	t.Helper()
	film := filepath.Join(t.TempDir(), "film.mp4")
	argv := append([]string{"-v", "error", "-f", "rawvideo", "-pix_fmt", "gray", "-s", "1920x1080", "-r", "30", "-i", "-"}, args...)
	cmd := exec.Command(ffmpegPath(t), append(argv, "-y", film)...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, number := range numbers {
		if _, err := stdin.Write(fullHD(number).draw().Pix); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Fatal(err)
		}
	}
	if err := errors.Join(stdin.Close(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	return film
}

// A real H.264 film at the coarsest quality that is promised, a third of its size:
// what a small display's recording looks like.
func TestScanReadsACoarseFilm(t *testing.T) {
	numbers := []uint32{10, 11, 11, 12, 15, 16, 14, 16}
	film := encode(t, numbers, "-vf", "scale=640:360", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "28", "-pix_fmt", "yuv420p")
	got, err := Scan(t.Context(), ffmpegPath(t), film)
	if err != nil {
		t.Fatal(err)
	}
	want := Report{
		Film: film, First: 10, Last: 16,
		Present:  []uint32{10, 11, 12, 14, 15, 16},
		Repeated: []Repeat{{11, 2}, {16, 2}},
		Missing:  []Range{{13, 13}}, MissingCount: 1,
		Backwards: 1,
	}
	for i, number := range numbers {
		want.Frames = append(want.Frames, Sample{Index: i, PTS: float64(i) / 30, Number: number})
	}
	near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-4 && b-a < 1e-4 })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Error(diff)
	}
}

// Frames of a variable rate must not be filled up or thinned out by ffmpeg's own
// rate conversion: the report is about what is in the file.
func TestScanKeepsVariableRate(t *testing.T) {
	film := encode(t, []uint32{1, 2, 3}, "-vf", "setpts='if(eq(N,0),0,if(eq(N,1),0.1,5))/TB'", "-fps_mode", "vfr",
		"-enc_time_base", "1:1000", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")
	got, err := Scan(t.Context(), ffmpegPath(t), film)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Frames) != 3 || len(got.Present) != 3 || got.Frames[2].PTS < 4.9 {
		t.Errorf("got %+v", got)
	}
}

// A film of something else is a report, not a failure; a broken file is a failure.
func TestScanOfForeignAndBrokenFilms(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.mkv")
	out, err := exec.Command(ffmpegPath(t), "-v", "error", "-f", "lavfi", "-i", "testsrc=duration=1:rate=10", foreign).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := Scan(t.Context(), ffmpegPath(t), foreign)
	if err != nil || got.Unreadable != 10 || len(got.Present) != 0 {
		t.Errorf("foreign film: %+v, %v", got, err)
	}
	if words := got.String(); !strings.Contains(words, "10 unreadable") {
		t.Errorf("words: %s", words)
	}
	broken := filepath.Join(dir, "broken.mp4")
	if err := os.WriteFile(broken, []byte("no film"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, film := range []string{broken, filepath.Join(dir, "absent.mp4")} {
		if got, err := Scan(t.Context(), ffmpegPath(t), film); err == nil {
			t.Errorf("%s: %+v", film, got)
		}
	}
	if _, err := Scan(t.Context(), filepath.Join(dir, "no-ffmpeg"), foreign); err == nil {
		t.Error("a missing ffmpeg was no error")
	}
}

// Scan must end with its context, also while ffmpeg would go on for ever.
func TestScanEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	endless := filepath.Join(dir, "endless.ffconcat")
	film := encode(t, []uint32{1, 2, 3}, "-c:v", "libx264", "-preset", "ultrafast")
	list := "ffconcat version 1.0\n" + strings.Repeat(fmt.Sprintf("file '%s'\n", film), 20000)
	if err := os.WriteFile(endless, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	// A wrapper, for concat refuses absolute names unless it is told otherwise.
	wrapper := filepath.Join(dir, "ffmpeg")
	script := fmt.Sprintf("#!/bin/sh\nexec %s -safe 0 \"$@\"\n", ffmpegPath(t))
	if err := os.WriteFile(wrapper, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	scanned := make(chan error, 1)
	go func() {
		_, err := Scan(ctx, wrapper, endless)
		scanned <- err
	}()
	cancel()
	if err := <-scanned; err == nil {
		t.Error("a cancelled scan was no error")
	}
}

func TestParseInfo(t *testing.T) {
	line := "[Parsed_showinfo_1 @ 0x5581] n:   7 pts:    117 pts_time:0.117   duration:  16 pos: 9 fmt:gray sar:1/1 s:640x360 i:P iskey:0 type:P"
	tests := map[string]struct {
		line string
		want info
		ok   bool
	}{
		"a frame":    {line, info{0.117, 640, 360}, true},
		"no time":    {strings.Replace(line, "0.117", "NOPTS", 1), info{}, false},
		"other line": {"Stream #0:0 -> #0:0 (h264 (native) -> rawvideo (native))", info{}, false},
		"config":     {"[Parsed_showinfo_1 @ 0x5581] config in time_base: 1/15360, frame_rate: 30/1", info{}, false},
		"empty":      {"", info{}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := parseInfo(tt.line)
			if ok != tt.ok || got != tt.want {
				t.Errorf("got %+v, %v", got, ok)
			}
		})
	}
}
