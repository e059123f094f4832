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
