package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/proofreel/proofreel/bench/internal/gauge"
)

// Figures are what one take with one setting gave. PSNR is in dB; a crop's figure is
// of the mean error over all frames, Worst of the worst frame.
type Figures struct {
	// Profile is the stream's H.264 profile in ffprobe's words.
	Profile string `json:"profile"`
	// KBytesPerSecond is the file's size, in 1000 bytes for each recorded second.
	KBytesPerSecond float64 `json:"kBytesPerSecond"`
	// CPUPerSecond is ffmpeg's user and system time for each recorded second; it
	// includes reading the raw frames from a pipe.
	CPUPerSecond float64         `json:"cpuPerSecond"`
	Crops        map[string]Crop `json:"crops"`
}

// Crop is the quality of one part of the picture.
type Crop struct {
	// Luma, U and V are against the converted source of the same chroma format.
	Luma      float64 `json:"luma"`
	LumaWorst float64 `json:"lumaWorst"`
	SSIM      float64 `json:"ssim"`
	U         float64 `json:"u"`
	V         float64 `json:"v"`
	// U444 and V444 are against the full-resolution chroma, RGB against the picture.
	U444 float64 `json:"u444"`
	V444 float64 `json:"v444"`
	RGB  float64 `json:"rgb"`
}

type study struct {
	ffmpeg, dir string
	repeats     int
}

// measure encodes a take, keeping the least CPU time of the repeats, and compares the
// decoded frames with the source.
func (s study) measure(ctx context.Context, set Setting, t take) (Figures, error) {
	film := filepath.Join(s.dir, "take.mp4")
	cpu, err := gauge.LeastCPU(s.repeats, func() (time.Duration, error) { return s.encode(ctx, set, t, film) })
	if err != nil {
		return Figures{}, err
	}
	stat, err := os.Stat(film)
	if err != nil {
		return Figures{}, fmt.Errorf("the take: %w", err)
	}
	seconds := float64(t.frames) / rate
	f := Figures{KBytesPerSecond: float64(stat.Size()) / 1000 / seconds, CPUPerSecond: cpu / seconds}
	if f.Profile, err = s.profile(ctx, film); err != nil {
		return f, err
	}
	f.Crops, err = s.compare(ctx, set, t, film)
	return f, err
}

func (s study) encode(ctx context.Context, set Setting, t take, film string) (time.Duration, error) {
	return s.consume(ctx, set, t, append(set.arguments(), "-y", film)...)
}

// pipeOnly is the CPU time, for each recorded second, that ffmpeg spends on taking a
// 4:2:0 take from the pipe and throwing it away: a part of each setting's cost.
func (s study) pipeOnly(ctx context.Context, t take) (float64, error) {
	least, err := gauge.LeastCPU(s.repeats, func() (time.Duration, error) {
		return s.consume(ctx, Setting{Format: "yuv420p"}, t, "-f", "null", "-")
	})
	return least / (float64(t.frames) / rate), err
}

// consume feeds a take to ffmpeg and returns the CPU time that this cost ffmpeg.
func (s study) consume(ctx context.Context, set Setting, t take, output ...string) (time.Duration, error) {
	input := []string{
		"-f", "rawvideo", "-pix_fmt", set.Format,
		"-video_size", fmt.Sprintf("%dx%d", width, height), "-framerate", strconv.Itoa(rate), "-i", "pipe:0",
	}
	return gauge.Feed(ctx, s.ffmpeg, func(w io.Writer) error { return feed(w, set.sub(), t) }, append(input, output...)...)
}

func feed(w io.Writer, sub int, t take) error {
	for i := range t.frames {
		for _, plane := range t.frame(i, sub).planes {
			if _, err := w.Write(plane); err != nil {
				return fmt.Errorf("feed frame %d: %w", i, err)
			}
		}
	}
	return nil
}

func (s Setting) sub() int {
	if s.Format == "yuv444p" {
		return 1
	}
	return 2
}

func (s study) profile(ctx context.Context, film string) (string, error) {
	probe := filepath.Join(filepath.Dir(s.ffmpeg), "ffprobe")
	if filepath.Dir(s.ffmpeg) == "." {
		probe = "ffprobe"
	}
	out, err := exec.CommandContext(ctx, probe, "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=profile", "-of", "csv=p=0", film).Output()
	if err != nil {
		return "", fmt.Errorf("probe the take: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// compare decodes the film and sums the errors of each crop over all frames.
func (s study) compare(ctx context.Context, set Setting, t take, film string) (map[string]Crop, error) {
	cmd := exec.CommandContext(ctx, s.ffmpeg, "-v", "error", "-nostdin", "-i", film, "-f", "rawvideo", "-pix_fmt", set.Format, "-")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("open the decoder's output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the decoder: %w", err)
	}
	sums, readErr := compareFrames(stdout, set, t)
	if readErr != nil {
		return nil, errors.Join(readErr, cmd.Process.Kill(), cmd.Wait())
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	crops := make(map[string]Crop, len(sums))
	for name, sum := range sums {
		crops[name] = sum.crop()
	}
	return crops, nil
}

// fullEvery is how often the dear measures (SSIM, 4:4:4 chroma, RGB) are taken.
const fullEvery = 10

func compareFrames(r io.Reader, set Setting, t take) (map[string]*sums, error) {
	decoded := newYUV(width, height, set.sub())
	all := make(map[string]*sums)
	for i := range t.frames {
		for plane := range decoded.planes {
			if _, err := io.ReadFull(r, decoded.planes[plane]); err != nil {
				return nil, fmt.Errorf("decoded frame %d: %w", i, err)
			}
		}
		source := t.frame(i, set.sub())
		for name, rect := range t.crops(i) {
			if all[name] == nil {
				all[name] = &sums{}
			}
			all[name].addPlanes(decoded, source, rect)
			if i%fullEvery == 0 {
				all[name].addFull(decoded, source, t.frame(i, 1), t.source(i), rect)
			}
		}
	}
	if n, err := io.Copy(io.Discard, r); err != nil || n > 0 {
		return nil, fmt.Errorf("%d bytes after the last frame: %w", n, errors.Join(err, io.ErrUnexpectedEOF))
	}
	return all, nil
}
