package renderer

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A scene that takes its time where nobody sees it, after draw, makes a slow
// film: that must be said, by render and by check.
func TestSlowSceneIsTold(t *testing.T) {
	const code = `export function draw(ctx, t, frame) {
  ctx.fillStyle = "#fff";
  ctx.fillRect(9 * frame, 0, 20, 20);
  let n = 0;
  const go = () => { if (n++ < LOOPS) Promise.resolve().then(go); };
  go();
}`
	looping := func(loops string) Source {
		path := writeScene(t, small("duration: 0.1")+strings.Replace(code, "LOOPS", loops, 1))
		return Source{Scene: path, Workers: 1, FrameTimeout: time.Minute}
	}
	s := newStudio(t)
	res, err := s.Render(t.Context(), RenderOptions{Source: looping("15e6"), Out: filepath.Join(t.TempDir(), "x.mp4")})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Notes) != 1 || res.Notes[0].Code != "slow_frames" {
		t.Errorf("render says %v", res.Notes)
	}
	checked, err := s.Check(t.Context(), CheckOptions{Source: looping("6e6"), Frames: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(checked.Warnings) == 0 || checked.Warnings[0].Code != "slow_frames" || !checked.OK {
		t.Errorf("check says %+v", checked)
	}
}

func TestSlow(t *testing.T) {
	f := &frames{}
	if _, ok := f.slow(); ok {
		t.Error("a film of no frame is slow")
	}
	f.count(0, 10*time.Millisecond)
	f.count(1, 480*time.Millisecond)
	if n, ok := f.slow(); ok {
		t.Errorf("245 ms in the mean: %v", n)
	}
	f.count(2, 500*time.Millisecond)
	n, ok := f.slow()
	if want := "a frame took 330 ms in the mean, frame 2 500 ms"; !ok || n.Frame != 2 || !strings.HasPrefix(n.Text, want) {
		t.Errorf("%v, want %s", n, want)
	}
}
