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
	for i, at := range []time.Duration{1500, 2000, 2500, 3200, 18500, 19000, 20000} {
		s.Changes = append(s.Changes, cliptest.Box(at*time.Millisecond, recording.Rect{X: 100 + 120*i, Y: 500, W: 100, H: 80}, byte(60+20*i)))
	}
	return s
}

func TestSession(t *testing.T) {
	d := deps(t)
	dir := build(t, d, session(d.Setter))
	out := os.Getenv("CLIP_OUT")
	if out == "" {
		out = t.TempDir()
	}
	res, err := clip.Make(t.Context(), clip.Options{Dir: dir, Out: out, Deps: d})
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.MarshalIndent(res, "", " ")
	t.Logf("%s", raw)
}
