package stage

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// origin is where the scene lives. There is no such host: requests to it are
// answered here, all others are refused.
const origin = "https://scene.invalid"

//go:embed worker.js ring.js console.js settle.js
var scripts embed.FS

// launch starts the browser with an empty page of our origin.
func (s *Stage) launch(ctx context.Context, kind scene.Kind) error {
	var err error
	s.browser, err = chromium.Launch(ctx, chromium.Options{
		Program: s.cfg.Program, Spawn: s.spawn, Dir: s.dir, Env: s.cfg.Fonts.Env(), Flags: flags(kind),
		WebGL: kind == scene.KindWebGL, Memory: s.cfg.Memory, Origin: origin,
		Serve: s.serve, OnBlocked: s.onBlocked, Log: s.log,
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, browserPatience, errSlowBrowser)
	defer cancel()
	if s.page, err = s.browser.NewPage(ctx); err != nil {
		return err
	}
	return s.page.Navigate(ctx, origin+"/")
}

// browserPatience is how long the browser may take for what is no scene's doing.
const browserPatience = time.Minute

// errSlowBrowser says that the browser itself, before any scene, takes too long.
var errSlowBrowser = errors.New("the browser did not open an empty page in time")

func flags(kind scene.Kind) []string {
	if kind == scene.KindDOM {
		return domFlags()
	}
	return nil
}

// serve answers the browser's requests.
func (s *Stage) serve(p string) (chromium.Response, bool) {
	switch p {
	case "/":
		return s.answer("text/html", []byte("<!doctype html><title>scene</title>")), true
	case "/run/shim.js":
		return s.answer("text/javascript", []byte(scene.Runtime())), true
	case "/" + scene.ModuleName:
		return s.answer("text/javascript", s.cfg.Bundle.Code), true
	}
	if name, ok := strings.CutPrefix(p, "/assets/"); ok {
		return s.asset(name), true
	}
	if name, ok := strings.CutPrefix(p, "/run/"); ok {
		if body, err := scripts.ReadFile(name); err == nil {
			return s.answer("text/javascript", body), true
		}
	}
	return s.domFile(p)
}

// answer is a file of ours. A scene may load from its own origin only, and the
// page is isolated from others, which gives it shared memory and a fine clock.
func (s *Stage) answer(typ string, body []byte) chromium.Response {
	return chromium.Response{Header: map[string]string{
		"Content-Type": typ + "; charset=utf-8",
		"Content-Security-Policy": "default-src 'none'; script-src 'self' 'unsafe-eval'; worker-src 'self'; connect-src 'self'; " +
			"img-src 'self' data: blob:; style-src 'unsafe-inline'; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Embedder-Policy": "require-corp",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-store",
		"X-Content-Type-Options":       "nosniff",
	}, Body: body}
}

// asset is one of the files that meta names; the body of another answer is
// the error.
func (s *Stage) asset(name string) chromium.Response {
	s.mu.Lock()
	file, ok := s.meta.Assets[name]
	s.mu.Unlock()
	if !ok {
		return chromium.Response{Status: 404}
	}
	body, err := s.readAsset(file)
	if err != nil {
		text := err.Error()
		if f, ok := failureOf(err); ok {
			text = f.Text
		}
		res := s.answer("text/plain", []byte(text))
		res.Status = 404
		return res
	}
	typ := mime.TypeByExtension(path.Ext(file))
	if typ == "" {
		typ = "application/octet-stream"
	}
	res := s.answer("", body)
	res.Header["Content-Type"] = typ
	return res
}

func (s *Stage) readAsset(file string) ([]byte, error) {
	f, err := s.cfg.Bundle.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("asset %q: %w", file, err)
	}
	return raw, nil
}

func (s *Stage) onBlocked(b chromium.Blocked) {
	host := b.Host
	if host == "" {
		host = "an address without a host"
	}
	s.note(scene.Note{Code: string(fault.SceneNetwork), Frame: scene.NoFrame, Text: fmt.Sprintf("a request to %s was refused", host)})
}

// guessKind reads the kind off the module's text, since the browser's flags
// depend on it and meta is only known once the browser runs. The last mention
// counts: what a scene imports stands before it. A wrong guess costs a second
// start.
func guessKind(code []byte) scene.Kind {
	all := regexp.MustCompile(`\bkind\s*:\s*["'`+"`"+`](2d|webgl|dom)["'`+"`"+`]`).FindAllSubmatch(code, -1)
	if len(all) == 0 {
		return scene.Kind2D
	}
	return scene.Kind(all[len(all)-1][1])
}

// scratchRoom is the room that a folder in memory must have before it is used
// for the frames on their way.
const scratchRoom = 512 << 20 // bytes

// scratch chooses the folder for the browser's profile: the caller's, else
// memory, where a frame costs a copy and no write to a disk.
func scratch(chosen string) string {
	if chosen != "" {
		return chosen
	}
	const memory = "/dev/shm"
	var st unix.Statfs_t
	if unix.Statfs(memory, &st) != nil || unix.Access(memory, unix.W_OK) != nil {
		return os.TempDir()
	}
	if int64(st.Bavail)*st.Bsize < scratchRoom {
		return os.TempDir()
	}
	return memory
}
