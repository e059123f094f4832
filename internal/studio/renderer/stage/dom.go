package stage

import (
	"context"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// domFlags are the browser's flags for scenes of kind dom.
func domFlags() []string { return nil }

// domFile is a file of ours that pages of kind dom load.
func domFile(string) (body []byte, typ string, ok bool) { return nil, "", false }

// startPages loads a scene of kind dom.
func (s *Stage) startPages(context.Context) error {
	f := &scene.Failure{Code: fault.SceneUnsupported, Text: `kind "dom" can't be drawn yet`, Frame: scene.NoFrame, Hint: `Take kind "2d" or "webgl".`}
	return f.Fault()
}
