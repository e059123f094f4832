package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// The length of every film of the comparison.
const (
	fps     = 30
	seconds = 5
	frames  = fps * seconds
	width   = 1920
	height  = 1080
)

func allScenes() []string { return []string{"canvas", "webgl", "dom"} }

// The settings: everybody's encoder at x264 veryfast, CRF 18, as far as it lets
// itself be set; and everybody's defaults.
const (
	equal    = "equal"
	defaults = "default"
)

func allSettings() []string { return []string{equal, defaults} }

func known(list string, all []string) bool {
	return !slices.ContainsFunc(strings.Split(list, ","), func(s string) bool { return !slices.Contains(all, s) })
}

// Who makes a film, or a part of one.
const (
	ours        = "proofreel"
	framesAlone = "proofreel's frames alone"
	encodeAlone = "proofreel's encoder alone"
	ffmpegAlone = "one ffmpeg alone"
	remotion    = "remotion"
	hyperframes = "hyperframes"
)

// benchCase is one way to make one film, or a part of it.
type benchCase struct {
	Scene   string `json:"scene"`
	Setting string `json:"setting"`
	Name    string `json:"name"`           // who
	How     string `json:"how,omitempty"`  // what is set, where a renderer can be told several ways
	Note    string `json:"note,omitempty"` // what it can't be told
	argv    func(out string) []string
	env     []string // beside the environment
	film    bool     // it makes a film that can be judged
}

func (c benchCase) title() string {
	name := c.Scene + "/" + c.Setting + " " + c.Name
	if c.How != "" {
		name += ", " + c.How
	}
	return name
}

// cases lists what is measured of a scene.
func (b *bench) cases(scene string, settings []string, only, truth string) []benchCase {
	var all []benchCase
	for _, s := range settings {
		all = append(all, b.own(scene, s, truth)...)
		all = append(all, b.remotion(scene, s)...)
		all = append(all, b.hyperframes(scene, s))
	}
	if only == "" {
		return all
	}
	words := strings.Split(only, ",")
	return slices.DeleteFunc(all, func(c benchCase) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(c.Name, w) })
	})
}

// own is our film and the two parts that bound it.
func (b *bench) own(scene, setting, truth string) []benchCase {
	file := filepath.Join(b.scenes, scene+".js")
	film := func(out string) []string {
		return []string{b.product, "render", file, "-o", out, "--output", "json"}
	}
	encoder := []string{"-encode", truth}
	if setting == equal {
		film = func(out string) []string {
			return []string{b.self, partCommand, "-film", file, "-preset", "veryfast", "-crf", "18", "-o", out}
		}
		encoder = append(encoder, "-preset", "veryfast", "-crf", "18")
	}
	cases := []benchCase{
		{Scene: scene, Setting: setting, Name: ours, film: true, argv: film},
		{Scene: scene, Setting: setting, Name: encodeAlone, film: true, argv: func(out string) []string {
			return append([]string{b.self, partCommand, "-o", out}, encoder...)
		}},
		{Scene: scene, Setting: setting, Name: framesAlone, argv: func(string) []string {
			return []string{b.self, partCommand, "-frames", file}
		}},
	}
	if setting == equal {
		cases = append(cases, benchCase{Scene: scene, Setting: setting, Name: ffmpegAlone, How: "its own threads", film: true, argv: func(out string) []string {
			return []string{
				b.ffmpeg, "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "bgr0", "-video_size", fmt.Sprintf("%dx%d", width, height),
				"-framerate", fmt.Sprint(fps), "-i", truth,
				"-vf", "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-crf", "18",
				"-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv", "-movflags", "+faststart", out,
			}
		}})
	}
	return cases
}

// remotion renders from a bundle that was made before: its bundler's 12 s are
// not counted. Its default is one tab on two cores; as many tabs as cores is
// what its own documentation proposes to try.
func (b *bench) remotion(scene, setting string) []benchCase {
	gl := ""
	if scene == "webgl" {
		gl = `,"gl":"swangle"` // else it finds no GL on a machine without a GPU
	}
	dir := filepath.Join(b.peers, "remotion")
	ways := []struct{ how, options string }{
		{fmt.Sprintf("concurrency %d", b.cores), fmt.Sprintf(`{"concurrency":%d%s}`, b.cores, gl)},
		{"concurrency of its own choice", strings.Replace("{"+gl+"}", "{,", "{", 1)},
	}
	if setting == equal {
		ways = ways[:1]
		ways[0].options = fmt.Sprintf(`{"concurrency":%d,"x264Preset":"veryfast","crf":18%s}`, b.cores, gl)
	}
	var cases []benchCase
	for _, w := range ways {
		cases = append(cases, benchCase{
			Scene: scene, Setting: setting, Name: remotion, How: w.how, film: true,
			argv: func(out string) []string {
				return []string{b.node, filepath.Join(dir, "render.mjs"), filepath.Join(dir, "bundle"), scene, out, b.browser, w.options}
			},
		})
	}
	return cases
}

func (b *bench) hyperframes(scene, setting string) benchCase {
	c := benchCase{
		Scene: scene, Setting: setting, Name: hyperframes, film: true, env: b.hyperframesEnv(),
		argv: func(out string) []string { return b.hyperframesArgs(scene, out) },
	}
	if setting == equal {
		c.Note = "the preset can't be chosen: it is medium"
		c.argv = func(out string) []string { return append(b.hyperframesArgs(scene, out), "--crf", "18") }
	}
	return c
}

func (b *bench) hyperframesArgs(scene, out string) []string {
	return []string{b.node, filepath.Join(b.peers, "node_modules", "hyperframes", b.hyperframesBin), "render", filepath.Join(b.peers, "hyperframes", scene), "--output", out}
}

// hyperframesEnv keeps it from the network and out of the user's home.
func (b *bench) hyperframesEnv() []string {
	return []string{
		"HYPERFRAMES_BROWSER_PATH=" + b.browser, "HYPERFRAMES_NO_TELEMETRY=1", "DO_NOT_TRACK=1",
		"HYPERFRAMES_NO_UPDATE_CHECK=1", "HYPERFRAMES_SKIP_SKILLS=1", "HOME=" + filepath.Join(b.peers, "home"), "CI=1",
	}
}
