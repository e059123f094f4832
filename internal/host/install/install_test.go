package install

import (
	"strings"
	"testing"
)

// A distribution that is only *like* a known one must still get its manager,
// and its own ID comes before what it is like.
func TestFromOSRelease(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Manager
	}{
		{"debian", "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n", Apt},
		{"derivative", "ID=kali\nID_LIKE=debian\n", Apt},
		{"like first", "ID_LIKE=\"rhel centos fedora\"\nID=\"ol\"\n", Dnf},
		{"arch", "ID=arch\n", Pacman},
		{"alpine", "ID=alpine", Apk},
		{"leap", "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", Zypper},
		{"nixos", "ID=nixos\n", Unknown},
		{"no text", "", Unknown},
		{"noise", "=\n\x00\nID", Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := FromOSRelease([]byte(c.text)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestHint(t *testing.T) {
	for _, c := range []struct {
		name  string
		host  Host
		tools []Tool
		want  string
	}{
		{"root has no sudo", Host{Apt, true}, []Tool{FFmpeg, Xvfb}, "install with: apt-get install -y --no-install-recommends ffmpeg xvfb"},
		{"user", Host{Apt, false}, []Tool{EmojiFont}, "install with: sudo apt-get install -y --no-install-recommends fonts-noto-color-emoji"},
		{"npm", Host{Apk, true}, []Tool{AgentBrowser}, "install with: npm install -g agent-browser@" + AgentBrowserVersion},
		{"fedora's own ffmpeg is no use", Host{Dnf, true}, []Tool{FFmpeg}, "install with: dnf install -y ffmpeg; the complete ffmpeg is in the RPM Fusion repository (rpmfusion.org)"},
		{"unknown machine", Host{Unknown, true}, []Tool{Openbox}, "install openbox with this machine's package manager"},
		{"brew", Host{Brew, true}, []Tool{FFmpeg, Xvfb}, "install with: brew install ffmpeg; install Xvfb with this machine's package manager"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.host.Hint(c.tools...); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Every tool has a package in every Linux manager: a gap in the table would
// print an empty name.
func TestEveryToolIsKnown(t *testing.T) {
	for _, m := range []Manager{Apt, Dnf, Pacman, Apk, Zypper} {
		for _, tool := range []Tool{FFmpeg, Xvfb, Openbox, Chromium, Fonts, EmojiFont, CJKFont} {
			if name := packageName(m, tool); name == "" || strings.Contains(name, " ") {
				t.Errorf("%s: %s has package %q", m, tool, name)
			}
		}
	}
}
