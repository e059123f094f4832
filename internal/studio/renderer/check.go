package renderer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/renderer/stage"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// CheckOptions say how thorough a check is.
type CheckOptions struct {
	Source
	Frames int // how many are drawn twice, 2 or more; 0: 12
}

// Finding is one thing that is wrong with a scene, or may be.
type Finding struct {
	// Code is a fault's for what is wrong: scene_impure, scene_threw, ... For
	// what may be: slow_frames, frozen, uniform_frames, text_outside, text_small,
	// text_faint, and those of notes.
	Code  string      `json:"code"`
	Text  string      `json:"text"`
	Frame int         `json:"frame"` // scene.NoFrame when it is about none
	Place scene.Place `json:"place"`
	Hint  string      `json:"hint,omitempty"`
}

// CheckResult is the answer of scene check.
type CheckResult struct {
	Scene    string     `json:"scene"`
	OK       bool       `json:"ok"` // nothing is wrong; there may be warnings
	Kind     scene.Kind `json:"kind,omitempty"`
	Width    int        `json:"width,omitempty"`
	Height   int        `json:"height,omitempty"`
	FPS      int        `json:"fps,omitempty"`
	Seconds  float64    `json:"seconds,omitempty"`
	Frames   int        `json:"frames,omitempty"`    // of the film
	Checked  []int      `json:"checked"`             // frames that were drawn twice
	FrameMS  float64    `json:"frameMs,omitempty"`   // median time of a frame
	SlowMS   float64    `json:"slowestMs,omitempty"` // of the slowest
	Slowest  int        `json:"slowestFrame"`
	Errors   []Finding  `json:"errors"`
	Warnings []Finding  `json:"warnings"`
}

// slowFrame is when a frame is called slow: ten a second and worker.
const slowFrame = 100 * time.Millisecond

// Check loads a scene, draws some of its frames twice in another order, and
// tells what is wrong with it. What the scene does wrong is in the result; the
// error is that of a check that could not be made.
func (s *Studio) Check(ctx context.Context, o CheckOptions) (CheckResult, error) {
	if o.Frames == 0 {
		o.Frames = 12
	}
	o.Workers = 2 // the second draws what the first has drawn, in another order
	var res CheckResult
	_, err := s.lasting(ctx, func() (err error) {
		res, err = s.check(ctx, o)
		return err
	})
	return res, err
}

// check checks with one browser.
func (s *Studio) check(ctx context.Context, o CheckOptions) (CheckResult, error) {
	res := CheckResult{Scene: o.Scene, Checked: []int{}, Errors: []Finding{}, Warnings: []Finding{}, Slowest: scene.NoFrame}
	b, err := scene.Load(o.Scene)
	if err != nil {
		return res.failed(err)
	}
	st, err := s.open(ctx, o.Source, b)
	if err != nil {
		return res.failed(err)
	}
	defer func() { _ = st.Close() }()
	m := st.Meta()
	res.Kind, res.Width, res.Height, res.FPS = m.Kind, m.Width, m.Height, m.FPS
	res.Frames, res.Seconds = m.Frames(), float64(m.Frames())/float64(m.FPS)

	e := &examination{st: st, seen: map[int]look{}}
	drawn := e.examine(ctx, chosen(b.Hash, o.Frames, m.Frames()))
	for _, n := range st.Notes() {
		res.note(n)
	}
	if drawn != nil {
		if res, err = res.failed(drawn); err != nil {
			return res, err
		}
	}
	res.judge(e)
	return res, nil
}

// failed puts an error of the scene among the findings; another is returned.
func (r CheckResult) failed(err error) (CheckResult, error) {
	var own *fault.Error
	if !errors.As(err, &own) || !strings.HasPrefix(string(own.Code), "scene_") || own.Code == fault.SceneNotFound {
		return r, err
	}
	f := Finding{Code: string(own.Code), Text: own.Message, Frame: scene.NoFrame, Hint: own.Hint}
	var failure *scene.Failure
	if errors.As(err, &failure) {
		f.Text, f.Frame, f.Place = failure.Text, failure.Frame, failure.Place
	}
	r.Errors = append(r.Errors, f)
	return r, nil
}

// note sorts a note: what a film would fail for is an error.
func (r *CheckResult) note(n scene.Note) {
	f := Finding{Code: n.Code, Text: n.Text, Frame: n.Frame, Place: n.Place}
	if n.Code == string(fault.SceneNetwork) {
		r.Errors = append(r.Errors, f)
		return
	}
	r.Warnings = append(r.Warnings, f)
}

// chosen picks frames: the first, the last, and others at random; which others
// depends on the scene's text alone, so that a check can be repeated.
func chosen(seed string, n, all int) []int {
	n = min(n, all)
	list := []int{0}
	if all > 1 {
		list = append(list, all-1)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed))                // it never fails
	dice := rand.New(rand.NewPCG(h.Sum64(), 1)) //nolint:gosec // a choice that must be repeatable
	for len(list) < n {
		if f := dice.IntN(all); !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	slices.Sort(list)
	return list
}

// look is what is kept of a drawn frame.
type look struct {
	sum     [sha256.Size]byte
	took    time.Duration
	uniform bool
	same    bool // as the frame before it
}

// examination draws.
type examination struct {
	st     *stage.Stage
	order  []int
	seen   map[int]look
	impure []int
	texts  texts
}

