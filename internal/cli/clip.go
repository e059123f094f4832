package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

func (s *clipCmd) run(ctx context.Context, c *call) (answer, error) {
	if s.Format == "gif" && c.given["crf"] {
		return answer{}, fault.New(fault.InvalidValue, "Leave out --crf; --width, --fps and --max-size make a GIF smaller.", "--crf does nothing for a GIF, which has 256 colours")
	}
	clips, err := c.Clips()
	if err != nil {
		return answer{}, err
	}
	res, err := clips.Clip(ctx, string(s.ID), s.options(c.given["crf"]))
	return answer{data: res, effect: fault.EffectClipMade}, err
}

func (s *clipCmd) options(crf bool) clip.Options {
	speed, _ := strconv.Atoi(string(s.Speed)) // a choice of three numbers, or empty
	o := clip.Options{
		Out: string(s.Out), Name: string(s.Name),
		Stills: timeline.Stills(s.Stills), Speed: speed, Position: timeline.Position(s.Position),
		Width: int(s.Width), FPS: int(s.FPS), MaxSize: int64(s.MaxSize), Format: clip.Format(s.Format),
		Pointer: bool(s.Pointer), Keys: bool(s.Keys), Zoom: bool(s.Zoom), Frame: bool(s.Frame),
	}
	if crf {
		n := int(s.CRF)
		o.CRF = &n
	}
	return o
}

// StopAndClip is the answer of stop with its clip.
type StopAndClip struct {
	supervisor.StopResult
	Clip clip.Result `json:"clip"`
}

// withClip adds the clip to the answer of stop, whose own bytes stay as they
// are. A clip that can't be made is an error that names the film: it is safe.
func withClip(ctx context.Context, c *call, stop supervisor.Stopped, asked bool) (answer, error) {
	clips, err := c.Clips()
	if err != nil {
		return answer{}, err
	}
	raw, err := clips.AfterStop(ctx, stop.Result.RecordingID, asked)
	if err != nil {
		e := fault.As(err)
		e = fault.Wrap(errors.New(e.Message), e.Code, e.Hint+" proofreel stop --no-clip answers without a clip.", "the recording has ended, but its clip could not be made")
		return answer{}, e.WithArtifact(stop.Result.Path).WithEffect(stop.Effect)
	}
	if raw == nil {
		return stopped(stop), nil
	}
	both := StopAndClip{StopResult: stop.Result}
	if err := json.Unmarshal(raw, &both.Clip); err != nil {
		return answer{}, fault.Wrap(err, fault.StateCorrupt, "Remove clip.json in the recording's directory.", "the answer kept of the clip can't be read")
	}
	own, found := bytes.CutSuffix(stop.Data, []byte("}"))
	if !found {
		return answer{}, errors.New("the answer of stop is no object")
	}
	return answer{data: both, raw: slices.Concat(own, []byte(`,"clip":`), raw, []byte("}")), effect: stop.Effect}, nil
}
