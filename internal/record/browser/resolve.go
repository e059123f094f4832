package browser

import (
	"fmt"
	"os"
	"os/exec"
)

// Kind is a kind of browser.
type Kind string

// The kinds.
const (
	KindAgentBrowser Kind = "agent-browser"
	KindChromium     Kind = "chromium"
	KindNone         Kind = "none"
)

// KindAuto asks for agent-browser where it is found, else Chromium.
const KindAuto = "auto"

// Resolved is a kind with the programs that it needs.
type Resolved struct {
	Kind Kind
	Path string // agent-browser, or the browser itself
	// Browser is the browser that agent-browser is to start; empty: the one
	// that it has installed itself.
	Browser string
}

// Resolve finds the programs for a kind, or for KindAuto (also written as the
// empty string). lookPath may be nil: exec.LookPath. The error is a
// *StartError with a hint what to install.
func Resolve(kind string, lookPath func(string) (string, error)) (Resolved, error) {
	if lookPath == nil {
		lookPath = exec.LookPath
	}
	chromium := findChromium(lookPath)
	switch Kind(kind) {
	case KindNone:
		return Resolved{Kind: KindNone}, nil
	case KindAgentBrowser, KindAuto, "":
		path, err := lookPath("agent-browser")
		if err == nil {
			return Resolved{Kind: KindAgentBrowser, Path: path, Browser: chromium}, nil
		}
		if Kind(kind) == KindAgentBrowser {
			return Resolved{}, &StartError{
				Kind: KindAgentBrowser, Err: errNotFound,
				Hint: "Install it with: npm install -g agent-browser. Or choose --browser chromium.",
			}
		}
		if chromium == "" {
			return Resolved{}, &StartError{
				Kind: KindAgentBrowser, Err: fmt.Errorf("neither agent-browser nor Chromium: %w", errNotFound),
				Hint: "Install it with: npm install -g agent-browser && agent-browser install. Or choose --browser none.",
			}
		}
		return Resolved{Kind: KindChromium, Path: chromium}, nil
	case KindChromium:
		if chromium == "" {
			return Resolved{}, &StartError{
				Kind: KindChromium, Err: errNotFound,
				Hint: "Install Chromium (package chromium, or chromium-browser) or Google Chrome. Or choose --browser none.",
			}
		}
		return Resolved{Kind: KindChromium, Path: chromium}, nil
	default:
		return Resolved{}, fmt.Errorf("%q is no kind of browser: agent-browser, chromium and none are", kind)
	}
}

func findChromium(lookPath func(string) (string, error)) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := lookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// asRoot says whether this process is the superuser, as whom Chromium refuses
// to run with its sandbox.
func asRoot() bool { return os.Geteuid() == 0 }
