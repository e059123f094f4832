package exit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/profile"
)

// Files that runs leave in their work directory.
const (
	encodedFile  = "film.mp4"
	pixelsFile   = "poster.rgb"
	progressFile = "progress"
)

// transcoder runs ffmpeg over films that the walker has accepted and that were
// rewritten: a decoder only ever sees slices in a container of our own.
type transcoder struct {
	runner Runner
	ffmpeg string // its path in the box
	wall   time.Duration
	want   Want
	log    *slog.Logger
}

// decode are the input's arguments: nothing is guessed from the bytes, nothing
// but the film on stdin is opened, and a complaint ends the run.
func (t transcoder) decode() []string {
	pixels := strconv.Itoa((t.want.Width + 16) * (t.want.Height + 16))
	return []string{
		t.ffmpeg, "-hide_banner", "-nostdin", "-v", "error", "-xerror", "-max_alloc", strconv.Itoa(1 << 30),
		"-protocol_whitelist", "pipe", "-f", "mov", "-c:v", "h264", "-max_pixels", pixels, "-threads", "2",
		"-err_detect", "explode", "-i", "pipe:0",
	}
}

// encode decodes a film of n pictures and encodes them afresh. Its output is
// as foreign as the film that came in: it has to be collected and walked.
func (t transcoder) encode(ctx context.Context, film *os.File, n int) (Ran, error) {
	argv := append(append(t.decode(), t.encoderArgs(n)...), encodedFile)
	return t.run(ctx, "encode", Program{Argv: argv, Stdin: film, Disk: t.want.MaxBytes + 16<<20})
}

// encoderArgs are those of the films that leave. The second encoding must not
// be seen: against a film of veryfast at CRF 18, veryfast at CRF 16 has an SSIM
// of 0.9984 for 4.4 s of processor time for 150 frames at 1920x1080; fast at
// CRF 17 has 0.9986 for 8.0 s. The rate is capped so that the film fits the size
// that is allowed, whatever it shows.
func (t transcoder) encoderArgs(n int) []string {
	seconds := float64(n) / float64(t.want.FPS)
	// A tenth is for the container and for the buffer's first fill.
	kbit := int(float64(t.want.MaxBytes) * 8 * 0.9 / max(seconds, 2) / 1000)
	kbit = min(max(kbit, 50), 60_000)
	args := []string{
		"-map", "0:v:0", "-map_metadata", "-1", "-map_chapters", "-1", "-sn", "-an", "-dn",
		"-fps_mode", "passthrough", "-frames:v", strconv.Itoa(n),
		"-c:v", "libx264", "-preset", "veryfast", "-crf", "16", "-profile:v", "high", "-pix_fmt", "yuv420p", "-threads", "2",
		"-maxrate", fmt.Sprintf("%dk", kbit), "-bufsize", fmt.Sprintf("%dk", kbit), "-g", strconv.Itoa(2 * t.want.FPS),
	}
	args = append(args, profile.ColourArgs()...)
	return append(args, "-video_track_timescale", strconv.Itoa(t.want.FPS*unitsPerPicture),
		"-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart", "-f", "mp4")
}

// check decodes the whole film and leaves one picture's pixels, and how many
// pictures there were.
func (t transcoder) check(ctx context.Context, film *os.File, n int) (Ran, error) {
	pick := fmt.Sprintf("select=eq(n\\,%d),scale=in_color_matrix=bt709:in_range=tv:out_range=pc:flags=accurate_rnd+full_chroma_int,format=rgb24", t.want.poster(n))
	argv := append(t.decode(), "-progress", progressFile, "-nostats",
		"-map", "0:v:0", "-fps_mode", "passthrough", "-f", "null", "-",
		"-map", "0:v:0", "-vf", pick, "-fps_mode", "passthrough", "-frames:v", "1", "-f", "rawvideo", pixelsFile)
	return t.run(ctx, "check", Program{Argv: argv, Stdin: film, Disk: int64(3*t.want.Width*t.want.Height) + 16<<20})
}

// run runs ffmpeg. It returns the run only when it has ended well. A complaint
// about the film is a [RefusedError]; an end for a reason of ours is a fault of
// code box_failed, and the film stays where it is.
func (t transcoder) run(ctx context.Context, what string, p Program) (Ran, error) {
	stdin, err := readOnly(p.Stdin)
	if err != nil {
		return Ran{}, err
	}
	defer stdin.Close() //nolint:errcheck // only read
	said := ffmpeg.NewTail(8)
	p.Stdin, p.Wall, p.Output = stdin, t.wall, said
	began := time.Now()
	ran, err := t.runner.Run(ctx, p)
	if err != nil {
		return Ran{}, fmt.Errorf("%s the film in a box: %w", what, err)
	}
	t.log.DebugContext(ctx, "ran ffmpeg in a box", "what", what, "took", time.Since(began),
		"status", ran.Status, "limit", ran.Limit, "said", said.String())
	if err := ctx.Err(); err != nil {
		return Ran{}, errors.Join(err, ran.Close())
	}
	switch {
	case ran.Limit != "":
		return Ran{}, errors.Join(boxFailed(what, "limit: "+ran.Limit), ran.Close())
	case ran.Status != 0 && ours(ran.Status, said.String()):
		return Ran{}, errors.Join(boxFailed(what, "ffmpeg could not go on"), ran.Close())
	case ran.Status != 0:
		return Ran{}, errors.Join(refuse(Undecodable, what), ran.Close())
	}
	return ran, nil
}

func boxFailed(what, why string) error {
	return fault.New(fault.BoxFailed, "Try again when the machine has more to spare; with the same limit met each time, the film is too much for it.",
		"the box in which a film is looked at ended before its time (%s; %s)", what, why)
}

// ours says whether ffmpeg ended for a reason that is not the film's: it was
// not there, it was killed, or it was short of something that the machine has.
// What it prints may be a hostile film's doing: then that is not refused but
// not published either, and whoever ordered may try again.
func ours(status int, said string) bool {
	const signal = 128
	switch status {
	case -1, 126, 127, signal + int(unix.SIGKILL), signal + int(unix.SIGTERM), signal + int(unix.SIGXCPU), signal + int(unix.SIGXFSZ):
		return true
	}
	for _, errno := range []syscall.Errno{unix.EAGAIN, unix.ENOMEM, unix.ENOSPC, unix.EMFILE, unix.ENFILE} {
		// The C library's words begin with a capital, Go's do not.
		if strings.Contains(strings.ToLower(said), errno.Error()) {
			return true
		}
	}
	return false
}

// readOnly opens a file of ours once more, from its first byte, without the
// right to write it.
func readOnly(f *os.File) (*os.File, error) {
	again, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return nil, fmt.Errorf("open a staged file for reading: %w", err)
	}
	return again, nil
}
