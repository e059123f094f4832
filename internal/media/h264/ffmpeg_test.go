package h264

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stream is an encoded stream taken apart: access units with 4-byte lengths.
type stream struct {
	sps, pps []byte
	aus      [][]byte
}

// ffmpeg runs the real program; a test without it has failed.
func ffmpeg(t testing.TB, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("ffmpeg is not installed: install it with libx264 (Debian: apt-get install ffmpeg)")
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{"-nostdin", "-hide_banner", "-v", "error"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("ffmpeg %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.Bytes()
}

const x264Params = "bframes=0:ref=1:weightp=0:rc-lookahead=0:sync-lookahead=0:scenecut=0:keyint=12"

// encode encodes frames of a moving ffmpeg source. params are added to
// x264Params and win over them.
func encode(t testing.TB, source string, frames, params string, args ...string) stream {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.h264")
	argv := []string{
		"-f", "lavfi", "-i", source, "-frames:v", frames, "-pix_fmt", "yuv420p", "-c:v", "libx264",
		"-preset", "veryfast", "-crf", "12", "-threads", "3", "-x264-params", x264Params + ":" + params,
	}
	ffmpeg(t, append(append(argv, args...), "-f", "h264", file)...)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return split(t, b)
}

// split cuts a byte stream into access units at the first slice of a picture.
func split(t testing.TB, b []byte) stream {
	t.Helper()
	var s stream
	var au []byte
	started := false
	for nal := range SplitAnnexB(b) {
		switch Type(nal) {
		case TypeSPS:
			s.sps = nal
		case TypePPS:
			s.pps = nal
		}
		isSlice := Type(nal) == TypeSlice || Type(nal) == TypeIDR
		if started && (!isSlice || StartsPicture(nal)) {
			s.aus = append(s.aus, au)
			au, started = nil, false
		}
		started = started || isSlice
		au = AppendAVCC(au, nal)
	}
	if started {
		s.aus = append(s.aus, au)
	}
	if s.sps == nil || s.pps == nil || len(s.aus) == 0 {
		t.Fatal("ffmpeg wrote no H.264 stream")
	}
	return s
}

// hashes decodes access units with ffmpeg, any complaint of which fails the
// test, and returns one hash for each picture.
func hashes(t testing.TB, s stream, aus [][]byte) []string {
	t.Helper()
	b := AppendAnnexB(AppendAnnexB(nil, s.sps), s.pps)
	for _, au := range aus {
		var err error
		if b, err = AVCCToAnnexB(b, au); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "in.h264")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out := ffmpeg(t, "-err_detect", "explode", "-xerror", "-f", "h264", "-i", file, "-fps_mode", "passthrough", "-f", "framehash", "-hash", "md5", "-")
	var sums []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), ",")
		sums = append(sums, strings.TrimSpace(fields[len(fields)-1]))
	}
	return sums
}
