package browser

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResolve(t *testing.T) {
	tests := []struct {
		kind string
		have []string
		want Resolved
		fail bool
	}{
		{"auto", []string{"agent-browser", "google-chrome"}, Resolved{KindAgentBrowser, "/bin/agent-browser", "/bin/google-chrome"}, false},
		{"", []string{"agent-browser"}, Resolved{KindAgentBrowser, "/bin/agent-browser", ""}, false},
		{"auto", []string{"chrome"}, Resolved{KindChromium, "/bin/chrome", ""}, false},
		{"auto", nil, Resolved{}, true},
		{"agent-browser", []string{"chromium"}, Resolved{}, true},
		{"chromium", []string{"agent-browser", "chromium", "chrome"}, Resolved{KindChromium, "/bin/chromium", ""}, false},
		{"chromium", []string{"agent-browser"}, Resolved{}, true},
		{"none", nil, Resolved{Kind: KindNone}, false},
		{"lynx", []string{"chromium"}, Resolved{}, true},
	}
	for _, tt := range tests {
		got, err := Resolve(tt.kind, func(name string) (string, error) {
			if slices.Contains(tt.have, name) {
				return "/bin/" + name, nil
			}
			return "", errors.New("no such program")
		})
		if (err != nil) != tt.fail || cmp.Diff(tt.want, got) != "" {
			t.Errorf("Resolve(%q) with %v = %+v, %v", tt.kind, tt.have, got, err)
		}
	}
}

// agent-browser looks for its sockets where these variables say; a wrong
// place would leave them behind.
func TestNamespaceDir(t *testing.T) {
	home := "HOME=/h"
	for want, env := range map[string][]string{
		"/h/.agent-browser/namespaces/n": {home},
		"/r/agent-browser/namespaces/n":  {home, "XDG_RUNTIME_DIR=/r"},
		"/s/namespaces/n":                {home, "XDG_RUNTIME_DIR=/r", "AGENT_BROWSER_SOCKET_DIR=/s"},
	} {
		if got := namespaceDir(env, "n"); got != want {
			t.Errorf("namespaceDir(%v) = %s, want %s", env, got, want)
		}
	}
}

// Only directories with our own random name are ever removed.
func TestReapRemovesOnlyOurs(t *testing.T) {
	for _, command := range [][]string{nil, {"agent-browser"}, {"agent-browser", "--namespace"}, {"agent-browser", "--namespace", "default"}, {"agent-browser", "--namespace", ".."}} {
		if got := (Leftover{Command: command}).namespace(); got != "" {
			t.Errorf("namespace of %v is %q", command, got)
		}
	}
	if a, b := randomName(), randomName(); a == b || len(a) != len("pr-")+16 {
		t.Errorf("names %s and %s", a, b)
	}
}
