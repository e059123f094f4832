package encode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/profile"
)

// A film with a frame missing, twice or shifted is wrong however good it looks,
// and so is one whose first frame is not at time 0 or whose rate is not exact.
func TestFilmShowsEveryFrame(t *testing.T) {
	cases := []struct {
		name               string
		w, h, fps, frames  int
		workers, encoders  int
		quality            profile.Quality
		stretches, repeats int
	}{
		{"one frame", 128, 96, 30, 1, 1, 1, profile.Standard, 1, 0},
		{"odd count at 24", 192, 108, 24, 101, 2, 2, profile.Draft, 4, 0},
		{"25", 192, 108, 25, 50, 1, 3, profile.Standard, 2, 0},
		{"30", 160, 90, 30, 150, 2, 2, profile.Standard, 4, 0},
		{"60", 128, 64, 60, 301, 3, 2, profile.Draft, 4, 0},
		{"portrait", 108, 192, 30, 37, 2, 2, profile.High, 1, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, c.w, c.h, c.fps, c.frames)
			o.Quality, o.Parallel = c.quality, c.encoders
			var mu sync.Mutex
			var told []int
			o.Progress = func(done, total int) {
				mu.Lock()
				defer mu.Unlock()
				if told = append(told, done); total != c.frames {
					t.Errorf("progress of %d", total)
				}
			}
			res := must(t, o, &source{w: c.w, h: c.h, workers: c.workers})
			if res.Stretches != c.stretches || res.Repeats != c.repeats || res.Reused != 0 {
				t.Errorf("%+v", res)
			}
			wantNumbers(t, o.Out, c.w, c.h, c.frames)
			wantStream(t, o.Out, c.w, c.h, c.fps, c.frames)
			if !slices.IsSorted(told) || len(told) == 0 || told[len(told)-1] != c.frames {
				t.Errorf("progress %v", told)
			}
		})
	}
}

// wantStream compares what ffprobe says of a film with what was asked for.
func wantStream(t *testing.T, film string, w, h, fps, frames int) {
	t.Helper()
	probe, err := exec.LookPath("ffprobe")
	if err != nil {
		t.Fatal("ffprobe is not installed: apt-get install ffmpeg")
	}
	out, err := exec.CommandContext(t.Context(), probe, "-v", "error", "-count_packets", "-show_packets", "-show_streams", "-show_format", "-of", "json", film).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Streams []map[string]any
		Packets []struct {
			PTS int64 `json:"pts"`
			DTS int64 `json:"dts"`
		}
		Format struct {
			Tags map[string]string
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Streams) != 1 {
		t.Fatalf("%d streams", len(got.Streams))
	}
	want := map[string]any{
		"codec_name": "h264", "profile": "High", "pix_fmt": "yuv420p", "width": float64(w), "height": float64(h),
		"r_frame_rate": fmt.Sprintf("%d/1", fps), "avg_frame_rate": fmt.Sprintf("%d/1", fps), "nb_read_packets": fmt.Sprint(frames),
		"color_range": "tv", "color_space": "bt709", "color_primaries": "bt709", "color_transfer": "bt709",
		"has_b_frames": float64(0), "start_pts": float64(0), "duration": fmt.Sprintf("%.6f", float64(frames)/float64(fps)),
	}
	for key, v := range want {
		if got.Streams[0][key] != v {
			t.Errorf("%s is %v, want %v", key, got.Streams[0][key], v)
		}
	}
	for i, p := range got.Packets {
		if p.PTS != p.DTS || p.PTS != int64(i)*1000 {
			t.Fatalf("packet %d is shown at %d and decoded at %d", i, p.PTS, p.DTS)
		}
	}
	for _, tag := range []string{"title", "encoder", "comment", "creation_time"} {
		if v, ok := got.Format.Tags[tag]; ok {
			t.Errorf("the film says %s=%s", tag, v)
		}
	}
	raw, err := os.ReadFile(film)
	if err != nil || bytes.Contains(raw, []byte("x264")) || bytes.Contains(raw, []byte("Lavf")) {
		t.Errorf("the film tells how it was encoded (%v)", err)
	}
	info, err := mp4.Inspect(film)
	if err != nil || !info.MoovBeforeMdat || !info.Deltas.Equal {
		t.Errorf("%+v, %v", info, err)
	}
	for i, k := range append(info.Keyframes, frames) {
		if i > 0 && float64(k-info.Keyframes[i-1]) > maxSeconds*float64(fps) {
			t.Errorf("no keyframe between %d and %d", info.Keyframes[i-1], k)
		}
	}
	if err := mp4.CheckSamples(film); err != nil {
		t.Error(err)
	}
}