// examine draws the frames in order, each with the one before it, and then,
// with another worker, alone and from the last to the first. A sequential
// scene, which has one worker, is drawn through a second time instead: by its
// own word its frames depend on those before.
func (e *examination) examine(ctx context.Context, list []int) error {
	e.order = list
	for _, n := range list {
		if err := e.pair(ctx, n); err != nil {
			return err
		}
	}
	again := slices.Clone(list)
	second := min(1, e.st.Workers()-1)
	if second == 1 {
		slices.Reverse(again)
	}
	for _, n := range again {
		err := e.st.Frames(ctx, second, n, n+1, func(_ int, f stage.Frame) error {
			if sumOf(f) != e.seen[n].sum {
				e.impure = append(e.impure, n)
			}
			return nil
		})
		if err != nil {
			return err //nolint:wrapcheck // it is the user's error already
		}
	}
	slices.Sort(e.impure)
	return nil
}

// pair draws a frame after the one before it and compares the two.
func (e *examination) pair(ctx context.Context, n int) error {
	list, err := e.st.Texts(ctx, n)
	if err != nil {
		return err //nolint:wrapcheck // it is the user's error already
	}
	var before [sha256.Size]byte
	return e.st.Frames(ctx, 0, max(n-1, 0), n+1, func(at int, f stage.Frame) error { //nolint:wrapcheck // it is the user's error already
		sum := sumOf(f)
		if at == n {
			e.seen[n] = look{sum: sum, took: f.Cost, uniform: uniform(f), same: n > 0 && sum == before}
			e.texts.look(n, list, f)
		}
		before = sum
		return nil
	})
}

func sumOf(f stage.Frame) [sha256.Size]byte {
	if f.Stride == 4*f.Width {
		return sha256.Sum256(f.Pix[:4*f.Width*f.Height])
	}
	h := sha256.New()
	for y := range f.Height {
		h.Write(f.Pix[y*f.Stride : y*f.Stride+4*f.Width])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// uniform tells whether all pixels are of one colour.
func uniform(f stage.Frame) bool {
	first := [3]byte(f.Pix[:3])
	for y := range f.Height {
		row := f.Pix[y*f.Stride : y*f.Stride+4*f.Width]
		for x := 0; x+3 < len(row); x += 4 {
			if [3]byte(row[x:x+3]) != first {
				return false
			}
		}
	}
	return true
}

// judge turns what was seen into findings.
func (r *CheckResult) judge(e *examination) {
	r.Checked = slices.DeleteFunc(slices.Clone(e.order), func(n int) bool { _, ok := e.seen[n]; return !ok })
	var uniform, same, slow []int
	var times []time.Duration
	for _, n := range r.Checked {
		l := e.seen[n]
		times = append(times, l.took)
		if ms := l.took.Seconds() * 1000; ms > r.SlowMS {
			r.SlowMS, r.Slowest = ms, n
		}
		if l.uniform {
			uniform = append(uniform, n)
		}
		if l.same {
			same = append(same, n)
		}
		if l.took > slowFrame {
			slow = append(slow, n)
		}
	}
	if len(times) > 0 {
		slices.Sort(times)
		r.FrameMS = times[len(times)/2].Seconds() * 1000
	}
	for _, n := range e.impure {
		r.Errors = append(r.Errors, Finding{
			Code: string(fault.SceneImpure), Frame: n, Text: fmt.Sprintf("frame %d differs when it is drawn alone", n),
			Hint: "Compute everything from t and frame: no variable may carry over from one draw to the next. A scene that can't says meta.sequential.",
		})
	}
	switch all := len(r.Checked); {
	case len(r.Errors) > 0 || all == 0:
	case len(uniform) == all:
		r.Errors = append(r.Errors, Finding{Code: string(fault.SceneEmpty), Frame: scene.NoFrame, Text: "every frame is of one colour", Hint: "draw must paint on the ctx that it is given."})
	default:
		r.warn("uniform_frames", uniform, "of one colour", "Nothing is to be seen there; a fade from or to a colour is fine.")
	}
	if len(same) == len(r.Checked)-1 && len(same) > 0 && len(uniform) < len(r.Checked) {
		r.Warnings = append(r.Warnings, Finding{Code: "frozen", Frame: scene.NoFrame, Text: "no frame differs from the one before it: nothing moves", Hint: "Let what is drawn depend on t."})
	} else {
		r.warn("frozen", same, "the same as the one before", "Stillness is fine where it is meant.")
	}
	r.warn("slow_frames", slow, fmt.Sprintf("drawn in more than %d ms", slowFrame.Milliseconds()), "Blur, shadows and long loops are dear, also in promises; gradients and paths can be made once and kept.")
	r.Warnings = append(r.Warnings, e.texts.findings()...)
	slices.SortStableFunc(r.Warnings, func(a, b Finding) int { return cmp.Compare(a.Frame, b.Frame) })
	r.OK = len(r.Errors) == 0
}

// warn adds one warning about several frames.
func (r *CheckResult) warn(code string, list []int, what, hint string) {
	if len(list) == 0 {
		return
	}
	words := make([]string, 0, len(list))
	for _, n := range list {
		words = append(words, fmt.Sprint(n))
	}
	noun := "frames " + strings.Join(words, ", ") + " are "
	if len(list) == 1 {
		noun = "frame " + words[0] + " is "
	}
	r.Warnings = append(r.Warnings, Finding{Code: code, Frame: list[0], Text: noun + what, Hint: hint})
}
