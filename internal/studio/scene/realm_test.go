package scene_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const origin = "https://scene.invalid"

// lab is a browser in which realms with the run-time script can be made.
type lab struct {
	*chromium.Browser
	ctx context.Context
	set scene.FontSet
}

func openLab(t *testing.T) *lab {
	t.Helper()
	program, err := chromium.Find(nil)
	if err != nil {
		t.Fatalf("%v: apt-get install chromium-headless-shell", err)
	}
	set, err := scene.Fonts(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	install, err := set.Install()
	if err != nil {
		t.Fatal(err)
	}
	take := fmt.Sprintf("globalThis.P = globalThis.__proofreel; delete globalThis.__proofreel; globalThis.options = %s;", install)
	files := map[string]string{
		"/shim.js":   scene.Runtime(),
		"/take.js":   take,
		"/worker.js": "import './shim.js'; import './take.js';",
		"/page.html": "<!doctype html><meta charset=utf-8><script src=/shim.js></script><script src=/take.js></script>",
		"/host.html": "<!doctype html><script>new Worker('/worker.js', {type: 'module'})</script>",
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	spawn := proc.NewSpawner()
	t.Cleanup(spawn.Close)
	b, err := chromium.Launch(ctx, chromium.Options{
		Program: program, Spawn: spawn, Dir: t.TempDir(), Env: set.Env(), Origin: origin,
		Serve: func(path string) (chromium.Response, bool) {
			typ := map[string]string{".js": "text/javascript", ".html": "text/html"}[filepath.Ext(path)]
			body, ok := files[path]
			return chromium.Response{Header: map[string]string{"Content-Type": typ}, Body: []byte(body)}, ok
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return &lab{Browser: b, ctx: ctx, set: set}
}

// realm is a fresh page or worker with the run-time installed and configured.
type realm struct {
	*chromium.Session
	t   *testing.T
	ctx context.Context
}

func (l *lab) realm(t *testing.T, kind string) realm {
	t.Helper()
	r := l.raw(t, kind)
	var wrong []string
	r.get(&wrong, "P.install({...options, kind: %q})", map[string]string{"page": "dom", "worker": "2d"}[kind])
	if len(wrong) > 0 {
		t.Fatalf("the realm is wrong: %v", wrong)
	}
	r.run("globalThis.env = P.configure({width: 1920, height: 1080, fps: 30, duration: 4, seed: 5, style: 'swiss'}); P.ready()")
	return r
}

// raw is a realm in which the script was evaluated, but not installed.
func (l *lab) raw(t *testing.T, kind string) realm {
	t.Helper()
	page, err := l.NewPage(l.ctx)
	if err != nil {
		t.Fatal(err)
	}
	r := realm{page, t, l.ctx}
	address := map[string]string{"page": "/page.html", "worker": "/host.html"}[kind]
	if err := page.Navigate(l.ctx, origin+address); err != nil {
		t.Fatal(err)
	}
	if kind == "worker" {
		if r.Session, err = page.Worker(l.ctx, "/worker.js"); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 { // a module worker evaluates when it has loaded
		var there bool
		r.get(&there, "typeof P === 'object' && typeof options === 'object'")
		if there {
			return r
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the run-time was not evaluated")
	return r
}

// run evaluates statements.
func (r realm) run(code string) {
	r.t.Helper()
	if err := r.Evaluate(r.ctx, "(() => {'use strict';"+code+"\n})()", nil); err != nil {
		r.t.Fatalf("%s: %v", code, err)
	}
}

// get evaluates an expression into result.
func (r realm) get(result any, format string, args ...any) {
	r.t.Helper()
	code := fmt.Sprintf(format, args...)
	var raw string
	if err := r.Evaluate(r.ctx, "(async () => JSON.stringify(await ("+code+")))()", &raw); err != nil {
		r.t.Fatalf("%s: %v", code, err)
	}
	if err := json.Unmarshal([]byte(raw), result); err != nil {
		r.t.Fatalf("%s gives %s: %v", code, raw, err)
	}
}

// text gives an expression's value as JSON.
func (r realm) text(format string, args ...any) string {
	r.t.Helper()
	var raw json.RawMessage
	r.get(&raw, format, args...)
	return string(raw)
}

type thrown struct {
	Code, Message, Stack string
	Frame                int
}

// throws evaluates statements that must throw, and gives what the host is told.
func (r realm) throws(code string) thrown {
	r.t.Helper()
	var out *thrown
	r.get(&out, "(async () => { try { %s } catch (e) { return P.failure(e) } return null })()", code)
	if out == nil {
		r.t.Fatalf("%s throws nothing", code)
	}
	return *out
}

func (r realm) wantThrow(code, want, message string) {
	r.t.Helper()
	got := r.throws(code)
	if got.Code != want || !strings.Contains(got.Message, message) {
		r.t.Errorf("%s throws %s: %s; want %s with %q", code, got.Code, got.Message, want, message)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