// Colours that shift are the most common fault of other renderers.
func TestColours(t *testing.T) {
	bars := []rgb{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}, {0, 0, 0}, {128, 128, 128}, {18, 18, 18}, {250, 249, 247}}
	const cell, w, h = 32, 32 * 8, 96
	for _, q := range profile.Qualities() {
		t.Run(string(q), func(t *testing.T) {
			o := options(t, w, h, 30, 3)
			o.Quality = q
			must(t, o, &source{w: w, h: h, paint: func(c canvas, _ int) {
				for i, v := range bars {
					c.fill(image.Rect(i*cell, 0, (i+1)*cell, 48), v)
				}
				for x := range w { // a ramp of greys
					c.fill(image.Rect(x, 48, x+1, h), rgb{byte(x), byte(x), byte(x)})
				}
			}})
			got := decode(t, o.Out, "rgb24")
			at := func(x, y int) rgb { return rgb(got[3*(y*w+x):]) }
			near := func(a, b rgb, most int) bool {
				for i := range a {
					if d := int(a[i]) - int(b[i]); d < -most || d > most {
						return false
					}
				}
				return true
			}
			for i, want := range bars {
				if v := at(i*cell+cell/2, 24); !near(v, want, 2) {
					t.Errorf("bar %v came out as %v", want, v)
				}
			}
			ramp := 2
			if q == profile.Draft {
				ramp = 4 // a gradient has steps at its CRF
			}
			for x := 4; x < w-4; x++ {
				if v := at(x, 72); !near(v, rgb{byte(x), byte(x), byte(x)}, ramp) {
					t.Errorf("grey %d came out as %v", x, v)
				}
			}
		})
	}
}

// The bytes of a film may not depend on how many drew and encoded it.
func TestSameBytesHoweverMany(t *testing.T) {
	// Some frames equal the one before: repeats must not depend on it either.
	paint := func(c canvas, n int) { moving(c, n-n%5/3) }
	sums := map[string][]string{}
	for _, c := range []struct{ workers, encoders int }{{1, 1}, {1, 3}, {2, 1}, {4, 4}} {
		o := options(t, 160, 96, 30, 121)
		o.Quality, o.Parallel = profile.Standard, c.encoders
		res := must(t, o, &source{w: 160, h: 96, workers: c.workers, paint: paint})
		sums[res.SHA256] = append(sums[res.SHA256], fmt.Sprint(c))
	}
	if len(sums) != 1 {
		t.Errorf("%d films: %v", len(sums), sums)
	}
}

