package clip_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/edit/clip/cliptest"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// state is a hash of every file of a recording: a clip must not change one.
func state(t *testing.T, dir *recording.Dir) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir.Path(), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// refuse makes a clip that can't be made: with the code wanted, the recording
// as it was, and nothing in the folder.
func refuse(t *testing.T, o clip.Options, want fault.Code) *fault.Error {
	t.Helper()
	before := state(t, o.Dir)
	_, err := clip.Make(t.Context(), o)
	var e *fault.Error
	if !errors.As(err, &e) || e.Code != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	if e.Hint == "" {
		t.Errorf("no hint with: %v", e)
	}
	if after := state(t, o.Dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the recording was changed")
	}
	if left, _ := os.ReadDir(o.Out); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return e
}

func TestEventsOutOfOrder(t *testing.T) {
	d := deps(t)
	s := plain()
	for i, j := 0, len(s.Events)-1; i < j; i, j = i+1, j-1 {
		s.Events[i], s.Events[j] = s.Events[j], s.Events[i]
	}
	s.Events = append(s.Events, s.Events[0], cliptest.Step(-5*time.Second, 7, "before"), cliptest.Step(time.Hour, 8, "after"))
	res, err := clip.Make(t.Context(), clip.Options{Dir: build(t, d, s), Out: t.TempDir(), Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	last := -1.0
	for _, step := range res.Steps {
		if step.Second < last {
			t.Errorf("step %d at %.2f s, after one at %.2f s", step.Step, step.Second, last)
		}
		last = step.Second
	}
	if len(res.Steps) != 4 || res.Steps[1].Result != "pass" || res.Steps[2].Result != "fail" {
		t.Errorf("steps: %+v", res.Steps)
	}
}

// A thousand steps of 2,000 characters, some of them hostile: the clip, its
// chapters and its page are there, and memory and time stay in bounds.
func TestThousandSteps(t *testing.T) {
	d := deps(t)
	s := cliptest.Spec{Width: 320, Height: 180, FPS: 10, Length: 100 * time.Second, Changes: []cliptest.Change{{
		Box: recording.Rect{W: 320, H: 180}, Draw: blank().Draw,
	}}}
	for i := range 1000 {
		text := fmt.Sprintf("Step %d </script><b>;=#\\\n[CHAPTER]\u202e %s", i+1, strings.Repeat("x", 1950))
		s.Events = append(s.Events, cliptest.Step(time.Duration(i)*100*time.Millisecond, i+1, text))
	}
	res, err := clip.Make(t.Context(), clip.Options{Dir: build(t, d, s), Out: t.TempDir(), Deps: d, FPS: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Steps) != 1000 {
		t.Errorf("%d steps", len(res.Steps))
	}
	chapters := chaptersOf(t, res.Path)
	if len(chapters) != 1000 || !strings.HasPrefix(chapters[999], "1000. Step 1000 </script>") {
		t.Errorf("%d chapters, the last %.60q", len(chapters), chapters[len(chapters)-1])
	}
	if st, err := os.Stat(res.Page); err != nil || st.Size() > 64<<10 {
		t.Errorf("page: %v %v", st, err)
	}
}

// chaptersOf are the chapters' titles as ffprobe reads them.
func chaptersOf(t *testing.T, path string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-show_entries", "chapter_tags=title", "-of", "default=nw=1:nk=1", path).Output()
	if err != nil {
		t.Fatalf("ffprobe: %v", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// Recordings that hold next to nothing still give a clip.
func TestSmallRecordings(t *testing.T) {
	d := deps(t)
	small := func(w, h int, length time.Duration) cliptest.Spec {
		return cliptest.Spec{
			Width: w, Height: h, FPS: 30, Length: length,
			Changes: []cliptest.Change{{Box: recording.Rect{W: w, H: h}, Draw: blank().Draw}},
			Events:  []recording.Event{cliptest.Step(0, 1, "Look")},
		}
	}
	for name, c := range map[string]struct {
		spec cliptest.Spec
		note string
	}{
		"one frame":              {spec: small(320, 180, time.Second/30)},
		"no room for a caption":  {small(48, 48, time.Second), "The clip is too small for captions, so it has none."},
		"one pixel wider":        {spec: small(642, 362, time.Second)},
		"no steps":               {spec: func() cliptest.Spec { s := small(320, 180, 3*time.Second); s.Events = nil; return s }()},
		"no damage log, no step": {spec: func() cliptest.Spec { s := small(320, 180, time.Second); s.Events, s.NoDamage = nil, true; return s }()},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := clip.Make(t.Context(), clip.Options{Dir: build(t, d, c.spec), Out: t.TempDir(), Deps: d})
			if err != nil {
				t.Fatal(err)
			}
			if notes := strings.Join(res.Notes, "\n"); c.note == "" && notes != "" || !strings.Contains(notes, c.note) {
				t.Errorf("notes: %q, want one with %q", notes, c.note)
			}
			if info, err := mp4.Inspect(res.Path); err != nil || info.Width > c.spec.Width || (res.Sheet == "") != (len(c.spec.Events) == 0) {
				t.Errorf("%+v %v, sheet %q", info, err, res.Sheet)
			}
		})
	}
}

// What the capture did not see is marked as that, and not as stillness.
func TestGap(t *testing.T) {
	d := deps(t)
	s := plain()
	s.Verdict = recording.VerdictDegraded
	s.Incidents = []recording.Incident{{At: 5 * time.Second, Kind: recording.IncidentGap, Detail: "no picture of the screen for 14.5 s"}}
	res, err := clip.Make(t.Context(), clip.Options{Dir: build(t, d, s), Out: t.TempDir(), Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(res.Transcript)
	if err != nil || !strings.Contains(string(raw), `"notRecorded": true`) || res.Verdict != recording.VerdictDegraded {
		t.Errorf("verdict %s, %v, %s", res.Verdict, err, raw)
	}
}

// Without a damage log that can be trusted the film itself says what is still,
// and the clip is the same.
func TestStillnessFromTheFilm(t *testing.T) {
	d := deps(t)
	with, err := clip.Make(t.Context(), clip.Options{Dir: build(t, d, plain()), Out: t.TempDir(), Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	none, salvaged := plain(), plain()
	none.NoDamage = true
	salvaged.Verdict = recording.VerdictSalvaged
	salvaged.Changes[len(salvaged.Changes)-1].Box = recording.Rect{} // its log misses the last change
	for name, s := range map[string]cliptest.Spec{"no log": none, "salvaged": salvaged} {
		res, err := clip.Make(t.Context(), clip.Options{Dir: build(t, d, s), Out: t.TempDir(), Deps: d})
		if err != nil {
			t.Fatal(err)
		}
		if res.Seconds != with.Seconds || res.Cut != with.Cut {
			t.Errorf("%s: %.3f s with %.3f s cut, with a log %.3f s and %.3f s\n%v\n%v", name, res.Seconds, res.Cut, with.Seconds, with.Cut, res.Map, with.Map)
		}
	}
}

// A film with a rotten byte is told, not shown.
func TestCorruptMaster(t *testing.T) {
	d := deps(t)
	for name, rot := range map[string]func([]byte) []byte{
		"a picture":  func(b []byte) []byte { copy(b[len(b)*3/4:], strings.Repeat("\xff\x00\x55", 300)); return b },
		"cut short":  func(b []byte) []byte { return b[:len(b)/2] },
		"empty":      func([]byte) []byte { return nil },
		"no film":    func([]byte) []byte { return []byte("<html>") },
		"index only": func(b []byte) []byte { return b[:4000] },
	} {
		t.Run(name, func(t *testing.T) {
			s := cliptest.Spec{Width: 320, Height: 180, FPS: 10, Length: 4 * time.Second, Changes: cliptest.Noise(320, 180, 0, 4*time.Second, 10)}
			dir := build(t, d, s)
			raw, err := os.ReadFile(dir.FilmPath())
			if err == nil {
				err = os.WriteFile(dir.FilmPath(), rot(raw), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			refuse(t, clip.Options{Dir: dir, Out: t.TempDir(), Deps: d}, fault.ClipFailed)
		})
	}
	dir := build(t, d, plain())
	if err := os.Remove(dir.FilmPath()); err != nil {
		t.Fatal(err)
	}
	refuse(t, clip.Options{Dir: dir, Out: t.TempDir(), Deps: d}, fault.ClipFailed)
}

func TestFolderThatCanNotBeWritten(t *testing.T) {
	d := deps(t)
	dir := build(t, d, plain())
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{file, filepath.Join(file, "below"), "/proc/self/clips"} {
		refuse(t, clip.Options{Dir: dir, Out: out, Deps: d}, fault.OutUnwritable)
	}
}

// A caller that gives up leaves nothing behind: no file, no process.
func TestInterrupted(t *testing.T) {
	d := deps(t)
	dir := build(t, d, plain())
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 150 * time.Millisecond, 300 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		out := t.TempDir()
		_, err := clip.Make(ctx, clip.Options{Dir: dir, Out: out, Deps: d})
		cancel()
		if err == nil {
			continue // it was faster
		}
		if fault.As(err).Code != fault.Interrupted {
			t.Errorf("after %v: %v", after, err)
		}
		if left, _ := os.ReadDir(out); len(left) > 0 {
			t.Errorf("after %v: left behind %v", after, left)
		}
		if live := d.Spawn.Live(); len(live) > 0 {
			t.Errorf("after %v: %d processes are left", after, len(live))
		}
	}
}
