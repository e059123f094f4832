package clip_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/edit/clip/cliptest"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

// deps are what clips of a test are made with.
func deps(t testing.TB) clip.Deps {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("ffmpeg is not installed: apt-get install ffmpeg")
	}
	spawn := proc.NewSpawner()
	t.Cleanup(spawn.Close)
	return clip.Deps{FFmpeg: path, Spawn: spawn, Setter: typeset.New()}
}

func build(t testing.TB, d clip.Deps, s cliptest.Spec) *recording.Dir {
	t.Helper()
	dir, err := cliptest.Build(t.Context(), d.FFmpeg, t.TempDir(), s)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// session is a recording of a page: two steps with a pass and a fail, and a
// stillness between them of 12 s.
func session(set *typeset.Setter) cliptest.Spec {
	s := cliptest.Spec{
		Name: "shop", Width: 1280, Height: 720, FPS: 30, Length: 24 * time.Second,
		Changes: []cliptest.Change{cliptest.Paint(set, 1280, 720, "Shop")},
		Events: []recording.Event{
			cliptest.Step(time.Second, 1, "Add a product to the basket"),
			cliptest.Result(4*time.Second, 1, true, "The basket shows one product"),
			cliptest.Step(18*time.Second, 2, "Open the basket"),
			cliptest.Result(21*time.Second, 2, false, "The sum is wrong"),
		},
	}
	for i, ms := range []int{1500, 2000, 2500, 3200, 18500, 19000, 20000} {
		s.Changes = append(s.Changes, cliptest.Box(time.Duration(ms)*time.Millisecond, recording.Rect{X: 100 + 120*i, Y: 500, W: 100, H: 80}, byte(60+20*i)))
	}
	return s
}

// The answer, for a person, a thread and a model: what was made, how long, how
// much was cut, and a map that leads from the clip to the world and back.
func TestAnswer(t *testing.T) {
	d := deps(t)
	dir := build(t, d, session(d.Setter))
	before := state(t, dir)
	out := t.TempDir()
	res, err := clip.Make(t.Context(), clip.Options{Dir: dir, Out: out, Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	if res.Seconds != 11.666667 || res.Recorded != 24 || res.Cut != 16 || res.Bytes > 100_000 || res.Width != 1280 || res.Height != 720 {
		t.Errorf("%.3f s of %.3f s, %.3f s cut, %d bytes, %dx%d", res.Seconds, res.Recorded, res.Cut, res.Bytes, res.Width, res.Height)
	}
	if s := res.Steps[1]; s.Text != "Open the basket" || s.Result != "fail" || s.Comment != "The sum is wrong" || s.ResultSecond == nil || !s.At.Equal(res.StartedAt.Add(18*time.Second)) {
		t.Errorf("%+v", s)
	}
	at := 0.0
	for _, m := range res.Map {
		if m.Clip[0] != at || m.Clip[1] < m.Clip[0] || m.Hold != (m.Recording[0] == m.Recording[1]) {
			t.Errorf("map: %+v after %.3f s", m, at)
		}
		at = m.Clip[1]
	}
	if at != res.Seconds {
		t.Errorf("the map ends at %.3f s", at)
	}
	var doc struct {
		Transcript struct {
			Steps []struct{ Changes []struct{ X, Width int } }
		}
		Cuts []struct{ Recording [2]float64 }
		Map  []clip.Stretch
	}
	raw, err := os.ReadFile(res.Transcript)
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil || len(doc.Map) != len(res.Map) || len(doc.Cuts) != 2 || doc.Cuts[0].Recording != [2]float64{4.5, 18} {
		t.Errorf("%v: %s", err, raw)
	}
	if c := doc.Transcript.Steps[1].Changes; len(c) != 3 || c[0].X != 580 || c[0].Width != 100 {
		t.Errorf("what changed in step 2: %+v", c)
	}
	if after := state(t, dir); len(after) != len(before) {
		t.Error("the recording was changed")
	}
	left, err := os.ReadDir(out)
	if err != nil || len(left) != 6 {
		t.Errorf("files: %v %v", left, err)
	}
}
