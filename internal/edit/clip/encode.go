package clip

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/media/profile"
)

// encoder is the process that makes the video's file.
type encoder struct {
	*running
	path  string
	every int64 // frames since the file's size was looked at
}

// overError says that a video is larger than it may be.
type overError struct{ bytes int64 } // its size, as far as it can be told

func (e *overError) Error() string { return fmt.Sprintf("the video has about %d bytes", e.bytes) }

// encoder starts the encoder of a video.
func (m *maker) encoder(ctx context.Context, r *rendered) (*encoder, error) {
	args := []string{"-f", "matroska", "-i", "pipe:0"}
	if m.Format == MP4 || m.Format == WebM {
		chapters := m.work.path("chapters.txt")
		if err := os.WriteFile(chapters, metadata(m.Name, r.plan), 0o600); err != nil {
			return nil, fmt.Errorf("write the chapters: %w", err)
		}
		args = append(args, "-f", "ffmetadata", "-i", chapters, "-map_metadata", "1", "-map_chapters", "1")
	}
	if m.Format == GIF {
		args = append(args, "-i", m.palettePath())
	}
	// Without its time base ffmpeg guesses one from the first frames: those of a
	// still screen are seconds apart, and later times were rounded to that.
	args = append(args, "-fps_mode", "passthrough", "-enc_time_base", fmt.Sprintf("1:%d", r.fps))
	args = append(args, m.codec(r)...)
	return m.openEncoder(ctx, r, args, r.path)
}

// paletter starts the process that finds the colours of a GIF.
func (m *maker) paletter(ctx context.Context, r *rendered) (*encoder, error) {
	args := []string{"-f", "matroska", "-i", "pipe:0", "-lavfi", toRGB + ",palettegen=stats_mode=full", "-update", "1", "-frames:v", "1"}
	return m.openEncoder(ctx, r, args, m.palettePath())
}

func (m *maker) palettePath() string { return m.work.path("palette.png") }

func (m *maker) openEncoder(ctx context.Context, r *rendered, args []string, path string) (*encoder, error) {
	run, err := m.start(ctx, "encoder", append(args, path)...)
	if err != nil {
		return nil, err
	}
	e := &encoder{running: run, path: path}
	run.fed <- nil // this goroutine feeds it; its errors are write's
	if _, err := run.in.Write(rawHeader(r.size, r.fps)); err != nil {
		return nil, e.end(&pipeError{err})
	}
	return e, nil
}

// codec are the arguments of the format's encoder.
//
// H.264: of libx264's presets veryfast makes the smallest files of screens at
// equal quality, and costs half of the next slower one; B-frames save nothing
// on pictures that change by steps.
func (m *maker) codec(r *rendered) []string {
	switch m.Format {
	case WebM:
		// VP9's scale is wider: 28 of H.264 looks like 36.
		return append([]string{
			"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "7", "-row-mt", "1", "-b:v", "0",
			"-crf", fmt.Sprint(min(r.crf*9/7, 63)), "-g", "250", "-pix_fmt", "yuv420p", "-f", "webm",
		}, profile.ColourArgs()...)
	case GIF:
		return []string{"-lavfi", toRGB + "[x];[x][1:v]paletteuse=dither=none:diff_mode=rectangle", "-loop", "0", "-final_delay", fmt.Sprint((100 + r.fps/2) / r.fps), "-f", "gif"}
	case WebP:
		quality := min(max(96-(r.crf-18)*2, 5), 100)
		return []string{
			"-c:v", "libwebp_anim", "-quality", fmt.Sprint(quality), "-compression_level", "3",
			"-pix_fmt", "yuv420p", "-loop", "0", "-f", "webp",
		}
	default:
		return append([]string{
			"-c:v", "libx264", "-preset", "veryfast", "-crf", fmt.Sprint(r.crf), "-profile:v", "high", "-pix_fmt", "yuv420p",
			"-x264-params", "bframes=0", "-g", "250", "-force_key_frames", chapterTimes(r.plan),
			"-movflags", "+faststart", "-video_track_timescale", fmt.Sprint(1000 * r.fps), "-f", "mp4",
		}, profile.ColourArgs()...)
	}
}

