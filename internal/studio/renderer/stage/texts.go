package stage

import (
	"context"
	"fmt"
	"image"
	"math"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

// Text is a text that a scene drew.
type Text struct {
	Text  string
	Size  float64         // of the font, in the frame's pixels
	Box   image.Rectangle // around its ink, in the frame's pixels; it may lie outside of the frame
	Fill  string          // CSS colour; "" when it is a gradient or a pattern
	Alpha float64         // 0 to 1, beside that of Fill
	Place scene.Place     // where it is drawn
}

// drawnText is a text as the shim tells of it.
type drawnText struct {
	Text  string     `json:"text"`
	Size  float64    `json:"size"`
	Box   [4]float64 `json:"box"` // left, top, right, bottom
	Fill  string     `json:"fill"`
	Alpha float64    `json:"alpha"`
	Stack string     `json:"stack"`
}

// Texts draws a frame and lists the texts that it fills. Only scenes of kind 2d
// that are not sequential can tell; of others it lists none. The errors are
// those of Frames.
func (s *Stage) Texts(ctx context.Context, frame int) ([]Text, error) {
	if frame < 0 || frame >= s.meta.Frames() {
		return nil, fmt.Errorf("list texts: frame %d is not in a film of %d", frame, s.meta.Frames())
	}
	w := s.lanes[0]
	if s.meta.Kind != scene.Kind2D || w.sequential {
		return nil, nil
	}
	s.locks[0].Lock()
	defer s.locks[0].Unlock()
	got, err := w.ask(ctx, "texts", frame, 1, map[string]any{"frame": frame})
	if err != nil {
		return nil, err
	}
	out := make([]Text, len(got.Texts))
	for i, t := range got.Texts {
		place, _ := s.cfg.Bundle.Position(t.Stack)
		out[i] = Text{
			Text: t.Text, Size: t.Size, Fill: t.Fill, Alpha: t.Alpha, Place: place,
			Box: image.Rect(int(math.Floor(t.Box[0])), int(math.Floor(t.Box[1])), int(math.Ceil(t.Box[2])), int(math.Ceil(t.Box[3]))),
		}
	}
	return out, nil
}
