package stage

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

//go:embed dom.html
var domHTML []byte

//go:embed dom.js
var domJS []byte

//go:embed domstay.js
var domStayJS []byte

//go:embed domwatch.js
var domWatchJS []byte

//go:embed dompaint.js
var domPaintJS []byte

// domPage is the page in which a scene of kind dom is drawn.
const domPage = "/page.html"

// domFlags are the browser's flags for scenes of kind dom: elements can be
// painted onto a canvas (HTML in canvas, not on by default as of Chromium 156),
// and the next frame is laid out when the one before is done, not 60 times a
// second.
func domFlags() []string {
	return []string{"--enable-blink-features=CanvasDrawElement", "--disable-frame-rate-limit", "--disable-gpu-vsync"}
}

// domFile answers what pages of kind dom load.
func (s *Stage) domFile(p string) (chromium.Response, bool) {
	switch p {
	case domPage:
		return s.answer("text/html", domHTML), true
	case "/run/dom.js":
		return s.answer("text/javascript", domJS), true
	case "/run/domstay.js":
		return s.answer("text/javascript", domStayJS), true
	case "/run/domwatch.js":
		return s.answer("text/javascript", domWatchJS), true
	case "/run/dompaint.js":
		return s.answer("text/javascript", domPaintJS), true
	}
	return s.domAsset(strings.TrimPrefix(p, "/"))
}

// domAsset answers for a picture by the path that meta names it with, as an
// author writes it in src and url(); what meta does not name, there is not.
func (s *Stage) domAsset(file string) (chromium.Response, bool) {
	s.mu.Lock()
	meta := s.meta
	s.mu.Unlock()
	if meta.Kind != scene.KindDOM {
		return chromium.Response{}, false
	}
	for name, known := range meta.Assets {
		if known == file {
			return s.asset(name), true
		}
	}
	if len(file) > 200 {
		file = file[:200]
	}
	s.note(scene.Note{Code: string(fault.SceneAsset), Frame: scene.NoFrame, Text: fmt.Sprintf("%q was asked for, and meta.assets does not name it", file)})
	return chromium.Response{}, false
}
