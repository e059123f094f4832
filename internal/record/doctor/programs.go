package doctor

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/host/install"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
)

// needed is what the recorder's ffmpeg command lines use.
func needed() ffmpeg.Need {
	return ffmpeg.Need{
		ffmpeg.Encoder: {"libx264"},
		ffmpeg.Decoder: {"h264", "rawvideo"},
		ffmpeg.Muxer:   {"flv", "mp4", "null"},
		ffmpeg.Demuxer: {"h264", "matroska", "mov"},
		ffmpeg.Filter:  {"scale", "format", "pad", "fillborders"},
		// fps_mode came with ffmpeg 5.1; -vsync, which it replaced, is gone from 9.
		ffmpeg.Option: {"fps_mode", "progress", "stats_period", "enc_time_base", "force_key_frames"},
	}
}

func ffmpegChecks(ctx context.Context, d Deps) []Check {
	c := Check{Name: "ffmpeg", Level: Error}
	path, err := ffmpeg.Find()
	if err != nil {
		c.Detail, c.Fix = err.Error(), d.Host.Hint(install.FFmpeg)
		return []Check{c}
	}
	info, err := ffmpeg.Probe(ctx, path)
	if err == nil {
		err = info.Check(ctx, needed())
	}
	if err != nil {
		c.Detail, c.Fix = err.Error(), d.Host.Hint(install.FFmpeg)+"; version 5.1 or newer with libx264 is needed, and "+ffmpeg.EnvPath+" may name another build"
		return []Check{c}
	}
	c.OK, c.Detail = true, info.Path+", version "+info.Version.Text+", with libx264"
	return []Check{c, grabberCheck(ctx, d, info)}
}

// grabberCheck: without x11grab the second way of capture is missing.
func grabberCheck(ctx context.Context, d Deps, info ffmpeg.Info) Check {
	c := Check{Name: "grabbers", Level: Warning}
	have, err := info.Names(ctx, ffmpeg.Grabber)
	if err != nil {
		c.Detail, c.Fix = err.Error(), d.Host.Hint(install.FFmpeg)
		return c
	}
	var screens []string
	for _, name := range have {
		switch name {
		case "x11grab", "kmsgrab", "pipewiregrab", "gdigrab", "avfoundation", "fbdev":
			screens = append(screens, name)
		}
		c.OK = c.OK || name == "x11grab"
	}
	c.Detail = "screens can be grabbed with: " + strings.Join(screens, ", ")
	if !c.OK {
		c.Detail = "ffmpeg has no x11grab: --engine x11grab can't be used, and there is nothing to fall back to"
		c.Fix = d.Host.Hint(install.FFmpeg)
	}
	return c
}

func screenChecks(_ context.Context, d Deps) []Check {
	return []Check{
		programCheck(d, "Xvfb", install.Xvfb, Error, "the virtual screen can't be started"),
		programCheck(d, "openbox", install.Openbox, Error, "windows on the virtual screen can't be managed"),
	}
}

func programCheck(d Deps, name string, tool install.Tool, level Level, without string) Check {
	c := Check{Name: name, Level: level}
	path, err := exec.LookPath(name)
	if err != nil {
		c.Detail, c.Fix = name+" is not in PATH: "+without, d.Host.Hint(tool)
		return c
	}
	c.OK, c.Detail = true, path
	return c
}

// browserChecks: agent-browser drives, Chromium shows.
func browserChecks(ctx context.Context, d Deps) []Check {
	chrome := Check{Name: "chromium", Level: Error}
	chrome.Detail, chrome.OK = findChromium(d)
	if !chrome.OK {
		chrome.Fix = d.Host.Hint(install.Chromium) + "; or record without a browser: --browser none"
	}
	agent := Check{Name: "agent-browser", Level: Warning}
	path, err := exec.LookPath("agent-browser")
	if err != nil {
		agent.Detail = "agent-browser is not in PATH: a plain Chromium is started, and there is no command to drive it"
		agent.Fix = d.Host.Hint(install.AgentBrowser)
		return []Check{chrome, agent}
	}
	version, err := ask(ctx, path, "--version")
	if err != nil {
		agent.Detail, agent.Fix = path+" does not answer: "+err.Error(), d.Host.Hint(install.AgentBrowser)
		return []Check{chrome, agent}
	}
	agent.OK, agent.Detail = true, path+", "+version
	if version != "agent-browser "+install.AgentBrowserVersion {
		agent.Detail += " (tested with " + install.AgentBrowserVersion + ")"
	}
	return []Check{chrome, agent}
}

// findChromium looks where agent-browser looks: at what its variable names,
// then in PATH.
func findChromium(d Deps) (detail string, ok bool) {
	if path := d.Getenv("AGENT_BROWSER_EXECUTABLE_PATH"); path != "" {
		if _, err := exec.LookPath(path); err != nil {
			return "AGENT_BROWSER_EXECUTABLE_PATH names " + path + ", which can't be run", false
		}
		return path, true
	}
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "none of these is in PATH: " + strings.Join(names, ", "), false
}

// ask gives the first line that a program prints.
func ask(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if cause := ctx.Err(); err != nil && cause != nil {
		err = cause
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line), err
}
