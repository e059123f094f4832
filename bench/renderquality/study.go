package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/proofreel/proofreel/bench/internal/gauge"
	"github.com/proofreel/proofreel/internal/media/pixel"
)

// Figures are what one take with one setting gave. SSIM is that of ffmpeg's
// filter between the take and the film, both as 4:4:4 of BT.709.
type Figures struct {
	SSIMLuma float64 `json:"ssimLuma"`
	SSIM     float64 `json:"ssim"` // of luma and chroma, weighted as the filter does
	KBytes   float64 `json:"kBytes"`
	// CPU is ffmpeg's user and system time for each frame in milliseconds. It
	// includes its start, and reading the frames from a pipe.
	CPU float64 `json:"cpuMsPerFrame"`
}

type study struct {
	ffmpeg, dir string
	repeats     int
}

// take is a lossless film, and its frames in the two forms that are fed.
type take struct {
	name, path    string
	width, height int
	frames        int
	yuv, jpegs    [][]byte
}

// draw draws a take into a lossless film.
func (s study) draw(ctx context.Context, path string, d drawing, frames int) error {
	p := newPainter()
	_, err := gauge.Feed(ctx, s.ffmpeg, func(w io.Writer) error {
		for i := range frames {
			d.paint(p, float64(i)/rate)
			if _, err := w.Write(p.img.Pix); err != nil {
				return err
			}
		}
		return nil
	}, "-f", "rawvideo", "-pix_fmt", "rgb0", "-video_size", fmt.Sprintf("%dx%d", width, height), "-framerate", strconv.Itoa(rate), "-i", "pipe:0",
		"-c:v", "ffv1", "-pix_fmt", "bgr0", "-y", path)
	return err
}

// open reads a take.
func (s study) open(ctx context.Context, path string) (take, error) {
	t := take{name: filepath.Base(path), path: path}
	var err error
	if t.width, t.height, err = s.size(ctx, path); err != nil {
		return t, err
	}
	cmd := exec.CommandContext(ctx, s.ffmpeg, "-v", "error", "-nostdin", "-i", path, "-f", "rawvideo", "-pix_fmt", "bgr0", "-")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return t, fmt.Errorf("open the decoder's output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return t, fmt.Errorf("start the decoder: %w", err)
	}
	rerr := t.read(out)
	if rerr != nil {
		_ = cmd.Process.Kill()
	}
	if err := errors.Join(rerr, cmd.Wait()); err != nil {
		return t, fmt.Errorf("decode: %w", err)
	}
	t.frames = len(t.yuv)
	return t, nil
}

// read converts frames as they come: as the renderer does, and as screenshots.
func (t *take) read(r io.Reader) error {
	raw := make([]byte, 4*t.width*t.height)
	img := image.NewRGBA(image.Rect(0, 0, t.width, t.height))
	for {
		if _, err := io.ReadFull(r, raw); errors.Is(err, io.EOF) && len(t.yuv) > 0 {
			return nil
		} else if err != nil {
			return err
		}
		f, err := pixel.NewFrame(t.width, t.height)
		if err != nil {
			return err
		}
		if _, err := pixel.Convert(f, f.Bounds(), raw, 4*t.width, pixel.BGRX); err != nil {
			return err
		}
		for i := 0; i < len(raw); i += 4 {
			img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = raw[i+2], raw[i+1], raw[i], 255
		}
		var shot bytes.Buffer
		if err := jpeg.Encode(&shot, img, &jpeg.Options{Quality: screenshotQuality}); err != nil {
			return err
		}
		t.yuv, t.jpegs = append(t.yuv, f.Data), append(t.jpegs, shot.Bytes())
	}
}

// screenshotQuality is the default of both renderers that are modelled.
const screenshotQuality = 80

func (s study) size(ctx context.Context, path string) (w, h int, err error) {
	out, err := exec.CommandContext(ctx, s.beside("ffprobe"), "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height", "-of", "csv=p=0", path).Output()
	if err != nil {
		return 0, 0, fmt.Errorf("probe: %w", err)
	}
	if _, err := fmt.Sscanf(string(out), "%d,%d", &w, &h); err != nil {
		return 0, 0, fmt.Errorf("probe said %q: %w", out, err)
	}
	return w, h, nil
}

// beside names a program that lies where ffmpeg does.
func (s study) beside(name string) string {
	if dir := filepath.Dir(s.ffmpeg); dir != "." {
		return filepath.Join(dir, name)
	}
	return name
}

// measure encodes a take, keeping the least CPU time of the repeats, and compares
// the film with the take.
func (s study) measure(ctx context.Context, set Setting, t take) (Figures, error) {
	film := filepath.Join(s.dir, strings.Map(plain, t.name+" "+set.Name)+".mp4")
	cpu, err := gauge.LeastCPU(s.repeats, func() (time.Duration, error) { return s.encode(ctx, set, t, film) })
	if err != nil {
		return Figures{}, err
	}
	st, err := os.Stat(film)
	if err != nil {
		return Figures{}, fmt.Errorf("the film: %w", err)
	}
	f := Figures{KBytes: float64(st.Size()) / 1000, CPU: cpu * 1000 / float64(t.frames)}
	f.SSIMLuma, f.SSIM, err = s.compare(ctx, t, film)
	return f, err
}

// plain makes a file's name of any.
func plain(r rune) rune {
	if r == ' ' || r == '/' || r == ':' || r == '\'' {
		return '-'
	}
	return r
}

func (s study) encode(ctx context.Context, set Setting, t take, film string) (time.Duration, error) {
	input := []string{
		"-threads", "1", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", fmt.Sprintf("%dx%d", t.width, t.height),
		"-framerate", strconv.Itoa(rate), "-i", "pipe:0",
	}
	frames := t.yuv
	if set.Feed == feedJPEG {
		input = []string{"-f", "image2pipe", "-c:v", "mjpeg", "-framerate", strconv.Itoa(rate), "-i", "pipe:0"}
		frames = t.jpegs
	}
	return gauge.Feed(ctx, s.ffmpeg, func(w io.Writer) error {
		for _, f := range frames {
			if _, err := w.Write(f); err != nil {
				return err
			}
		}
		return nil
	}, append(append(input, set.Args...), "-y", film)...)
}

// compare gives the SSIM of a film as a player shows it: by its own tags.
func (s study) compare(ctx context.Context, t take, film string) (luma, all float64, err error) {
	const to709 = "scale=out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp,format=yuv444p,settb=1/30,setpts=N"
	cmd := exec.CommandContext(ctx, s.ffmpeg, "-v", "info", "-nostdin", "-nostats", "-filter_complex_threads", "2",
		"-threads", "2", "-i", film, "-threads", "2", "-i", t.path,
		"-lavfi", "[0:v]"+to709+"[a];[1:v]"+to709+"[b];[a][b]ssim", "-f", "null", "-")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("compare: %w: %s", err, out)
	}
	m := regexp.MustCompile(`SSIM Y:([0-9.]+).*All:([0-9.]+)`).FindSubmatch(out)
	if m == nil {
		return 0, 0, fmt.Errorf("the comparison said no SSIM: %s", out)
	}
	luma, err1 := strconv.ParseFloat(string(m[1]), 64)
	all, err2 := strconv.ParseFloat(string(m[2]), 64)
	return luma, all, errors.Join(err1, err2)
}
