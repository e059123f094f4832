package clip_test

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/edit/clip/cliptest"
	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/recording"
)

func noise(w, h int, length time.Duration) cliptest.Spec {
	return cliptest.Spec{Name: "noise", Width: w, Height: h, FPS: 10, Length: length, Changes: cliptest.Noise(w, h, 0, length, 5)}
}

// The size is met for real, with what was given up for it told; what can't be
// met is said. Noise is the worst that a film can hold: the minute of it has 90
// MB in its master.
func TestMaxSize(t *testing.T) {
	d := deps(t)
	minute, short := build(t, d, noise(640, 360, time.Minute)), build(t, d, noise(320, 180, 8*time.Second))
	for _, c := range []struct {
		dir    *recording.Dir
		length float64
		limit  int64
		format clip.Format
		notes  int
	}{
		{minute, 60, 10e6, clip.MP4, 1},
		{short, 8, 60e3, clip.MP4, 1},
		{short, 8, 400e3, clip.WebM, 1},
		{short, 8, 700e3, clip.GIF, 1},
	} {
		res, err := clip.Make(t.Context(), clip.Options{Dir: c.dir, Out: t.TempDir(), MaxSize: c.limit, Format: c.format, Deps: d})
		if err != nil {
			t.Fatalf("%d bytes of %s: %v", c.limit, c.format, err)
		}
		st, err := os.Stat(res.Path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes of %d: %s", c.format, st.Size(), c.limit, res.Notes)
		if st.Size() > c.limit || st.Size() != res.Bytes {
			t.Errorf("the file has %d bytes, at most %d were allowed, the answer says %d", st.Size(), c.limit, res.Bytes)
		}
		if math.Abs(res.Seconds-c.length) > 0.1 || len(res.Notes) != c.notes || !strings.Contains(res.Notes[0], "To stay within") {
			t.Errorf("%.2f s, notes %q", res.Seconds, res.Notes)
		}
	}
	refuse(t, clip.Options{Dir: short, Out: t.TempDir(), MaxSize: 5e3, Deps: d}, fault.SizeUnreachable)
	refuse(t, clip.Options{Dir: short, Out: t.TempDir(), MaxSize: 20e3, Format: clip.GIF, Deps: d}, fault.SizeUnreachable)
}

// A clip that is small enough gives nothing up.
func TestMaxSizeThatIsNoLimit(t *testing.T) {
	d := deps(t)
	dir := build(t, d, plain())
	free, err := clip.Make(t.Context(), clip.Options{Dir: dir, Out: t.TempDir(), Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	held, err := clip.Make(t.Context(), clip.Options{Dir: dir, Out: t.TempDir(), MaxSize: 10e6, Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	if held.SHA256 != free.SHA256 || len(held.Notes) > 0 {
		t.Errorf("another clip: %d bytes in place of %d, %v", held.Bytes, free.Bytes, held.Notes)
	}
}

// Each format is decodable, as long as planned, and has its pictures; and the
// page comes where it can show the video.
func TestFormats(t *testing.T) {
	d := deps(t)
	dir := build(t, d, plain())
	for _, f := range []clip.Format{clip.MP4, clip.WebM, clip.GIF, clip.WebP} {
		t.Run(string(f), func(t *testing.T) {
			res, err := clip.Make(t.Context(), clip.Options{Dir: dir, Out: t.TempDir(), Format: f, Width: 320, Deps: d})
			if err != nil {
				t.Fatal(err)
			}
			if page := f == clip.MP4 || f == clip.WebM; page != (res.Page != "") {
				t.Errorf("page %q", res.Page)
			}
			checkPictures(t, res)
			if f == clip.WebP { // ffprobe can't read it; Make has walked it
				if raw, err := os.ReadFile(res.Path); err != nil || bytes.Count(raw, []byte("ANMF")) < 3 {
					t.Errorf("no moving WebP: %v", err)
				}
				return
			}
			out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "default=nw=1:nk=1", res.Path).Output()
			got, perr := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
			if err != nil || perr != nil || math.Abs(got-res.Seconds) > 0.1 {
				t.Errorf("lasts %q, planned %.3f s: %v", out, res.Seconds, err)
			}
		})
	}
}

func checkPictures(t *testing.T, res clip.Result) {
	t.Helper()
	poster, err := os.Open(res.Poster)
	if err != nil {
		t.Fatal(err)
	}
	defer poster.Close()
	if img, err := jpeg.Decode(poster); err != nil || img.Bounds().Dx() != res.Width || img.Bounds().Dy() != res.Height {
		t.Errorf("poster: %v", err)
	}
	sheet, err := os.Open(res.Sheet)
	if err != nil {
		t.Fatal(err)
	}
	defer sheet.Close()
	if _, err := png.Decode(sheet); err != nil {
		t.Errorf("sheet: %v", err)
	}
}

// Chapters begin where their steps do, and the file is what players want: its
// index first, High profile, tagged colours.
func TestFinishedFile(t *testing.T) {
	d := deps(t)
	res, err := clip.Make(t.Context(), clip.Options{Dir: build(t, d, plain()), Out: t.TempDir(), Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-select_streams", "v",
		"-show_entries", "stream=profile,pix_fmt,color_space,color_range:chapter=start_time:chapter_tags=title", "-of", "compact=nk=1", res.Path).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("stream|High|yuv420p|tv|bt709\nchapter|0.000000|Start\nchapter|%.6f|1. Add a product to the basket\nchapter|%.6f|2. Open the basket\n",
		math.Round(res.Steps[0].Second*1000)/1000, math.Round(res.Steps[1].Second*1000)/1000)
	if got := strings.ReplaceAll(string(out), "\n\n", "\n"); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if want := "[![shop](shop-"; !strings.HasPrefix(res.Markdown, want) {
		t.Errorf("markdown: %s", res.Markdown)
	}
}

// The options of start are the defaults; those of the clip come first.
func TestDefaultsOfTheRecording(t *testing.T) {
	d := deps(t)
	s := plain()
	s.Options = recording.Options{Stills: "keep", Speed: 4, Position: "bottom"}
	dir := build(t, d, s)
	own, err := clip.Make(t.Context(), clip.Options{Dir: dir, Out: t.TempDir(), Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	if own.Stills != timeline.StillsKeep || own.Speed != 4 || own.Position != timeline.Bottom {
		t.Errorf("%s %d %s", own.Stills, own.Speed, own.Position)
	}
	other, err := clip.Make(t.Context(), clip.Options{Dir: dir, Out: t.TempDir(), Stills: timeline.StillsCut, Speed: 2, Position: timeline.Top, Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	if other.Stills != timeline.StillsCut || other.Speed != 2 || other.Position != timeline.Top {
		t.Errorf("%s %d %s", other.Stills, other.Speed, other.Position)
	}
	if film, err := clip.Make(t.Context(), clip.Options{Film: dir.FilmPath(), Out: t.TempDir(), Deps: d}); err != nil || len(film.Steps) != 0 || film.Cut == 0 {
		t.Errorf("of the film alone: %+v %v", film, err)
	}
}
