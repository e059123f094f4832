package browser

import (
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// agent-browser looks for its sockets where these variables say; a wrong
// place would leave them behind.
func TestNamespaceDir(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	home := "HOME=/h"
	for want, env := range map[string][]string{
		"/h/.agent-browser/namespaces/n":              {home},
		"/r/agent-browser/namespaces/n":               {home, "XDG_RUNTIME_DIR=/r"},
		"/s/namespaces/n":                             {home, "XDG_RUNTIME_DIR=/r", "AGENT_BROWSER_SOCKET_DIR=/s"},
		me.HomeDir + "/.agent-browser/namespaces/n":   {"HOME="},
		me.HomeDir + "/.agent-browser/namespaces/./n": {"HOME=relative"},
	} {
		if got := namespaceDir(env, "n"); got != filepath.Clean(want) {
			t.Errorf("namespaceDir(%v) = %s, want %s", env, got, want)
		}
	}
}

// Nothing is removed on the word of a file or a command that is not ours, and
// where there was no browser nothing is looked for.
func TestReapRemovesOnlyOurs(t *testing.T) {
	for _, command := range [][]string{
		nil,
		{"agent-browser"},
		{"agent-browser", "--namespace"},
		{"agent-browser", "--namespace", "default"},
		{"agent-browser", "--namespace", ".."},
		{"agent-browser", "--namespace", "pr-../../x"},
	} {
		if got, path := (Leftover{Command: command, Dir: t.TempDir()}).namespace(); got != "" || path != "" {
			t.Errorf("namespace of %v is %q in %q", command, got, path)
		}
	}
	dir := t.TempDir()
	if !(Leftover{Dir: dir}).nothing() {
		t.Error("a browser is looked for where there was none")
	}
	for _, path := range []string{"/", "/etc", "relative/pr-0123456789abcdef", "", "/tmp/pr-0123", "/tmp/pr-0123456789abcdef/.."} {
		if err := os.WriteFile(runFile(dir), []byte(path), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _ := (Leftover{Dir: dir}).namespace(); got != "" {
			t.Errorf("%q is taken for our namespace %q", path, got)
		}
	}
	if (Leftover{Dir: dir}).nothing() {
		t.Error("a start that was killed early is not looked for")
	}
	if a, b := randomName(), randomName(); a == b || !ourName.MatchString(a) {
		t.Errorf("names %s and %s", a, b)
	}
}

// The socket's directory goes only when it is the profile's own, and nothing
// else in it is touched.
func TestRemoveSingleton(t *testing.T) {
	for name, tt := range map[string]struct {
		cookie string   // in the socket's directory; the profile's is 42
		more   []string // further files in it
		gone   bool
		fails  bool
	}{
		"ours":                 {cookie: "42", gone: true},
		"another profile's":    {cookie: "43"},
		"no cookie":            {},
		"with somebody's file": {cookie: "42", more: []string{"letter"}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			profile, dir := t.TempDir(), filepath.Join(t.TempDir(), "org.chromium.Chromium.AbCdEf")
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(os.Mkdir(dir, 0o700))
			must(os.WriteFile(filepath.Join(dir, "SingletonSocket"), nil, 0o600))
			must(os.Symlink(filepath.Join(dir, "SingletonSocket"), filepath.Join(profile, "SingletonSocket")))
			must(os.Symlink("42", filepath.Join(profile, "SingletonCookie")))
			if tt.cookie != "" {
				must(os.Symlink(tt.cookie, filepath.Join(dir, "SingletonCookie")))
			}
			for _, f := range tt.more {
				must(os.WriteFile(filepath.Join(dir, f), nil, 0o600))
			}
			if err := removeSingleton(profile); (err != nil) != tt.fails {
				t.Error(err)
			}
			if _, err := os.Lstat(dir); (err != nil) != tt.gone {
				t.Errorf("the directory: %v", err)
			}
			for _, f := range tt.more {
				_, err := os.Lstat(filepath.Join(dir, f))
				must(err)
			}
		})
	}
}

// What the recording was given as a secret, and what the browser can't live
// with, does not reach it.
func TestEnvironment(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	env := environment(Options{Display: ":7", Xauthority: "/x", Env: []string{
		"UPLOADS_TOKEN=secret", "UPLOADS_WORKSPACE=w", "PROOFREEL_PAGE=http://u:secret@h", "TMPDIR=/no/such/place", "DISPLAY=:1", "LANG=C",
		"AGENT_BROWSER_RESTORE_X=1",
	}}, "/profile")
	joined := strings.Join(env, "\n")
	for _, not := range []string{"secret", "UPLOADS_", "TMPDIR", ":1", "RESTORE"} {
		if strings.Contains(joined, not) {
			t.Errorf("%s is in the environment: %v", not, env)
		}
	}
	for name, want := range map[string]string{"HOME": me.HomeDir, "LANG": "C", "DISPLAY": ":7", ownerName: "/profile"} {
		if got := variable(env, name); got != want {
			t.Errorf("%s=%s, want %s", name, got, want)
		}
	}
	tmp := t.TempDir()
	env = environment(Options{Env: []string{"HOME=/h", "TMPDIR=" + tmp}}, "/profile")
	if variable(env, "HOME") != "/h" || variable(env, "TMPDIR") != tmp {
		t.Errorf("changed: %v", env)
	}
}

func TestWithoutPage(t *testing.T) {
	for _, tt := range []struct{ text, page, want string }{
		{"open http://h/p: refused", "http://h/p", "open http://h/p: refused"},
		{"open http://h/p?token=x: refused", "http://h/p?token=x", "open [the page]: refused"},
		{"at http://bob:pw@h/other", "http://bob:pw@h/p", "at http://[redacted]@h/other"},
		{"anything", "", "anything"},
	} {
		if got := withoutPage(tt.text, tt.page); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// A page that can't be there is told, and nothing is told of one that may be.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = free.Close()
	there := filepath.Join(t.TempDir(), "a b.html")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := []string{"https_proxy=http://proxy:3128"}
	for _, tt := range []struct {
		page string
		env  []string
		want string
	}{
		{"about:blank", nil, ""},
		{"http://" + l.Addr().String(), nil, ""},
		{"http://u:pw@" + free.Addr().String() + "/x?y", nil, "Nothing listened at " + free.Addr().String()},
		{"http://" + free.Addr().String(), proxy, "Nothing listened"}, // the own machine is never reached by proxy
		{"http://192.0.2.1:81/", proxy, ""},
		{"file://" + strings.ReplaceAll(there, " ", "%20"), nil, ""},
		{"file:///no/such/file.html", nil, "There is no file /no/such/file.html"},
		{"http://[bad", nil, ""},
	} {
		got := unreachable(t.Context(), tt.page, tt.env)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || strings.Contains(got, "pw") {
			t.Errorf("%s: %q, want %q", tt.page, got, tt.want)
		}
	}
	// A silent host must not hold the start.
	began := time.Now()
	p := startProbe(t.Context(), "http://192.0.2.1:81/", nil)
	if note := p.stop(); note != "" || time.Since(began) > bounded {
		t.Errorf("note %q after %v", note, time.Since(began))
	}
}

func TestExplain(t *testing.T) {
	for _, tt := range []struct{ out, want string }{
		{`{"success":false,"data":null,"error":"one"}` + "\n", "one"},
		{`[{"command":["open","http://u:pw@h"],"error":"two","result":null,"success":false}]` + "\n", "two"},
		{`note` + "\n" + `[{"error":null},{"error":"three"}]`, "three"},
		{" bare words \n", "bare words"},
		{"", ""},
	} {
		if got := explain(tt.out); got != tt.want {
			t.Errorf("explain(%q) = %q, want %q", tt.out, got, tt.want)
		}
	}
}

// What another program printed goes into errors and manifests: it must stay
// short and be text.
func FuzzExplain(f *testing.F) {
	for _, s := range []string{`{"error":"x"}`, `[{"error":"x"}]`, `[null]`, `[1]`, "{", "\xff\n", strings.Repeat("é", 2000), `{"error":"` + strings.Repeat("語", 900) + `"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, out string) {
		if got := explain(out); len(got) > 2000 || !utf8.ValidString(got) {
			t.Errorf("explain(%q) = %q", out, got)
		}
	})
}
