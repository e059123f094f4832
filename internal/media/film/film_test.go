package film_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/film"
	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/media/verify"
)

// write puts frames into segments, with holds at the given ticks.
func write(t *testing.T, track mp4.Track, frames []segment.Frame, holds ...int64) (dir string, segs []segment.Segment) {
	t.Helper()
	dir = t.TempDir()
	w := segment.NewWriter(dir, track, 0, func(s segment.Segment) { segs = append(segs, s) })
	for _, f := range frames {
		for len(holds) > 0 && holds[0] < f.Tick {
			hold(t, w, holds[0])
			holds = holds[1:]
		}
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range holds {
		hold(t, w, h)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return dir, segs
}

func hold(t *testing.T, w *segment.Writer, tick int64) {
	t.Helper()
	if err := w.Hold(tick); err != nil {
		t.Fatal(err)
	}
}

// hashes decodes a film and gives a hash of each picture.
func hashes(t *testing.T, path string) []string {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.Command(mediatest.FFmpeg(t), "-v", "error", "-i", path, "-fps_mode", "passthrough", "-f", "framemd5", "-")
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("decode %s: %v %s", path, err, errs.String())
	}
	var sums []string
	for _, line := range strings.Split(string(out), "\n") {
		if f := strings.Split(line, ","); len(f) == 6 && !strings.HasPrefix(line, "#") {
			sums = append(sums, strings.TrimSpace(f[5]))
		}
	}
	return sums
}

// A film at constant rate has a picture at every tick, and each tick shows the
// last frame that was captured up to it: the fault would be a film that plays
// too fast, or shows something that never was on the screen.
func TestConstantRateShowsTheLastFrameAtEveryTick(t *testing.T) {
	track, frames := mediatest.Stream(t, 320, 200, 30, 60)
	sums := reference(t, track, frames)
	// Spread the frames over the grid: gaps of 1 to 7 ticks.
	spread, at := make([]segment.Frame, len(frames)), int64(0)
	for i, f := range frames {
		f.Tick = at
		spread[i] = f
		at += 1 + int64(i*i%7)
	}
	_, segs := write(t, track, spread)
	end := at + 10
	path := build(t, track, segs, end, film.CFR)

	got := hashes(t, path)
	if int64(len(got)) != end {
		t.Fatalf("%d pictures, want %d", len(got), end)
	}
	shown := 0
	for tick := range end {
		for shown+1 < len(spread) && spread[shown+1].Tick <= tick {
			shown++
		}
		if got[tick] != sums[shown] {
			t.Fatalf("tick %d does not show frame %d", tick, shown)
		}
	}
	check(t, path, verify.Want{Width: 320, Height: 200, FPS: 30, CFR: true, Samples: int(end), Ticks: end})
}

// At variable rate a still picture is one long sample.
func TestVariableRateHoldsAStillPictureAsOneSample(t *testing.T) {
	track, frames := mediatest.Stream(t, 320, 200, 30, 3)
	frames = []segment.Frame{frames[0], {Tick: 200, Key: true, Data: frames[0].Data}}
	_, segs := write(t, track, frames, 30, 60, 90, 120, 150, 180)
	if len(segs) != 8 {
		t.Fatalf("%d segments, want 8: a still screen must reach the disk every second", len(segs))
	}
	path := build(t, track, segs, 300, film.VFR)
	info, err := mp4.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Samples != 2 || info.Duration.Num != 10*info.Duration.Den {
		t.Fatalf("%d samples lasting %v, want 2 lasting 10 s", info.Samples, info.Duration)
	}
}

// A still stretch at constant rate keeps a keyframe every 2 s at least, or
// players can't seek into it; and what a killed writer left gives the same film.
func TestStillStretchHasKeyframesAlsoWhenSalvaged(t *testing.T) {
	track, frames := mediatest.Stream(t, 640, 360, 60, 90)
	var holds []int64
	for h := int64(120); h < 1200; h += 60 {
		holds = append(holds, h)
	}
	frames = append(frames[:55], segment.Frame{Tick: 60, Key: true, Data: frames[0].Data})
	dir, segs := write(t, track, frames, holds...)
	_, scanned, problems, err := segment.Scan(dir)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	var sums [2][]string
	for i, ss := range [][]segment.Segment{segs, scanned} {
		path := build(t, track, ss, 1200, film.CFR)
		info, err := mp4.Inspect(path)
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for _, k := range append(info.Keyframes, info.Samples) {
			if k-last > 120 {
				t.Errorf("no keyframe between samples %d and %d", last, k)
			}
			last = k
		}
		sums[i] = hashes(t, path)
		if len(sums[i]) != 1200 || sums[i][60] != sums[i][1199] || sums[i][0] != sums[i][1199] {
			t.Error("the still stretch does not show the last picture")
		}
	}
	if fmt.Sprint(sums[0]) != fmt.Sprint(sums[1]) {
		t.Error("the salvaged film differs")
	}
}

// A picture that comes soon after a hold must be in the film, be it a keyframe
// or not. The fault was a segment that a hold had begun, and that was taken for
// still although more was in it.
func TestPictureSoonAfterAHold(t *testing.T) {
	track, frames := mediatest.Stream(t, 320, 200, 30, 40)
	sums := reference(t, track, frames)
	key := 0
	for i, f := range frames {
		if f.Key {
			key = i
		}
	}
	for name, next := range map[string]int{"keyframe": key, "other": 1} {
		for _, rate := range []string{film.CFR, film.VFR} {
			t.Run(name+" "+rate, func(t *testing.T) {
				dir, segs := write(t, track, []segment.Frame{frames[0], {Tick: 36, Key: frames[next].Key, Data: frames[next].Data}}, 30)
				_, scanned, _, err := segment.Scan(dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, ss := range [][]segment.Segment{segs, scanned} {
					got := hashes(t, build(t, track, ss, 40, rate))
					if last := got[len(got)-1]; got[0] != sums[0] || last != sums[next] {
						t.Errorf("%d pictures; the last is not the one that was captured last", len(got))
					}
				}
			})
		}
	}
}

// A segment that rotted on disk must be noticed, not copied.
func TestChangedSegmentIsFound(t *testing.T) {
	track, frames := mediatest.Stream(t, 320, 200, 30, 30)
	_, segs := write(t, track, frames)
	raw, err := os.ReadFile(segs[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	raw[segs[0].Frames[0].Offset+200] ^= 1
	if err := os.WriteFile(segs[0].Path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := film.NewPlan(track, segs, 30, film.CFR)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "film.mp4")
	if err := plan.Write(context.Background(), path, "", time.Time{}); err == nil {
		t.Fatal("the changed segment was copied")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file is left behind")
	}
	bad := verifyAll(t, track, segs)
	if len(bad) == 0 || bad[0].Segment.Path != segs[0].Path {
		t.Errorf("verification found %v, want the first segment", bad)
	}
}

func verifyAll(t *testing.T, track mp4.Track, segs []segment.Segment) []verify.Bad {
	t.Helper()
	live := verify.NewLive(context.Background(), decoder(t), track)
	for _, s := range segs {
		live.Add(s)
	}
	bad, err := live.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return bad
}

func decoder(t *testing.T) verify.Decoder {
	t.Helper()
	spawn := proc.NewSpawner()
	t.Cleanup(spawn.Close)
	return verify.Decoder{FFmpeg: mediatest.FFmpeg(t), Spawn: spawn, Log: slog.New(slog.DiscardHandler)}
}

func check(t *testing.T, path string, want verify.Want) {
	t.Helper()
	if err := decoder(t).Film(context.Background(), path, want); err != nil {
		t.Error(err)
	}
}

// reference gives the hashes of the stream's own pictures.
func reference(t *testing.T, track mp4.Track, frames []segment.Frame) []string {
	t.Helper()
	_, segs := write(t, track, frames)
	if bad := verifyAll(t, track, segs); len(bad) > 0 {
		t.Fatalf("good segments were called bad: %v", bad)
	}
	return hashes(t, build(t, track, segs, frames[len(frames)-1].Tick+1, film.VFR))
}

func build(t *testing.T, track mp4.Track, segs []segment.Segment, end int64, rate string) string {
	t.Helper()
	plan, err := film.NewPlan(track, segs, end, rate)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "film.mp4")
	if err := plan.Write(context.Background(), path, "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	return path
}
