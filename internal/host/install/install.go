// Package install knows how the programs that Proofreel needs are called in
// each package manager, and says what to type. It installs nothing itself.
package install

import (
	"bufio"
	"bytes"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Manager is a package manager.
type Manager string

// The package managers that are known.
const (
	Apt     Manager = "apt"
	Dnf     Manager = "dnf"
	Pacman  Manager = "pacman"
	Apk     Manager = "apk"
	Zypper  Manager = "zypper"
	Brew    Manager = "brew"
	Unknown Manager = ""
)

// Tool is something that can be installed.
type Tool string

// The tools.
const (
	FFmpeg       Tool = "ffmpeg"
	Xvfb         Tool = "Xvfb"
	Openbox      Tool = "openbox"
	Chromium     Tool = "chromium"
	AgentBrowser Tool = "agent-browser"
	Fonts        Tool = "fonts"
	EmojiFont    Tool = "emoji font"
	CJKFont      Tool = "CJK font"
)

// AgentBrowserVersion is the version of agent-browser that is tested and
// installed. scripts/install-deps.sh pins the same.
const AgentBrowserVersion = "0.41.2"

// Host is what the advice depends on.
type Host struct {
	Manager Manager
	Root    bool // the caller may install without sudo
}

// Detect looks at this machine.
func Detect() Host {
	h := Host{Root: os.Geteuid() == 0}
	if runtime.GOOS == "darwin" {
		return Host{Manager: Brew, Root: true} // brew refuses sudo
	}
	for _, p := range []string{"/etc/os-release", "/usr/lib/os-release"} { // os-release(5)
		if raw, err := os.ReadFile(p); err == nil {
			h.Manager = FromOSRelease(raw)
			return h
		}
	}
	return h
}

// FromOSRelease tells the package manager from the text of /etc/os-release:
// from ID, else from the first of ID_LIKE that is known.
func FromOSRelease(raw []byte) Manager {
	var ids []string
	sc := bufio.NewScanner(bytes.NewReader(raw))
	for sc.Scan() {
		key, value, ok := strings.Cut(strings.TrimSpace(sc.Text()), "=")
		if !ok {
			continue
		}
		value = strings.Trim(value, `"'`)
		switch key {
		case "ID":
			ids = slices.Insert(ids, 0, value)
		case "ID_LIKE":
			ids = append(ids, strings.Fields(value)...)
		}
	}
	for _, id := range ids {
		if m := fromID(strings.ToLower(id)); m != Unknown {
			return m
		}
	}
	return Unknown
}

func fromID(id string) Manager {
	switch id {
	case "debian", "ubuntu", "raspbian", "linuxmint", "pop":
		return Apt
	case "fedora", "rhel", "centos", "rocky", "almalinux", "amzn":
		return Dnf
	case "arch", "manjaro", "endeavouros":
		return Pacman
	case "alpine":
		return Apk
	case "suse", "opensuse", "opensuse-leap", "opensuse-tumbleweed", "sles":
		return Zypper
	default:
		return Unknown
	}
}

// packageName gives the package that holds the tool; empty: none is known.
func packageName(m Manager, t Tool) string {
	names := map[Tool][5]string{ // apt, dnf, pacman, apk, zypper
		FFmpeg:    {"ffmpeg", "ffmpeg", "ffmpeg", "ffmpeg", "ffmpeg"},
		Xvfb:      {"xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb", "xvfb", "xorg-x11-server-Xvfb"},
		Openbox:   {"openbox", "openbox", "openbox", "openbox", "openbox"},
		Chromium:  {"chromium", "chromium", "chromium", "chromium", "chromium"},
		Fonts:     {"fonts-liberation", "liberation-fonts", "ttf-liberation", "font-liberation", "liberation-fonts"},
		EmojiFont: {"fonts-noto-color-emoji", "google-noto-color-emoji-fonts", "noto-fonts-emoji", "font-noto-emoji", "noto-coloremoji-fonts"},
		CJKFont:   {"fonts-wqy-zenhei", "google-noto-sans-cjk-fonts", "noto-fonts-cjk", "font-noto-cjk", "noto-sans-cjk-fonts"},
	}
	column := slices.Index([]Manager{Apt, Dnf, Pacman, Apk, Zypper}, m)
	if column >= 0 {
		return names[t][column]
	}
	if m == Brew && t == FFmpeg {
		return "ffmpeg"
	}
	return ""
}

// Hint says in one sentence how to install the tools here.
func (h Host) Hint(tools ...Tool) string {
	var packages, others []string
	npm := false
	for _, t := range tools {
		switch name := packageName(h.Manager, t); {
		case t == AgentBrowser:
			npm = true
		case name == "":
			others = append(others, string(t))
		default:
			packages = append(packages, name)
		}
	}
	var parts []string
	if len(packages) > 0 {
		parts = append(parts, "install with: "+h.command(packages))
	}
	if npm {
		parts = append(parts, "install with: "+h.sudo()+"npm install -g agent-browser@"+AgentBrowserVersion)
	}
	if len(others) > 0 {
		parts = append(parts, "install "+strings.Join(others, ", ")+" with this machine's package manager")
	}
	if h.Manager == Dnf && slices.Contains(tools, FFmpeg) {
		// Fedora's own ffmpeg-free has no libx264.
		parts = append(parts, "the complete ffmpeg is in the RPM Fusion repository (rpmfusion.org)")
	}
	return strings.Join(parts, "; ")
}

func (h Host) sudo() string {
	if h.Root {
		return ""
	}
	return "sudo "
}

func (h Host) command(packages []string) string {
	list := strings.Join(packages, " ")
	switch h.Manager {
	case Apt:
		return h.sudo() + "apt-get install -y --no-install-recommends " + list
	case Dnf:
		return h.sudo() + "dnf install -y " + list
	case Pacman:
		return h.sudo() + "pacman -S --needed " + list
	case Apk:
		return h.sudo() + "apk add " + list
	case Zypper:
		return h.sudo() + "zypper install " + list
	default:
		return "brew install " + list
	}
}
