package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// scene draws a frame that moves all over, with gradients and text.
const scene = `<!doctype html><style>body{margin:0}</style><canvas id=c width=1280 height=720></canvas><script>
const x = document.getElementById('c').getContext('2d');
function draw(n) {
  const g = x.createLinearGradient(0, 0, 1280, 720);
  g.addColorStop(0, 'hsl(' + n * 5 + ' 70% 40%)'); g.addColorStop(1, 'hsl(' + (n * 5 + 120) + ' 70% 20%)');
  x.fillStyle = g; x.fillRect(0, 0, 1280, 720);
  for (let i = 0; i < 200; i++) {
    x.fillStyle = 'hsla(' + (i * 9 + n) + ' 80% 60% / .5)';
    x.beginPath(); x.arc(640 + 500 * Math.sin(i + n / 20), 360 + 300 * Math.cos(i * 1.7 + n / 15), 20 + i % 30, 0, 7); x.fill();
  }
  x.fillStyle = '#fff'; x.font = 'bold 96px sans-serif'; x.fillText('frame ' + n, 80, 380);
}
</script>`

// drawFrames is the measured process: it starts a browser, draws frames,
// takes each as PNG, and prints its Rate.
func drawFrames(ctx context.Context, count int) error {
	began := time.Now()
	program, err := chromium.Find(nil)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "frames")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	spawn := proc.NewSpawner()
	defer spawn.Close()
	const origin = "https://scene.invalid"
	b, err := chromium.Launch(ctx, chromium.Options{
		Program: program, Spawn: spawn, Dir: dir, Origin: origin,
		Serve: func(string) (chromium.Response, bool) {
			return chromium.Response{Header: map[string]string{"Content-Type": "text/html"}, Body: []byte(scene)}, true
		},
	})
	if err != nil {
		return err
	}
	rate, err := shoot(ctx, b, origin+"/", count, began)
	if err := errors.Join(err, b.Close()); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(rate)
}

func shoot(ctx context.Context, b *chromium.Browser, url string, count int, began time.Time) (Rate, error) {
	page, err := b.NewPage(ctx)
	if err != nil {
		return Rate{}, err
	}
	size := map[string]any{"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false}
	if err := page.Call(ctx, "Emulation.setDeviceMetricsOverride", size, nil); err != nil {
		return Rate{}, err
	}
	if err := page.Navigate(ctx, url); err != nil {
		return Rate{}, err
	}
	var rate Rate
	var since time.Time
	for n := range count + 1 {
		if err := page.Evaluate(ctx, fmt.Sprintf("draw(%d)", n), nil); err != nil {
			return rate, err
		}
		var shot struct{ Data string }
		if err := page.Call(ctx, "Page.captureScreenshot", map[string]any{"format": "png", "optimizeForSpeed": true}, &shot); err != nil {
			return rate, err
		}
		if n == 0 { // the first has the browser's own start in it
			rate.First = float64(time.Since(began).Milliseconds())
			since = time.Now()
		}
	}
	rate.PerSecond = float64(count) / time.Since(since).Seconds()
	return rate, nil
}

// frames measures outside and in each box, twice in turns; the better counts.
func frames(ctx context.Context, o options, boxes []executor.Executor) ([]Rate, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	argument := fmt.Sprintf("-inner=%d", o.frames)
	ways := []struct {
		name string
		run  func() ([]byte, error)
	}{{"no box", func() ([]byte, error) { return exec.CommandContext(ctx, self, argument).Output() }}}
	for _, b := range boxes {
		ways = append(ways, struct {
			name string
			run  func() ([]byte, error)
		}{"our box: " + b.Name(), func() ([]byte, error) { return framesInside(ctx, b, self, argument) }})
	}
	out := make([]Rate, len(ways))
	for range 2 {
		for i, w := range ways {
			raw, err := w.run()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			r := Rate{}
			if err := json.Unmarshal(raw, &r); err != nil {
				return nil, fmt.Errorf("%s says %q: %w", w.name, raw, err)
			}
			if r.Way = w.name; r.PerSecond > out[i].PerSecond {
				out[i] = r
			}
		}
	}
	return out, nil
}

func framesInside(ctx context.Context, e executor.Executor, self, argument string) ([]byte, error) {
	const inside = "/opt/bench/box"
	var out bytes.Buffer
	box, err := e.Start(ctx, sandbox.Spec{
		JobID: "bench", Argv: []string{inside, argument}, Env: []string{"PATH=" + sandbox.Path, "HOME=" + sandbox.Home},
		Inputs: []sandbox.Mount{{Source: self, Target: inside}}, Stdout: &out,
	})
	if err != nil {
		return nil, err
	}
	exit, err := box.Wait(ctx)
	if err := errors.Join(err, box.Close()); err != nil {
		return nil, err
	}
	if exit.Reason != executor.Exited || exit.Code != 0 {
		return nil, fmt.Errorf("it ended with %+v: %s", exit, out.String())
	}
	return out.Bytes(), nil
}
