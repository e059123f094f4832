package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	_ "image/png" // of stills and sheets
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/image/draw"

	"github.com/proofreel/proofreel/internal/studio/agent"
)

// Of the pictures that the model sees. A picture costs by its pixels; from this
// size on more of them show nothing new.
const (
	mostStills  = 4
	longSide    = 1280 // pixels, of a still
	sheetSide   = 1568 // of a sheet
	mostPicture = 1 << 20
)

// reply is what a command of ours prints.
type reply struct {
	Data  json.RawMessage `json:"data"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	} `json:"error"`
}

// proofreel runs a command of this program and gives its answer. progress, if
// any, is told of frames that are done.
func (s *session) proofreel(ctx context.Context, timeout time.Duration, progress func(done, total int), args ...string) (json.RawMessage, error) {
	said := &saying{progress: progress}
	r, err := s.run(ctx, command{
		role: args[0], argv: append([]string{s.c.Program}, args...), env: []string{"PROOFREEL_OUTPUT=json"},
		timeout: timeout, keep: 1 << 20, errs: &lines{most: 1 << 20, take: said.line},
	})
	switch {
	case err != nil:
		return nil, err
	case r.timeout:
		return nil, fmt.Errorf("it took longer than %v", timeout)
	}
	text := r.out
	if r.code != 0 {
		text = said.last
	}
	var a reply
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return nil, fmt.Errorf("%s ended with status %d: %s", args[0], r.code, clip(said.last, 2000))
	}
	if a.Error != nil {
		return nil, fmt.Errorf("%s: %s %s", a.Error.Code, a.Error.Message, a.Error.Hint)
	}
	return a.Data, nil
}

// saying takes in what a command of ours prints on stderr: events, then perhaps
// an error, one JSON object a line.
type saying struct {
	progress func(done, total int)
	last     string
}

func (l *saying) line(text []byte) {
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	l.last = string(text)
	var e struct {
		Event      string `json:"event"`
		Step       int    `json:"step"`
		TotalSteps int    `json:"totalSteps"`
	}
	if l.progress != nil && json.Unmarshal(text, &e) == nil && e.Event == "progress" && e.TotalSteps > 0 {
		l.progress(e.Step, e.TotalSteps)
	}
}

// still shows frames.
func (s *session) still(ctx context.Context, raw json.RawMessage) result {
	var in struct {
		At []float64 `json:"at"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return failed("the input is not as it must be: %v", err)
	}
	if len(in.At) < 1 || len(in.At) > mostStills {
		return failed("at has 1 to %d times", mostStills)
	}
	var times []string
	for _, t := range in.At {
		times = append(times, strconv.FormatFloat(t, 'f', -1, 64))
	}
	dir, err := os.MkdirTemp("", "stills")
	if err != nil {
		return failed("%v", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	data, err := s.proofreel(ctx, 3*time.Minute, nil, "still", agent.SceneName, "--at="+strings.Join(times, ","), "--out="+dir)
	if err != nil {
		return failed("%v", err)
	}
	var got struct {
		Stills []struct {
			Frame   int     `json:"frame"`
			Seconds float64 `json:"seconds"`
			Path    string  `json:"path"`
		} `json:"stills"`
		Notes json.RawMessage `json:"notes"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		return failed("%v", err)
	}
	var res result
	for i, p := range got.Stills {
		picture, err := shown(p.Path, longSide)
		if err != nil {
			return failed("%v", err)
		}
		res.pictures = append(res.pictures, picture)
		res.text += fmt.Sprintf("picture %d: frame %d at %g s\n", i+1, p.Frame, p.Seconds)
	}
	res.text += notes(got.Notes)
	return res
}

// sheet shows a contact sheet.
func (s *session) sheet(ctx context.Context, _ json.RawMessage) result {
	dir, err := os.MkdirTemp("", "sheet")
	if err != nil {
		return failed("%v", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := filepath.Join(dir, "sheet.png")
	data, err := s.proofreel(ctx, 5*time.Minute, nil, "sheet", agent.SceneName, "--out="+out)
	if err != nil {
		return failed("%v", err)
	}
	picture, err := shown(out, sheetSide)
	if err != nil {
		return failed("%v", err)
	}
	var got struct {
		Notes json.RawMessage `json:"notes"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		return failed("%v", err)
	}
	return result{text: "The contact sheet.\n" + notes(got.Notes), pictures: [][]byte{picture}}
}

// notes are what the renderer noticed, for the model; empty when it is nothing.
func notes(raw json.RawMessage) string {
	if s := string(raw); s != "" && s != "null" && s != "[]" {
		return "notes: " + clip(s, 4000)
	}
	return ""
}

// shown makes a picture for the model of a file: no larger than it needs.
func shown(path string, side int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	defer func() { _ = f.Close() }()
	src, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	size := src.Bounds().Size()
	for quality := 85; ; quality -= 20 {
		w, h := size.X, size.Y
		if longer := max(w, h); longer > side {
			w, h = max(1, w*side/longer), max(1, h*side/longer)
		}
		small := image.NewRGBA(image.Rect(0, 0, w, h))
		draw.CatmullRom.Scale(small, small.Bounds(), src, src.Bounds(), draw.Src, nil)
		var b bytes.Buffer
		if err := jpeg.Encode(&b, small, &jpeg.Options{Quality: quality}); err != nil {
			return nil, fmt.Errorf("make the picture: %w", err)
		}
		if b.Len() <= mostPicture || quality <= 25 {
			return b.Bytes(), nil
		}
		side = side * 3 / 4
	}
}
