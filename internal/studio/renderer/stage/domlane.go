package stage

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"time"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

// A lane of kind dom is a worker whose realm is a page: the harness in it
// (dom.js) answers the same calls, and a worker of the page's fills the ring.

// spawnPage opens the page, or opens it anew.
func (w *worker) spawnPage(ctx context.Context) error {
	fresh := w.realm == nil
	switch {
	case fresh && w.number == 0:
		w.realm = w.s.page
	case fresh:
		page, err := w.s.browser.NewPage(ctx)
		if err != nil {
			return fmt.Errorf("open a page for the scene: %w", err)
		}
		w.realm = page
	}
	if fresh {
		var err error
		if w.scripts, err = follow(ctx, w.realm); err != nil {
			return err
		}
	}
	if err := w.realm.Navigate(ctx, origin+domPage); err != nil {
		return fmt.Errorf("open the scene's page: %w", err)
	}
	w.runs, w.used, w.next, w.shots = 0, 0, 0, false
	return nil
}

// setViewport gives the page the size of the frame.
func (w *worker) setViewport(ctx context.Context) error {
	m := w.s.meta
	size := map[string]any{"width": m.Width, "height": m.Height, "deviceScaleFactor": 1, "mobile": false}
	if err := w.realm.Call(ctx, "Emulation.setDeviceMetricsOverride", size, nil); err != nil {
		return fmt.Errorf("size the page: %w", err)
	}
	return nil
}

// useShots has frames taken by screenshot. It is known when the scene is set
// up, from the scene alone, so all frames of a film come the same way.
func (w *worker) useShots(why string) {
	w.shots = true
	w.buf = make([]byte, w.s.meta.Width*w.s.meta.Height*4)
	w.s.note(scene.Note{
		Code: "slow_pixels", Frame: scene.NoFrame,
		Text: "Frames are taken by screenshot, which is several times slower: " + why + ".",
	})
}

// shotFrames has the page show each frame and takes a screenshot without loss.
func (w *worker) shotFrames(ctx context.Context, from, to int, use func(int, Frame) error) error {
	for frame := from; frame < to; frame++ {
		cost, err := w.show(ctx, frame)
		if err != nil {
			return err
		}
		begun := time.Now()
		if err := w.shoot(ctx); err != nil {
			return w.explain(ctx, err, frame)
		}
		f := layoutBGR.frame(nil, w.buf, w.s.meta.Width, w.s.meta.Height)
		f.Cost = cost + time.Since(begun)
		if err := use(frame, f); err != nil {
			return err
		}
	}
	return nil
}

// show brings the page to a frame.
func (w *worker) show(ctx context.Context, frame int) (cost time.Duration, err error) {
	first := w.first(frame)
	got, err := w.ask(ctx, "still", frame, 1+frame-first, map[string]any{"first": first, "frame": frame, "sequential": w.sequential})
	if err != nil {
		return 0, err
	}
	w.next = got.Next
	return time.Duration(got.Cost) * time.Microsecond, nil
}

// shoot takes a screenshot into buf.
func (w *worker) shoot(ctx context.Context) error {
	timed, cancel := context.WithTimeoutCause(ctx, w.s.cfg.FrameTimeout, errTimeout)
	defer cancel()
	var shot struct {
		Data string `json:"data"`
	}
	params := map[string]any{"format": "png", "optimizeForSpeed": true, "captureBeyondViewport": false}
	if err := w.realm.Call(timed, "Page.captureScreenshot", params, &shot); err != nil {
		return fmt.Errorf("take a screenshot: %w", err)
	}
	raw, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		return fmt.Errorf("read a screenshot: %w", err)
	}
	return decodeShot(raw, w.buf, w.s.meta.Width, w.s.meta.Height)
}

// decodeShot decodes a PNG of that size into BGRX.
func decodeShot(raw, dst []byte, width, height int) error {
	cfg, err := png.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("read a screenshot: %w", err)
	}
	if cfg.Width != width || cfg.Height != height {
		return fmt.Errorf("a screenshot is of %d x %d pixels, not %d x %d", cfg.Width, cfg.Height, width, height)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("read a screenshot: %w", err)
	}
	var pix []byte
	var stride int
	switch p := img.(type) { // opaque in both, so premultiplied or not is the same
	case *image.RGBA:
		pix, stride = p.Pix, p.Stride
	case *image.NRGBA:
		pix, stride = p.Pix, p.Stride
	default:
		return fmt.Errorf("a screenshot has pixels of type %T", img)
	}
	for y := range height {
		swapRow(dst[y*width*4:(y+1)*width*4], pix[y*stride:y*stride+width*4])
	}
	return nil
}
