package verify_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/film"
	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/media/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const fps = 10

func decoder(t *testing.T) verify.Decoder {
	t.Helper()
	spawn := proc.NewSpawner()
	t.Cleanup(spawn.Close)
	return verify.Decoder{FFmpeg: mediatest.FFmpeg(t), Spawn: spawn, Log: slog.New(slog.DiscardHandler)}
}

// record makes segments of about a second each of a moving picture.
func record(t *testing.T, frames int) (mp4.Track, []segment.Segment) {
	t.Helper()
	track, list := mediatest.Stream(t, 160, 120, fps, frames)
	var segs []segment.Segment
	w := segment.NewWriter(t.TempDir(), track, 0, func(s segment.Segment) { segs = append(segs, s) })
	for _, f := range list {
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return track, segs
}

func live(t *testing.T, dec verify.Decoder, track mp4.Track, segs []segment.Segment) (bad []verify.Bad, frames int64) {
	t.Helper()
	v := verify.NewLive(context.Background(), dec, track)
	for _, s := range segs {
		v.Add(s)
	}
	bad, err := v.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return bad, v.Frames()
}

// damage changes a segment's file at an offset.
func damage(t *testing.T, s segment.Segment, at int64, change func(byte) byte) {
	t.Helper()
	raw, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	raw[at] = change(raw[at])
	if err := os.WriteFile(s.Path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A verdict that passes a bad segment is worth nothing, and one that fails the
// good ones around it loses footage.
func TestLiveFindsTheBadSegmentAndNoOther(t *testing.T) {
	flip := func(b byte) byte { return b ^ 0x55 }
	cases := []struct {
		name  string
		spoil func(t *testing.T, segs []segment.Segment)
		bad   int // its index; -1: none
	}{
		{"none", func(*testing.T, []segment.Segment) {}, -1},
		{"a flipped byte in the first picture of all", func(t *testing.T, segs []segment.Segment) {
			damage(t, segs[0], segs[0].Frames[0].Offset+60, flip)
		}, 0},
		{"a flipped byte in a later picture", func(t *testing.T, segs []segment.Segment) {
			damage(t, segs[1], segs[1].Frames[3].Offset+20, flip)
		}, 1},
		{"a NAL length that runs out of its sample", func(t *testing.T, segs []segment.Segment) {
			damage(t, segs[2], segs[2].Frames[1].Offset, func(byte) byte { return 0x7F })
		}, 2},
		{"a file that is gone", func(t *testing.T, segs []segment.Segment) {
			if err := os.Remove(segs[1].Path); err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"a file that was cut", func(t *testing.T, segs []segment.Segment) {
			if err := os.Truncate(segs[3].Path, segs[3].Frames[2].Offset+3); err != nil {
				t.Fatal(err)
			}
		}, 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			track, segs := record(t, 35)
			if len(segs) < 4 {
				t.Fatalf("only %d segments", len(segs))
			}
			c.spoil(t, segs)
			bad, frames := live(t, decoder(t), track, segs)
			want := int64(0)
			for i, s := range segs {
				if i != c.bad {
					want += int64(len(s.Frames))
				}
			}
			if frames != want {
				t.Errorf("%d frames are good, want %d", frames, want)
			}
			switch {
			case c.bad < 0 && len(bad) > 0:
				t.Errorf("bad: %v", bad)
			case c.bad >= 0 && (len(bad) != 1 || bad[0].Segment.Path != segs[c.bad].Path || bad[0].Err == nil):
				t.Errorf("bad: %v, want segment %d", bad, c.bad)
			}
		})
	}
}

// A still stretch is the same keyframe again and again: it counts as verified
// and takes no decoding.
func TestLiveOfAStillScreen(t *testing.T) {
	track, list := mediatest.Stream(t, 160, 120, fps, 1)
	var segs []segment.Segment
	w := segment.NewWriter(t.TempDir(), track, 0, func(s segment.Segment) { segs = append(segs, s) })
	err := w.Write(list[0])
	for tick := int64(10); err == nil && tick <= 100; tick += 10 {
		err = w.Hold(tick)
	}
	if err := errors.Join(err, w.Finish()); err != nil {
		t.Fatal(err)
	}
	bad, frames := live(t, decoder(t), track, segs)
	if len(bad) > 0 || frames != 11 {
		t.Errorf("%d frames of 11, bad %v", frames, bad)
	}
}

// "Nothing could be verified" is no verdict on the segments.
func TestLiveWithoutADecoder(t *testing.T) {
	track, segs := record(t, 12)
	dec := decoder(t)
	dec.FFmpeg = filepath.Join(t.TempDir(), "none")
	v := verify.NewLive(context.Background(), dec, track)
	v.Add(segs[0])
	if bad, err := v.Finish(); err == nil || len(bad) > 0 {
		t.Errorf("bad %v, error %v", bad, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	v = verify.NewLive(ctx, decoder(t), track)
	if _, err := v.Finish(); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// One segment alone: good, or what is wrong with it.
func TestSegment(t *testing.T) {
	track, segs := record(t, 20)
	dec := decoder(t)
	if err := dec.Segment(context.Background(), track, segs[0]); err != nil {
		t.Error(err)
	}
	wrong := segs[0]
	wrong.CRC++
	if err := dec.Segment(context.Background(), track, wrong); err == nil || !strings.Contains(err.Error(), "CRC") {
		t.Errorf("other bytes than were written: %v", err)
	}
}

func build(t *testing.T, track mp4.Track, segs []segment.Segment, end int64, rate string) (string, verify.Want) {
	t.Helper()
	plan, err := film.NewPlan(track, segs, end, rate)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "film.mp4")
	if err := plan.Write(context.Background(), path, "", time.Time{}); err != nil {
		t.Fatal(err)
	}
	return path, verify.Want{
		Width: track.Width, Height: track.Height, FPS: track.FPS,
		CFR: rate == film.CFR, Samples: plan.Samples, Ticks: plan.End,
	}
}

// A film that is right must pass, however short and at either rate.
func TestFilmPasses(t *testing.T) {
	track, segs := record(t, 35)
	for _, c := range []struct {
		name string
		end  int64
		rate string
	}{
		{"cfr", 60, film.CFR}, {"vfr with a still end", 60, film.VFR}, {"one frame", 1, film.CFR}, {"shorter than was recorded", 7, film.VFR},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, want := build(t, track, segs, c.end, c.rate)
			if err := decoder(t).Film(context.Background(), path, want); err != nil {
				t.Error(err)
			}
		})
	}
}

// A film that differs from what was captured in anything must not pass.
func TestFilmMismatch(t *testing.T) {
	track, segs := record(t, 35)
	path, right := build(t, track, segs, 40, film.VFR)
	cases := []struct {
		what   string
		change func(*verify.Want)
	}{
		{"width", func(w *verify.Want) { w.Width += 2 }},
		{"height", func(w *verify.Want) { w.Height-- }},
		{"number of frames", func(w *verify.Want) { w.Samples++ }},
		{"length in ticks", func(w *verify.Want) { w.Ticks-- }},
		{"length in ticks", func(w *verify.Want) { w.FPS = 11 }},
		{"frame durations are equal", func(w *verify.Want) { w.CFR = true }},
	}
	for _, c := range cases {
		want := right
		c.change(&want)
		var wrong *verify.MismatchError
		if err := decoder(t).Film(context.Background(), path, want); !errors.As(err, &wrong) || wrong.What != c.what {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// An index can be right over media that are not: the ends are decoded.
func TestFilmWithBadMedia(t *testing.T) {
	track, segs := record(t, 35)
	for _, c := range []struct {
		name  string
		spoil func(raw []byte) []byte
	}{
		{"cut at the end", func(raw []byte) []byte { return raw[:len(raw)-500] }},
		{"zeros at the end", func(raw []byte) []byte { clear(raw[len(raw)-500:]); return raw }},
		{"not a film", func([]byte) []byte { return []byte("<html>not found</html>") }},
		{"empty", func([]byte) []byte { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, want := build(t, track, segs, 35, film.CFR)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.spoil(raw), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := decoder(t).Film(context.Background(), path, want); err == nil {
				t.Error("it passed")
			}
		})
	}
	if err := decoder(t).Film(context.Background(), filepath.Join(t.TempDir(), "none"), verify.Want{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