// A frame that equals the one before costs nothing and must look the same to
// the last sample; what comes after it must not be disturbed.
func TestRepeatedFrames(t *testing.T) {
	const w, h, frames = 128, 96, 110
	shown := func(n int) int { // still, moving, still over a stretch's end, moving
		switch {
		case n < 20:
			return 0
		case n >= 40 && n < 75:
			return 40
		case n == frames-1:
			return n - 1
		}
		return n
	}
	for _, q := range profile.Qualities() {
		t.Run(string(q), func(t *testing.T) {
			o := options(t, w, h, 30, frames)
			o.Quality = q
			res := must(t, o, &source{w: w, h: h, workers: 2, paint: func(c canvas, n int) { moving(c, shown(n)) }})
			encoded := map[int]bool{}
			for _, s := range Stretches(frames, 30) {
				for n := s.From; n < s.To; n++ {
					if n == s.From || shown(n) != shown(n-1) {
						encoded[n] = true
					}
				}
			}
			if res.Repeats != frames-len(encoded) {
				t.Errorf("%d repeats, want %d", res.Repeats, frames-len(encoded))
			}
			planes := luma(t, o.Out, w, h)
			for n, p := range planes {
				if got := readNumber(p, w); got != shown(n) {
					t.Fatalf("frame %d shows %d, want %d", n, got, shown(n))
				}
				if !encoded[n] && !bytes.Equal(p, planes[n-1]) {
					t.Fatalf("frame %d differs from the one that it repeats", n)
				}
			}
		})
	}
}

// A Source that breaks its promise must not make a wrong film.
func TestSourceThatLies(t *testing.T) {
	cases := []struct {
		name   string
		frames func(s *source, ctx context.Context, from, to int, use func(int, Frame) error) error
		want   string
	}{
		{"a frame left out", func(s *source, ctx context.Context, from, to int, use func(int, Frame) error) error {
			return s.Frames(ctx, 0, from, to, func(n int, f Frame) error {
				if n == 2 {
					return nil
				}
				return use(n, f)
			})
		}, "frame 3 was drawn where frame 2"},
		{"one too few, no error", func(s *source, ctx context.Context, from, to int, use func(int, Frame) error) error {
			return s.Frames(ctx, 0, from, to-1, use)
		}, "4 of 5 frames"},
		{"one too many", func(s *source, ctx context.Context, from, to int, use func(int, Frame) error) error {
			return s.Frames(ctx, 0, from, to+1, use)
		}, "frame 5 was drawn"},
		{"another size", func(s *source, ctx context.Context, from, to int, use func(int, Frame) error) error {
			return (&source{w: 64, h: 64}).Frames(ctx, 0, from, to, use)
		}, "64x64"},
		{"short pixels", func(s *source, ctx context.Context, from, to int, use func(int, Frame) error) error {
			return s.Frames(ctx, 0, from, to, func(n int, f Frame) error {
				f.Pix = f.Pix[:len(f.Pix)/2]
				return use(n, f)
			})
		}, "bytes with stride"},
		{"our error swallowed", func(s *source, ctx context.Context, from, to int, use func(int, Frame) error) error {
			_ = use(from+1, Frame{})
			return nil
		}, "frame 1 was drawn where frame 0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, 128, 96, 30, 5)
			_, err := Film(t.Context(), o, liar{&source{w: 128, h: 96}, c.frames})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if _, err := os.Stat(o.Out); err == nil {
				t.Error("there is a film")
			}
		})
	}
}

type liar struct {
	*source
	frames func(s *source, ctx context.Context, from, to int, use func(int, Frame) error) error
}

func (l liar) Frames(ctx context.Context, _, from, to int, use func(int, Frame) error) error {
	return l.frames(l.source, ctx, from, to, use)
}

