package browser

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// What is said when the browser's own sandbox is off.
const (
	noSandboxRoot = "The browser runs as root, so its own sandbox is off. Run as an ordinary user to have it on."
	noSandbox     = "agent-browser has turned the browser's own sandbox off, as it does in containers."
)

// sandboxNote tells when a browser runs without its sandbox.
func sandboxNote(main proc.Identity) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", main.PID))
	switch {
	case err != nil || !bytes.Contains(raw, []byte("--no-sandbox")):
		return ""
	case asRoot():
		return noSandboxRoot
	default:
		return noSandbox
	}
}

// flags are the browser's flags. None of them is visible to a page.
//
// --test-type takes away the bar that warns of --no-sandbox, which would push
// down every page of the film by its height; it changes prompts of the
// browser, not pages. agent-browser always gets it, because it adds
// --no-sandbox itself where it believes to be in a container.
func flags(o Options) []string {
	f := []string{
		"--ozone-platform=x11", // a Wayland session's variables must not win
		"--window-position=0,0",
		fmt.Sprintf("--window-size=%d,%d", o.Width, o.Height),
		"--start-maximized",
		"--no-first-run",
		"--no-default-browser-check",
		"--hide-crash-restore-bubble",
		"--disable-background-networking",
		"--disable-sync", // no "Sign in to Chromium?" in the bar
		"--disable-breakpad",
		"--password-store=basic", // no prompt of a keyring
	}
	if asRoot() {
		f = append(f, "--no-sandbox")
	}
	if asRoot() || o.Resolved.Kind == KindAgentBrowser {
		f = append(f, "--test-type")
	}
	if smallShm() {
		f = append(f, "--disable-dev-shm-usage")
	}
	return f
}

// smallShm says whether /dev/shm is too small for Chromium, whose tabs crash
// then: containers have 64 MB by default.
func smallShm() bool {
	const enough = 512 << 20
	var st unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &st); err != nil {
		return true
	}
	return int64(st.Bavail)*st.Bsize < enough
}

// ownerName is the variable by which the processes of one browser are found.
// Its value is the profile's path.
const ownerName = "PROOFREEL_BROWSER"

// environment is the caller's without what would take the browser elsewhere
// (another display, a remote browser, somebody's saved state), and without the
// secrets that the recording itself was given.
func environment(o Options, profile string) []string {
	drop := []string{
		"DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XDG_SESSION_TYPE", "DESKTOP_STARTUP_ID", ownerName,
		"AGENT_BROWSER_NAMESPACE", "AGENT_BROWSER_SESSION", "AGENT_BROWSER_SESSION_NAME", "AGENT_BROWSER_HEADED",
		"AGENT_BROWSER_ARGS", "AGENT_BROWSER_PROFILE", "AGENT_BROWSER_STATE", "AGENT_BROWSER_PROVIDER", "AGENT_BROWSER_CDP",
		"AGENT_BROWSER_AUTO_CONNECT", "AGENT_BROWSER_ENGINE", "AGENT_BROWSER_PIN_TAB", "AGENT_BROWSER_JSON", "AGENT_BROWSER_DEBUG",
		"AGENT_BROWSER_DAEMON", "AGENT_BROWSER_IDLE_TIMEOUT_MS", "AGENT_BROWSER_INIT_SCRIPTS", "AGENT_BROWSER_ENABLE",
		"AGENT_BROWSER_STREAM_PORT", "AGENT_BROWSER_IOS_DEVICE", "AGENT_BROWSER_IOS_UDID", "AGENT_BROWSER_WEBGPU",
		"PROOFREEL_PAGE",
	}
	if home := homeOf(o.Env); home != variable(o.Env, "HOME") {
		drop = append(drop, "HOME")
	}
	if st, err := os.Stat(variable(o.Env, "TMPDIR")); err != nil || !st.IsDir() {
		drop = append(drop, "TMPDIR") // the browser would not start
	}
	env := slices.DeleteFunc(slices.Clone(o.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(drop, name) || strings.HasPrefix(name, "AGENT_BROWSER_RESTORE") || strings.HasPrefix(name, "UPLOADS_")
	})
	if home := homeOf(o.Env); home != "" && slices.Contains(drop, "HOME") {
		env = append(env, "HOME="+home)
	}
	return append(env,
		"DISPLAY="+o.Display, "XAUTHORITY="+o.Xauthority, "XDG_SESSION_TYPE=x11", ownerName+"="+profile,
		"BREAKPAD_DUMP_LOCATION="+profile, // else crash reports go to the user's configuration
		"AGENT_BROWSER_NO_VERSION_CHECK=1", "AGENT_BROWSER_NO_XVFB=1",
	)
}

// variable reads a variable of an environment list; the last one counts.
func variable(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, found := strings.CutPrefix(kv, name+"="); found {
			return v
		}
	}
	return ""
}