// keySpacing is how far keyframes at chapters lie apart, in seconds, at least:
// each costs as much as a minute of a calm screen.
const keySpacing = 8

// chapterTimes lists chapters that begin with a keyframe, in seconds: a jump to
// one of these shows its first frame at once.
func chapterTimes(p *timeline.Plan) string {
	times, last := "0", int64(0)
	for _, c := range p.Chapters {
		if in := c.In; in-last >= keySpacing*int64(p.Options.FPS) {
			last = in
			times += fmt.Sprintf(",%.6f", (float64(in)-0.25)/float64(p.Options.FPS))
		}
	}
	return times
}

// toRGB turns our frames into RGB by the right matrix.
const toRGB = "[0:v]scale=in_color_matrix=bt709:in_range=tv,format=rgb24"

// write sends a frame that is shown from the time at on.
func (e *encoder) write(at time.Duration, data []byte) error {
	if _, err := e.in.Write(rawFrame(at, len(data))); err != nil {
		return &pipeError{err}
	}
	if _, err := e.in.Write(data); err != nil {
		return &pipeError{err}
	}
	return nil
}

// pipeError says that the encoder does not take frames any more. Its own words
// tell why.
type pipeError struct{ err error }

func (e *pipeError) Error() string { return "send a frame: " + e.err.Error() }

func (e *pipeError) Unwrap() error { return e.err }

// over ends a video that is larger than its limit already.
func (e *encoder) over(limit, frame, all int64) error {
	if e.every++; limit == 0 || e.every%16 != 0 {
		return nil
	}
	size, err := fileSize(e.path)
	if err != nil || size <= limit+limit/50 {
		return nil //nolint:nilerr // the file is not there yet
	}
	return &overError{size * all / (frame + 1)}
}

// end ends the video. With a cause it is thrown away; the encoder's own words,
// when it has ended by itself, say more than that its pipe broke.
func (e *encoder) end(cause error) error {
	if cause != nil && !errors.As(cause, new(*pipeError)) {
		e.child.Kill()
		_ = e.in.Close()
		_ = e.running.end() // it was killed
		_ = os.Remove(e.path)
		return cause
	}
	_ = e.in.Close()
	if err := e.running.end(); err != nil {
		_ = os.Remove(e.path)
		return fmt.Errorf("encode the video: %w", err)
	}
	return cause
}

// metadata is a file of ffmpeg's metadata form with the chapters. Times are
// counted in the clip's frames, which is exact. Titles are short: MP4 has 255
// bytes for them.
func metadata(title string, p *timeline.Plan) []byte {
	var b strings.Builder
	escape := strings.NewReplacer("\\", "\\\\", "=", "\\=", ";", "\\;", "#", "\\#", "\n", " ")
	b.WriteString(";FFMETADATA1\ntitle=" + escape.Replace(short(title)) + "\n")
	if len(p.Chapters) > 0 && p.Chapters[0].In > 0 { // a list of chapters begins at 0
		fmt.Fprintf(&b, "[CHAPTER]\nTIMEBASE=1/%d\nSTART=0\nEND=%d\ntitle=Start\n", p.Options.FPS, p.Chapters[0].In)
	}
	for i, c := range p.Chapters {
		if c.Out <= c.In {
			continue // the next step follows at once
		}
		fmt.Fprintf(&b, "[CHAPTER]\nTIMEBASE=1/%d\nSTART=%d\nEND=%d\ntitle=%s\n", p.Options.FPS, c.In, c.Out, escape.Replace(short(fmt.Sprintf("%d. %s", i+1, c.Title))))
	}
	return []byte(b.String())
}
