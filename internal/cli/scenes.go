package cli

import (
	"context"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/studio/renderer"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// source is a scene with the flags that every command about one has.
func (f sceneFlags) source(path text) renderer.Source {
	return renderer.Source{
		Scene: string(path), Style: string(f.Style),
		FrameTimeout: time.Duration(f.TimeoutFrame), Memory: int64(f.Memory),
	}
}

// inStudio runs what needs the studio.
func inStudio[T any](c *call, effect fault.Effect, do func(Studio) (T, error)) (answer, error) {
	s, err := c.Studio()
	if err != nil {
		return answer{}, err
	}
	defer s.Close()
	res, err := do(s)
	return answer{data: res, effect: effect}, err
}

func (s *renderCmd) run(ctx context.Context, c *call) (answer, error) {
	return inStudio(c, fault.EffectFilmRendered, func(st Studio) (renderer.RenderResult, error) {
		return st.Render(ctx, s.options(c.working))
	})
}

func (s *renderCmd) options(working progressFunc) renderer.RenderOptions {
	o := renderer.RenderOptions{
		Source: s.source(s.Scene), Out: string(s.Out), Poster: string(s.Poster),
		Quality: profile.Quality(s.Quality), Timeout: time.Duration(s.Timeout),
		Progress: func(done, total int) {
			working(contract.Progress{
				SchemaVersion: contract.SchemaVersion, Event: "progress", Phase: "rendering",
				Step: done, TotalSteps: total, Scene: string(s.Scene),
			})
		},
	}
	o.Workers = int(s.Workers)
	return o
}

func (s *stillCmd) run(ctx context.Context, c *call) (answer, error) {
	return inStudio(c, fault.EffectPicturesMade, func(st Studio) (renderer.StillResult, error) {
		return st.Stills(ctx, renderer.StillOptions{Source: s.source(s.Scene), At: s.At.seconds, Out: string(s.Out)})
	})
}

func (s *sheetCmd) run(ctx context.Context, c *call) (answer, error) {
	return inStudio(c, fault.EffectPicturesMade, func(st Studio) (renderer.SheetResult, error) {
		return st.Sheet(ctx, renderer.SheetOptions{Source: s.source(s.Scene), Out: string(s.Out), Columns: int(s.Columns), Rows: int(s.Rows)})
	})
}

func (s *sceneCheckCmd) run(ctx context.Context, c *call) (answer, error) {
	st, err := c.Studio()
	if err != nil {
		return answer{}, err
	}
	defer st.Close()
	res, err := st.Check(ctx, renderer.CheckOptions{Source: s.source(s.Scene), Frames: int(s.Frames)})
	if err == nil && !res.OK {
		err = checkFault(res)
	}
	return answer{data: res, effect: fault.EffectNone}, err
}

// checkFault puts what is wrong with a scene into one error: the code is that
// of the first, the message has all, the hint every remedy.
func checkFault(r renderer.CheckResult) error {
	var wrong, remedies []string
	seen := map[string]bool{}
	for _, f := range r.Errors {
		wrong = append(wrong, findingText(f))
		if f.Hint != "" && !seen[f.Hint] {
			seen[f.Hint] = true
			remedies = append(remedies, f.Hint)
		}
	}
	return fault.New(fault.Code(r.Errors[0].Code), strings.Join(remedies, " "), "%s: %s", r.Scene, strings.Join(wrong, "; "))
}

// findingText is a finding with its place, in the form that editors make a
// link of.
func findingText(f renderer.Finding) string {
	text := f.Text
	if place := f.Place.String(); place != "" {
		text = place + ": " + text
	}
	return text
}

func (s *scenePreviewCmd) run(ctx context.Context, c *call) (answer, error) {
	return inStudio(c, fault.EffectNone, func(st Studio) (renderer.PreviewResult, error) {
		return st.Preview(ctx, renderer.PreviewOptions{
			Source: s.source(s.Scene), Port: int(s.Port),
			Ready: func(url string) {
				c.working(contract.Progress{
					SchemaVersion: contract.SchemaVersion, Event: "progress", Phase: "serving",
					Step: 1, TotalSteps: 1, Scene: string(s.Scene), URL: url,
				})
			},
		})
	})
}

func (s *sceneNewCmd) run(_ context.Context, c *call) (answer, error) {
	res, err := c.NewScene(renderer.NewOptions{Name: string(s.Name), Style: string(s.Style), Kind: scene.Kind(s.Kind)})
	return answer{data: res, effect: fault.EffectSceneMade}, err
}

// StyleList is the answer of scene styles.
type StyleList struct {
	Styles []StyleRow `json:"styles"`
}

// StyleRow is a style in short.
type StyleRow struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
	Good  string `json:"good"`
}

// StyleDetail is the answer of scene styles NAME: the tokens that a scene gets
// as env.style, and the same in words.
type StyleDetail struct {
	Style scene.Style `json:"style"`
	Guide string      `json:"guide"`
}

func (s *sceneStylesCmd) run(context.Context, *call) (answer, error) {
	if s.Name != "" {
		style, err := scene.StyleNamed(string(s.Name))
		return answer{data: StyleDetail{style, style.Guide()}, effect: fault.EffectNone}, err
	}
	all, err := scene.Styles()
	list := StyleList{Styles: []StyleRow{}}
	for _, style := range all {
		list.Styles = append(list.Styles, StyleRow{style.Name, style.Title, style.About, style.Good})
	}
	return answer{data: list, effect: fault.EffectNone}, err
}

// LibraryList is the answer of scene libraries.
type LibraryList struct {
	Libraries []scene.Library `json:"libraries"`
}

func (*sceneLibrariesCmd) run(context.Context, *call) (answer, error) {
	all, err := scene.Libraries()
	return answer{data: LibraryList{all}, effect: fault.EffectNone}, err
}
