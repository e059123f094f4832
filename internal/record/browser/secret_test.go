package browser

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A password or token in the page's address must be in no command line at any
// time, and must still reach the page. Any user can read command lines.
func TestAddressIsInNoCommandLine(t *testing.T) {
	const password, token = "pw-Zq7Xk2Vn", "tk-Hd93Lm0s"
	each(t, func(t *testing.T, kind Kind) {
		r := newRig(t, kind)
		var opened atomic.Int64
		page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			user, pass, _ := q.BasicAuth()
			switch {
			case q.URL.Path != "/":
				http.NotFound(w, q)
			case user != "bob" || pass != password:
				w.Header().Set("WWW-Authenticate", `Basic realm="rig"`)
				w.WriteHeader(http.StatusUnauthorized)
			case q.URL.Query().Get("token") == token:
				opened.Add(1)
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write([]byte("<title>secret rig</title>"))
			}
		}))
		t.Cleanup(page.Close)
		r.options.URL = strings.Replace(page.URL, "://", "://bob:"+password+"@", 1) + "/?token=" + token
		seen, stop := make(chan []string), make(chan struct{})
		go func() { seen <- commandLinesWith(stop, password, token) }()
		b := r.start(t)
		deadline := time.Now().Add(bounded / 2)
		for opened.Load() == 0 && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		close(stop)
		if lines := <-seen; len(lines) > 0 {
			t.Errorf("seen by everybody: %q", lines)
		}
		if opened.Load() != 1 {
			t.Errorf("the page was opened %d times", opened.Load())
		}
		if b.Note() != "" && b.Note() != noSandboxRoot && b.Note() != noSandbox {
			t.Errorf("note %q", b.Note())
		}
	})
}

// commandLinesWith looks at all processes until it is stopped, and once more.
func commandLinesWith(stop <-chan struct{}, secrets ...string) []string {
	var out []string
	for last := false; ; {
		select {
		case <-stop:
			last = true
		case <-time.After(20 * time.Millisecond):
		}
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				continue
			}
			for _, s := range secrets {
				if line := string(raw); bytes.Contains(raw, []byte(s)) && !slices.Contains(out, line) {
					out = append(out, line)
				}
			}
		}
		if last {
			return out
		}
	}
}

// Plain Chromium films its error page: the note says so.
func TestChromiumErrorPageIsNoted(t *testing.T) {
	r := newRig(t, KindChromium)
	r.page.Close()
	b := r.start(t)
	if !strings.Contains(b.Note(), "Nothing listened at ") || asRoot() && !strings.Contains(b.Note(), noSandboxRoot) {
		t.Errorf("note %q", b.Note())
	}
}

// Without HOME agent-browser takes the home of the password database; the
// agent's commands, with or without HOME, must find the same browser.
func TestWithoutHome(t *testing.T) {
	r := newRig(t, KindAgentBrowser)
	r.options.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "HOME=") })
	b := r.start(t)
	for _, env := range [][]string{r.options.Env, os.Environ()} {
		if got := command(t, r, b, env, "get", "title"); !strings.Contains(got, "rig") {
			t.Errorf("title %q", got)
		}
	}
	if err := b.Close(r.ctx); err != nil {
		t.Error(err)
	}
	r.nothingLeft(t, leftover(b, r.options))
}
