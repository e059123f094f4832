package renderer

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/image/draw"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/renderer/stage"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

const (
	draftWidth    = 960 // pixels: what is played at draft size
	draftQuality  = 80
	streamPatient = 30 * time.Second
)

// news is what the page is told of the scene.
type news struct {
	Version int        `json:"version"` // grows with every load
	Loading bool       `json:"loading"`
	Name    string     `json:"name,omitempty"`
	Kind    scene.Kind `json:"kind,omitempty"`
	Width   int        `json:"width,omitempty"`
	Height  int        `json:"height,omitempty"`
	FPS     int        `json:"fps,omitempty"`
	Seconds float64    `json:"seconds,omitempty"`
	Frames  int        `json:"frames,omitempty"`
	Error   string     `json:"error,omitempty"`
}

// viewer holds the scene as it was last saved, in one browser.
type viewer struct {
	studio *Studio
	src    Source

	drawing sync.Mutex // held by who draws: the page wants one thing at a time
	st      *stage.Stage

	mu      sync.Mutex
	now     news
	changed chan struct{} // closed with the next news
}

func newViewer(s *Studio, src Source) *viewer {
	src.Workers = 1
	return &viewer{studio: s, src: src, changed: make(chan struct{})}
}

// tell gives the page news.
func (v *viewer) tell(change func(*news)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(&v.now)
	close(v.changed)
	v.changed = make(chan struct{})
}

func (v *viewer) latest() (news, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now, v.changed
}

func (v *viewer) reloads() int {
	n, _ := v.latest()
	return max(n.Version-1, 0)
}

// load opens the scene anew and gives the files that it is made of; nil when it
// can't be opened. Such a scene leaves its error; the page keeps the last good
// frame.
func (v *viewer) load(ctx context.Context) []string {
	v.tell(func(n *news) { n.Loading = true })
	v.drawing.Lock()
	defer v.drawing.Unlock()
	b, err := scene.Load(v.src.Scene)
	var st *stage.Stage
	if err == nil {
		st, err = v.studio.open(ctx, v.src, b)
	}
	if ctx.Err() != nil {
		closeStage(st)
		return nil
	}
	closeStage(v.st)
	v.st = st
	v.tell(func(n *news) {
		n.Version++
		n.Loading, n.Error = false, ""
		if err != nil {
			n.Error = words(err)
			return
		}
		m := st.Meta()
		n.Name, n.Kind, n.Width, n.Height, n.FPS, n.Frames = baseName(b), m.Kind, m.Width, m.Height, m.FPS, m.Frames()
		n.Seconds = float64(m.Frames()) / float64(m.FPS)
	})
	if err != nil {
		return nil
	}
	return b.Inputs(st.Meta())
}

func closeStage(st *stage.Stage) {
	if st != nil {
		_ = st.Close()
	}
}

func (v *viewer) close() {
	v.drawing.Lock()
	defer v.drawing.Unlock()
	closeStage(v.st)
	v.st = nil
}

// words are an error and its hint.
func words(err error) string {
	e := fault.As(err)
	return strings.TrimSpace(e.Message + "\n" + e.Hint)
}

func (v *viewer) handler() http.Handler {
	mux := http.NewServeMux()
	files, _ := fs.Sub(page, "page") // it is embedded
	for path, file := range map[string]string{"/{$}": "preview.html", "/preview.css": "preview.css", "/preview.js": "preview.js"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, file) })
	}
	mux.HandleFunc("/events", v.events)
	mux.HandleFunc("/frame", v.frame)
	mux.HandleFunc("/play", v.play)
	return mux
}

// events sends the news, the latest at once.
func (v *viewer) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for {
		now, changed := v.latest()
		raw, err := json.Marshal(now)
		if err != nil {
			return // news holds nothing that can't be JSON
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", raw); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
	}
}

var errChanged = errors.New("the scene has changed")

