package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/proofreel/proofreel/bench/internal/gauge"
)

// row is one run of one case.
type row struct {
	benchCase
	cost
	Run    int     `json:"run"`
	FPS    float64 `json:"fps"`   // of the whole process: frames over wall time
	CPUms  float64 `json:"cpuMs"` // a frame
	Bytes  int64   `json:"bytes,omitempty"`
	SSIM   float64 `json:"ssim,omitempty"`   // of the decoded RGB to the exact frames
	Others float64 `json:"others"`           // cores that other processes used meanwhile
	Codec  string  `json:"format,omitempty"` // as ffprobe names the film's pixels
}

// run measures one case once and judges its film.
func (b *bench) run(ctx context.Context, c benchCase, n int, truth string, keep bool) (row, error) {
	dir, err := os.MkdirTemp(b.work, "run-")
	if err != nil {
		return row{}, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := filepath.Join(dir, "film.mp4")
	before, err := gauge.Busy()
	if err != nil {
		return row{}, err
	}
	took, err := measure(ctx, b.self, dir, c.argv(out), c.env)
	if err != nil {
		return row{}, err
	}
	after, err := gauge.Busy()
	if err != nil {
		return row{}, err
	}
	r := row{
		benchCase: c, cost: took, Run: n + 1,
		FPS: frames / took.WallSeconds, CPUms: took.CPUSeconds * 1000 / frames,
		Others: max(0, ((after-before).Seconds()-took.CPUSeconds)/took.WallSeconds),
	}
	if !c.film {
		return r, nil
	}
	if err := b.judge(ctx, &r, out, truth); err != nil {
		return r, fmt.Errorf("judge the film: %w", err)
	}
	if keep {
		kept := filepath.Join(b.work, fmt.Sprintf("%s-%s-%s.mp4", c.Scene, c.Setting, regexp.MustCompile(`\W+`).ReplaceAllString(c.Name+" "+c.How, "-")))
		return r, os.Rename(out, kept) //nolint:wrapcheck // os says which files
	}
	return r, nil
}

// probed is what ffprobe says of a film.
type probed struct {
	Streams []struct {
		PixFmt string `json:"pix_fmt"`
		Range  string `json:"color_range"`
		Space  string `json:"color_space"`
		Frames string `json:"nb_read_frames"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
	} `json:"streams"`
}

// judge holds a film against the exact frames, as a player would show it.
func (b *bench) judge(ctx context.Context, r *row, film, truth string) error {
	st, err := os.Stat(film)
	if err != nil {
		return fmt.Errorf("look at the film: %w", err)
	}
	r.Bytes = st.Size()
	raw, err := exec.CommandContext(ctx, b.ffprobe, "-v", "error", "-select_streams", "v:0", "-count_frames", "-show_streams", "-of", "json", film).Output()
	if err != nil {
		return fmt.Errorf("ffprobe: %w", err)
	}
	var p probed
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("read ffprobe's answer: %w", err)
	}
	if len(p.Streams) != 1 {
		return errors.New("there is no picture in it")
	}
	s := p.Streams[0]
	if s.Frames != strconv.Itoa(frames) || s.Width != width || s.Height != height {
		return fmt.Errorf("it has %s frames of %dx%d, want %d of %dx%d", s.Frames, s.Width, s.Height, frames, width, height)
	}
	r.Codec = s.PixFmt + " " + s.Range + " " + s.Space
	r.SSIM, err = b.ssim(ctx, film, truth, matrixOf(s.Space), rangeOf(s.Range))
	return err
}

// matrixOf is the matrix with which a player turns a film into RGB: that of its
// tag, and BT.709 at this size without one.
func matrixOf(tag string) string {
	switch tag {
	case "bt470bg", "smpte170m":
		return "bt601"
	default:
		return "bt709"
	}
}

func rangeOf(tag string) string {
	if tag == "pc" {
		return "full"
	}
	return "limited"
}

// ssim compares in RGB, over all frames and channels.
func (b *bench) ssim(ctx context.Context, film, truth, matrix, levels string) (float64, error) {
	const exact = "flags=accurate_rnd+full_chroma_int+full_chroma_inp+bicubic"
	graph := fmt.Sprintf("[0:v]scale=%s:in_color_matrix=%s:in_range=%s,format=gbrp,settb=1/30,setpts=N[a];[1:v]format=gbrp,settb=1/30,setpts=N[b];[a][b]ssim", exact, matrix, levels)
	cmd := exec.CommandContext(ctx, b.ffmpeg, "-hide_banner", "-nostats", "-i", film,
		"-f", "rawvideo", "-pix_fmt", "bgr0", "-video_size", fmt.Sprintf("%dx%d", width, height), "-framerate", strconv.Itoa(fps), "-i", truth,
		"-filter_complex", graph, "-f", "null", "-")
	said, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("ffmpeg: %w: %s", err, said[max(0, len(said)-500):])
	}
	return parseSSIM(string(said))
}

func parseSSIM(said string) (float64, error) {
	m := regexp.MustCompile(`SSIM .*All:([0-9.]+)`).FindStringSubmatch(said)
	if m == nil {
		return 0, errors.New("ffmpeg gives no SSIM")
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, fmt.Errorf("read the SSIM: %w", err)
	}
	return v, nil
}