// What can't be a film must be refused before anything is drawn, in words.
func TestOptions(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Options)
		code   fault.Code
	}{
		{"odd width", func(o *Options) { o.Width = 127 }, fault.InvalidValue},
		{"no height", func(o *Options) { o.Height = 0 }, fault.InvalidValue},
		{"too wide", func(o *Options) { o.Width = MaxSide + 2 }, fault.InvalidValue},
		{"no rate", func(o *Options) { o.FPS = 0 }, fault.InvalidValue},
		{"too fast", func(o *Options) { o.FPS = MaxFPS + 1 }, fault.InvalidValue},
		{"no frames", func(o *Options) { o.Frames = 0 }, fault.InvalidValue},
		{"CRF", func(o *Options) { o.CRF = 52 }, fault.InvalidValue},
		{"quality", func(o *Options) { o.Quality = "best" }, fault.InvalidValue},
		{"parallel", func(o *Options) { o.Parallel = -1 }, fault.InvalidValue},
		{"no key", func(o *Options) { o.Key = "" }, fault.Internal},
		{"no folder for the film", func(o *Options) { o.Out = filepath.Join(o.Work, "none", "x.mp4") }, fault.OutUnwritable},
		{"a folder in its place", func(o *Options) { o.Out = filepath.Dir(o.Out) }, fault.OutUnwritable},
		{"a pipe in its place", func(o *Options) {
			o.Out = filepath.Join(filepath.Dir(o.Out), "pipe")
			if err := unix.Mkfifo(o.Out, 0o600); err != nil {
				panic(err)
			}
		}, fault.OutUnwritable},
		{"the poster in its place", func(o *Options) { o.Poster = filepath.Dir(o.Out) + "/./" + filepath.Base(o.Out) }, fault.InvalidValue},
		{"no folder for the poster", func(o *Options) { o.Poster = filepath.Join(o.Work, "none", "x.jpg") }, fault.OutUnwritable},
		{"a file in the work folder's place", func(o *Options) { o.Work = o.FFmpeg }, fault.StateUnwritable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, 128, 96, 30, 5)
			c.change(&o)
			src := &source{w: 128, h: 96}
			_, err := Film(t.Context(), o, src)
			if err == nil || fault.As(err).Code != c.code {
				t.Errorf("error %v, want %s", err, c.code)
			}
			if src.drawn.Load() > 0 {
				t.Error("frames were drawn")
			}
		})
	}
}

// The old film must be there until the new one is verified, and then the new.
func TestOutIsReplacedAtTheEnd(t *testing.T) {
	o := options(t, 128, 96, 30, 30)
	o.Poster = filepath.Join(filepath.Dir(o.Out), "poster.jpg")
	if err := os.WriteFile(o.Out, []byte("the old film"), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, o, &source{w: 128, h: 96, before: func(_ context.Context, n int) error {
		if raw, err := os.ReadFile(o.Out); n == 29 && (err != nil || string(raw) != "the old film") {
			t.Errorf("while drawing the film is %q, %v", raw, err)
		}
		return nil
	}})
	wantNumbers(t, o.Out, 128, 96, 30)
	var modes []string
	for _, path := range []string{o.Out, o.Poster} {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		modes = append(modes, st.Mode().String())
	}
	if want := []string{"-rw-r--r--", "-rw-r--r--"}; os.Getuid() == 0 && !slices.Equal(modes, want) {
		t.Errorf("modes %v (umask 022 is expected)", modes)
	}
}

// Every frame is in one stretch, and no rule of the cut is broken.
func TestStretches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames, fps := rapid.IntRange(1, 40000).Draw(t, "frames"), rapid.IntRange(1, MaxFPS).Draw(t, "fps")
		all := Stretches(frames, fps)
		next := 0
		for i, s := range all {
			longest := max(int(maxSeconds*float64(fps)), 1)
			if s.Index != i || s.From != next || s.Len() < 1 || s.Len() > longest {
				t.Fatalf("stretch %d of %d is %+v", i, len(all), s)
			}
			if d := s.Len() - all[0].Len(); d < -1 || d > 1 {
				t.Fatalf("lengths %d and %d", s.Len(), all[0].Len())
			}
			next = s.To
		}
		if next != frames {
			t.Fatalf("the last ends at %d of %d", next, frames)
		}
		if frames >= even*minFrames && len(all)%even != 0 {
			t.Fatalf("%d stretches", len(all))
		}
	})
	var got []string
	for _, frames := range []int{1, 23, 48, 95, 96, 150, 450, 1800} {
		got = append(got, fmt.Sprintf("%d:%d", frames, len(Stretches(frames, 30))))
	}
	want := []string{"1:1", "23:1", "48:2", "95:2", "96:4", "150:4", "450:8", "1800:24"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("where films of 30 frames a second are cut has changed: %s", diff)
	}
}
