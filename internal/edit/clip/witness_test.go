package clip_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/edit/clip/cliptest"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// edit changes a file of a recording line by line.
func edit(t *testing.T, path string, change func(lines [][]byte) [][]byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		lines := change(bytes.SplitAfter(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")))
		err = os.WriteFile(path, bytes.Join(lines, nil), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A damage log that lost entries must not have the clip cut what happened: the
// clip is that of the whole log, and it says what it was made of.
func TestDamageLogThatLostEntries(t *testing.T) {
	d := deps(t)
	with, err := clip.Make(t.Context(), clip.Options{Dir: build(t, d, plain()), Out: t.TempDir(), Deps: d})
	if err != nil || len(with.Notes) > 0 {
		t.Fatalf("%v, notes with a whole log: %q", err, with.Notes)
	}
	for name, c := range map[string]struct {
		change func([][]byte) [][]byte
		note   string
	}{
		"only the first":     {func(l [][]byte) [][]byte { return l[:1] }, "lacks what the film shows at"},
		"the last is gone":   {func(l [][]byte) [][]byte { return l[:len(l)-1] }, "lacks what the film shows at 20.0 s"},
		"some in the middle": {func(l [][]byte) [][]byte { return append(l[:4:4], l[6:]...) }, "lacks what the film shows at"},
		"a rotten line":      {func(l [][]byte) [][]byte { l[3] = []byte("\x00\x00\n"); return l }, "1 line of the log"},
		"torn":               {func(l [][]byte) [][]byte { l[len(l)-1] = l[len(l)-1][:5]; return l }, "1 line of the log"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := build(t, d, plain())
			edit(t, dir.DamagePath(), c.change)
			res, err := clip.Make(t.Context(), clip.Options{Dir: dir, Out: t.TempDir(), Deps: d})
			if err != nil {
				t.Fatal(err)
			}
			if res.Seconds != with.Seconds || res.Cut != with.Cut {
				t.Errorf("%.3f s with %.3f s cut, with a whole log %.3f s and %.3f s", res.Seconds, res.Cut, with.Seconds, with.Cut)
			}
			if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, c.note) {
				t.Errorf("notes: %q, want one with %q", notes, c.note)
			}
		})
	}
}

// Steps that are lost are told: a clip without them looks as if nothing had
// been said.
func TestLostEvents(t *testing.T) {
	d := deps(t)
	dir := build(t, d, cliptest.Spec{
		Width: 320, Height: 180, FPS: 10, Length: 2 * time.Second, Changes: []cliptest.Change{{Box: recording.Rect{W: 320, H: 180}, Draw: blank().Draw}},
		Events: []recording.Event{cliptest.Step(0, 1, "One"), cliptest.Step(time.Second, 2, "Two")},
	})
	man, err := dir.Load()
	if err != nil {
		t.Fatal(err)
	}
	man.Result = json.RawMessage(`{"steps":[{"step":1},{"step":2}]}`)
	if err := dir.Save(man); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(dir.Path(), "events.jsonl"), func(l [][]byte) [][]byte { return [][]byte{l[0], l[1][:9]} })
	res, err := clip.Make(t.Context(), clip.Options{Dir: dir, Out: t.TempDir(), Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(res.Notes, "\n")
	for _, want := range []string{"1 line of the events could not be read", "had 2 steps when it was stopped; 1 of them can be read"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes: %q, want %q", notes, want)
		}
	}
}
