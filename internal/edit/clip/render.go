package clip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"slices"

	"github.com/proofreel/proofreel/internal/edit/overlay"
	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/media/pixel"
)

// setting is what a search for a size may change.
type setting struct{ width, fps, crf int }

// rendered is a video that was made, not yet checked.
type rendered struct {
	setting
	path   string
	bytes  int64
	size   image.Point
	plan   *timeline.Plan
	sent   int64 // frames that the encoder got
	stills *stills
	// captionless says why the captions were left out; nil: they are there.
	captionless error
	// bare says why nothing else is drawn, capless why no keys are; nil: they are.
	bare, capless error
}

// errDrawing says that a caption could not be drawn.
var errDrawing = errors.New("the captions could not be drawn")

// standing is the number of seconds after which a frame that stands is sent
// again: players seek to frames, and some show nothing until the next.
const standing = 2

// frames gives the clip's frames, as far as they differ from the one before.
type frames struct {
	maker  *maker
	plan   *timeline.Plan
	track  *overlay.Track // nil: no captions
	stage  *overlay.Stage // nil: nothing but captions is drawn
	stills *stills
	send   func(frame int64, f *pixel.Frame) error

	clean, out *pixel.Frame // the picture, and all that is drawn
	look       overlay.Look
	capless    error // why a key could not be drawn
	begun      bool
	last       int64 // the frame that was sent last
	up         []overlay.Shown
}

// walk decodes the film and sends the clip's frames.
func (fr *frames) walk(ctx context.Context, size image.Point) (err error) {
	picture := size
	if fr.stage != nil {
		picture = fr.maker.pictureSize(fr.stage)
	}
	if fr.clean, err = pixel.NewFrame(picture.X, picture.Y); err != nil {
		return fmt.Errorf("make room for a frame: %w", err)
	}
	if fr.out, err = pixel.NewFrame(size.X, size.Y); err != nil {
		return fmt.Errorf("make room for a frame: %w", err)
	}
	src := fr.maker.src
	list := src.scenes(fr.plan)
	n := 0
	return fr.maker.decode(ctx, src.needed(list), picture, func(f *pixel.Frame) error {
		sc := list[n]
		n++
		return fr.scene(sc, f)
	})
}

// scene sends the frames that show one picture.
func (fr *frames) scene(sc scene, picture *pixel.Frame) error {
	changed := !fr.begun || !bytes.Equal(fr.clean.Data, picture.Data)
	if changed {
		copy(fr.clean.Data, picture.Data)
		fr.stills.picture(sc.from, fr.clean)
	}
	for f := sc.from; f < sc.to; f++ {
		drawn, err := fr.draw(f, changed)
		if err != nil {
			return err
		}
		changed = false
		fr.stills.frame(f, fr.clean, fr.out)
		stands := f-fr.last >= int64(standing*fr.plan.Options.FPS) || f == fr.plan.Frames-1
		if !drawn && fr.begun && !stands {
			continue
		}
		if err := fr.send(f, fr.out); err != nil {
			return err
		}
		fr.begun, fr.last = true, f
	}
	return nil
}

// draw makes the frame's pixels. It says whether they may differ from the one
// before.
func (fr *frames) draw(f int64, changed bool) (bool, error) {
	var up []overlay.Shown
	if fr.track != nil {
		var err error
		if up, err = fr.track.At(fr.plan.Time(f)); err != nil {
			return false, fmt.Errorf("%w: %w", errDrawing, err)
		}
	}
	var look overlay.Look
	if fr.stage != nil {
		look = fr.stage.Look(fr.plan.Time(f))
	}
	if !changed && look == fr.look && slices.Equal(up, fr.up) {
		return false, nil
	}
	fr.up, fr.look = up, look
	if fr.stage == nil {
		copy(fr.out.Data, fr.clean.Data)
	} else if err := fr.stage.Draw(fr.out, fr.clean, look, fr.plan.Time(f)); err != nil {
		fr.capless = err
	}
	for _, s := range up {
		s.Sprite.BlendI420(fr.out, s.Opacity)
	}
	return true, nil
}

// render makes the video once. Where captions can't be drawn it is made
// without them. A limit over 0 ends it with *overError as soon as it is
// exceeded.
func (m *maker) render(ctx context.Context, s setting, name string, limit int64) (*rendered, error) {
	plan, err := timeline.Build(m.input, m.planned(s.fps))
	if err != nil {
		return nil, fmt.Errorf("plan the clip: %w", err)
	}
	r := &rendered{setting: s, path: m.work.path(name), size: m.src.size(s.width), plan: plan}
	track, err := captions(m.Deps.Setter, plan, r.size)
	if err != nil {
		r.captionless, track = err, nil
	}
	err = m.renderWith(ctx, r, track, limit)
	if errors.Is(err, errDrawing) {
		r.captionless = err
		err = m.renderWith(ctx, r, nil, limit)
	}
	return r, err
}

func (m *maker) renderWith(ctx context.Context, r *rendered, track *overlay.Track, limit int64) error {
	if m.Format == GIF {
		if err := m.encode(ctx, r, track, 0, m.paletter); err != nil {
			return err
		}
	}
	if err := m.encode(ctx, r, track, limit, m.encoder); err != nil {
		return err
	}
	var err error
	if r.bytes, err = fileSize(r.path); err != nil {
		return err
	}
	if limit > 0 && r.bytes > limit {
		return &overError{r.bytes}
	}
	if m.Format == WebP {
		return endWebP(r)
	}
	return nil
}

// encode gives the frames of the clip to an encoder.
func (m *maker) encode(ctx context.Context, r *rendered, track *overlay.Track, limit int64, begin func(context.Context, *rendered) (*encoder, error)) error {
	enc, err := begin(ctx, r)
	if err != nil {
		return err
	}
	r.stills, r.sent = newStills(m, r), 0
	err = m.pictures(ctx, r, track, func(f int64, frame *pixel.Frame) error {
		r.sent++
		if err := enc.write(r.plan.Time(f), frame.Data); err != nil {
			return err
		}
		return enc.over(limit, f, r.plan.Frames)
	})
	return enc.end(err)
}

// pictures gives the frames of the clip to send.
func (m *maker) pictures(ctx context.Context, r *rendered, track *overlay.Track, send func(int64, *pixel.Frame) error) error {
	fr := &frames{maker: m, plan: r.plan, track: track, stills: r.stills, send: send}
	if fr.stage, r.bare = m.stage(r); r.bare != nil {
		fr.stage = nil
	}
	err := fr.walk(ctx, r.size)
	r.capless = fr.capless
	return err
}