// draw hands the frames of a request to use, of the version that the page knows.
func (v *viewer) draw(ctx context.Context, version string, from, to int, use func(stage.Frame) error) error {
	v.drawing.Lock()
	defer v.drawing.Unlock()
	now, _ := v.latest()
	if version != strconv.Itoa(now.Version) || v.st == nil {
		return errChanged
	}
	if to <= 0 || to > now.Frames {
		to = now.Frames
	}
	if from < 0 || from >= to {
		return fault.New(fault.InvalidValue, "", "there is no frame %d", from)
	}
	err := v.st.Frames(ctx, 0, from, to, func(_ int, f stage.Frame) error { return use(f) })
	if err != nil && ctx.Err() == nil && !errors.Is(err, errGone) {
		// The browser may be gone with the error: the next save, or the next
		// look at another frame, begins anew.
		closeStage(v.st)
		v.st = nil
	}
	return err //nolint:wrapcheck // it is the user's error already
}

// errGone says that the page no longer reads.
var errGone = errors.New("the page is gone")

// frame answers with one frame.
func (v *viewer) frame(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("n"))
	if err != nil {
		http.Error(w, "n is no frame", http.StatusBadRequest)
		return
	}
	var raw []byte
	v.revive(r)
	err = v.draw(r.Context(), r.FormValue("version"), n, n+1, func(f stage.Frame) error {
		raw, err = draft(f, r.FormValue("full") == "1")
		return err
	})
	switch {
	case errors.Is(err, errChanged):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, words(err), http.StatusUnprocessableEntity)
	default:
		w.Header().Set("Content-Type", "image/jpeg")
		_, _ = w.Write(raw) // a page that is gone needs nothing
	}
}

// play sends frames one after the other, each after its length in four bytes,
// until the film's end or until the page stops reading. An error comes after a
// length of 0.
func (v *viewer) play(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.Atoi(r.FormValue("from"))
	if err != nil {
		http.Error(w, "from is no frame", http.StatusBadRequest)
		return
	}
	v.revive(r)
	out, begun := http.NewResponseController(w), false
	send := func(raw []byte) error {
		_ = out.SetWriteDeadline(time.Now().Add(streamPatient)) // a paused tab must not hold the scene
		begun = true
		if _, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...)); err != nil {
			return errGone
		}
		return out.Flush()
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	err = v.draw(r.Context(), r.FormValue("version"), from, 0, func(f stage.Frame) error {
		raw, err := draft(f, r.FormValue("full") == "1")
		if err != nil {
			return err
		}
		return send(raw)
	})
	switch {
	case err == nil || errors.Is(err, errGone) || r.Context().Err() != nil:
	case errors.Is(err, errChanged):
		http.Error(w, err.Error(), http.StatusConflict)
	case begun:
		_ = send(nil)
		_ = send([]byte(words(err)))
	default:
		http.Error(w, words(err), http.StatusUnprocessableEntity)
	}
}

// revive opens the scene again when an error of a frame has ended its browser,
// so that the other frames can be looked at.
func (v *viewer) revive(r *http.Request) {
	v.drawing.Lock()
	defer v.drawing.Unlock()
	now, _ := v.latest()
	if v.st != nil || now.Frames == 0 || now.Error != "" {
		return
	}
	b, err := scene.Load(v.src.Scene)
	if err != nil {
		return // the next look at the files tells
	}
	if st, err := v.studio.open(r.Context(), v.src, b); err == nil {
		v.st = st
	}
}

// draft is a frame as JPEG, at most draftWidth wide unless it is to be full.
func draft(f stage.Frame, full bool) ([]byte, error) {
	var img image.Image = picture(f)
	quality := jpegQuality
	if !full && f.Width > draftWidth {
		small := image.NewRGBA(image.Rect(0, 0, draftWidth, max(1, f.Height*draftWidth/f.Width)))
		draw.ApproxBiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Src, nil)
		img, quality = small, draftQuality
	}
	var raw bytes.Buffer
	if err := jpeg.Encode(&raw, img, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("encode a frame: %w", err)
	}
	return raw.Bytes(), nil
}
