package beacon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// infoQueue is how many frames ffmpeg's log may run ahead of its pictures: more
// than its own queues hold, so that neither side waits for the other.
const infoQueue = 1024

// stderrTail is how much of ffmpeg's words an error quotes.
const stderrTail = 20

// Scan decodes the first video stream of film with ffmpeg (5.1 or later, for
// -fps_mode) and reads the beacon of every coded frame: none is repeated or left out
// to meet a rate. One picture is held at a time. It fails when ffmpeg does, when the
// film has no video frame, and when ctx ends; frames without a beacon are no error,
// they are counted in the report.
func Scan(ctx context.Context, ffmpegPath, film string) (Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// showinfo is the only output of ffmpeg that gives the time of each raw frame;
	// its checksum would cost more than the reading.
	cmd := exec.CommandContext(ctx, ffmpegPath,
		"-hide_banner", "-nostdin", "-nostats", "-loglevel", "info",
		"-i", "file:"+film, "-map", "0:v:0", "-fps_mode", "passthrough",
		"-vf", "format=gray,showinfo=checksum=0", "-f", "rawvideo", "-pix_fmt", "gray", "-")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return Report{}, fmt.Errorf("open ffmpeg's output: %w", err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return Report{}, fmt.Errorf("open ffmpeg's log: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return Report{}, fmt.Errorf("start ffmpeg: %w", err)
	}
	infos := make(chan info, infoQueue)
	tail := make(chan []string, 1)
	go func() { tail <- readLog(ctx, stderr, infos) }()

	samples, readErr := readFrames(stdout, infos)
	if readErr != nil {
		cancel()
	}
	words := <-tail
	waitErr := cmd.Wait()
	switch {
	case readErr != nil:
		return Report{}, fmt.Errorf("scan %s: %w", film, readErr)
	case waitErr != nil:
		return Report{}, fmt.Errorf("scan %s: ffmpeg: %w: %s", film, waitErr, strings.Join(words, "; "))
	case len(samples) == 0:
		return Report{}, fmt.Errorf("scan %s: no video frame", film)
	}
	return summarize(film, samples), nil
}

// readFrames reads one picture for each line of the log.
func readFrames(r io.Reader, infos <-chan info) ([]Sample, error) {
	var samples []Sample
	var picture []byte
	var width, height int
	for in := range infos {
		if picture == nil {
			width, height = in.width, in.height
			picture = make([]byte, width*height)
		}
		if _, err := io.ReadFull(r, picture); err != nil {
			return samples, fmt.Errorf("picture %d: %w", len(samples), err)
		}
		s := Sample{Index: len(samples), PTS: in.pts}
		frame, err := Read(picture, width, height, width)
		if err != nil {
			s.Fault = err.Error()
		} else {
			s.Number, s.Torn = frame.Number, frame.Torn
		}
		samples = append(samples, s)
	}
	if n, err := io.Copy(io.Discard, r); err != nil || n != 0 {
		return samples, fmt.Errorf("%d bytes after the last picture: %w", n, errors.Join(err, io.ErrUnexpectedEOF))
	}
	return samples, nil
}

type info struct {
	pts           float64
	width, height int
}

// readLog sends what showinfo says of each frame, closes infos, and returns the
// last lines that were not showinfo's.
func readLog(ctx context.Context, r io.Reader, infos chan<- info) []string {
	defer close(infos)
	var tail []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		in, ok := parseInfo(lines.Text())
		if !ok {
			tail = append(tail, lines.Text())
			tail = tail[max(0, len(tail)-stderrTail):]
			continue
		}
		select {
		case infos <- in:
		case <-ctx.Done():
			return tail
		}
	}
	return tail
}

// parseInfo reads a frame line of showinfo:
// "[Parsed_showinfo_1 @ 0x..] n:   0 pts:   0 pts_time:0  ... s:1920x1080 i:P ...".
func parseInfo(line string) (info, bool) {
	_, rest, ok := strings.Cut(line, "] n:")
	if !ok || !strings.Contains(line, "showinfo") {
		return info{}, false
	}
	var in info
	_, ptsText, okPTS := strings.Cut(rest, "pts_time:")
	_, sizeText, okSize := strings.Cut(rest, " s:")
	if !okPTS || !okSize {
		return info{}, false
	}
	if _, err := fmt.Sscan(ptsText, &in.pts); err != nil {
		return info{}, false
	}
	if _, err := fmt.Sscanf(sizeText, "%dx%d", &in.width, &in.height); err != nil {
		return info{}, false
	}
	if in.width <= 0 || in.height <= 0 {
		return info{}, false
	}
	return in, true
}
