package ffmpeg

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Distributions and git builds write the version in their own ways.
func TestParseVersion(t *testing.T) {
	libs := "built with gcc\nlibavutil      59. 39.100 / 59. 39.100\nlibavcodec     61. 19.100 / 61. 19.100\n"
	for _, c := range []struct {
		line string
		want Version
	}{
		{"ffmpeg version 4.4.2-0ubuntu0.22.04.1 Copyright (c) 2000-2021", Version{Major: 4, Minor: 4, Patch: 2}},
		{"ffmpeg version 5.1.9-0+deb12u1 Copyright (c)", Version{Major: 5, Minor: 1, Patch: 9}},
		{"ffmpeg version n7.1 Copyright", Version{Major: 7, Minor: 1}},
		{"ffmpeg version 8.0-full_build-www.gyan.dev Copyright", Version{Major: 8}},
		{"ffmpeg version 6.1.1-tessus  https://evermeet.cx/ffmpeg/  Copyright", Version{Major: 6, Minor: 1, Patch: 1}},
		{"ffmpeg version 9.0", Version{Major: 9}},
		{"ffmpeg version n6.0-30-g1a2b3c4d Copyright", Version{Major: 6, Git: true}},
		{"ffmpeg version 7.0.2-static https://johnvansickle.com/ffmpeg/  Copyright", Version{Major: 7, Patch: 2}},
		{"ffmpeg version N-118315-g4f3c9f2f03-20250112 Copyright", Version{Major: 7, Git: true}},
		{"ffmpeg version 2025-01-02-git-0457aaf0d3-full_build-www.gyan.dev Copyright", Version{Major: 7, Git: true}},
		{"ffmpeg version git-2020-06-15-d5f7ab0 Copyright", Version{Major: 7, Git: true}},
		{"ffmpeg version UNKNOWN", Version{Major: 7, Git: true}},
	} {
		t.Run(c.line, func(t *testing.T) {
			got, err := parseVersion([]byte(c.line + "\n" + libs))
			if err != nil {
				t.Fatal(err)
			}
			c.want.Text = strings.Fields(c.line)[2]
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	for _, bad := range []string{"", "ffmpeg", "ffmpeg version", "ffmpeg version \n", "ffprobe version 5.1"} {
		if v, err := parseVersion([]byte(bad)); err == nil {
			t.Errorf("%q gave %+v", bad, v)
		}
	}
}

func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		v            Version
		major, minor int
		want         bool
	}{
		{Version{Major: 5, Minor: 1}, 5, 1, true},
		{Version{Major: 5}, 5, 1, false},
		{Version{Major: 6}, 5, 1, true},
		{Version{Major: 4, Minor: 4}, 5, 0, false},
		{Version{Git: true}, 9, 0, true},
	} {
		if got := c.v.AtLeast(c.major, c.minor); got != c.want {
			t.Errorf("%+v at least %d.%d: %v", c.v, c.major, c.minor, got)
		}
	}
}

// The banner says nothing about a failure and must not push out what does.
func TestTailDropsTheBannerOfARealRun(t *testing.T) {
	tail := NewTail(3)
	cmd := exec.CommandContext(t.Context(), realFFmpeg(t).Path, "-i", "/nowhere/film.mp4")
	cmd.Stderr = tail
	if err := cmd.Run(); err == nil {
		t.Fatal("it opened a file that is not there")
	}
	got := tail.Lines()
	if len(got) != 1 || !strings.Contains(got[0], "/nowhere/film.mp4: No such file") {
		t.Errorf("tail %q", got)
	}
}

func TestTail(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct {
		name   string
		writes []string
		want   []string
	}{
		{"last three", []string{"a\nb\nc\nd\n"}, []string{"b", "c", "d"}},
		{"split writes", []string{"on", "e\ntw", "o"}, []string{"one", "two"}},
		{"status lines are redrawn", []string{"frame=1\rframe=2\rframe=3\rframe=4\r"}, []string{"frame=2", "frame=3", "frame=4"}},
		{"empty lines", []string{"\n\n  \r\na\r\n"}, []string{"a"}},
		{"long line", []string{long, "yy\nz"}, []string{long + "...", "z"}},
		{"an indented line is no banner", []string{"  Stream #0:0: Video\n"}, []string{"  Stream #0:0: Video"}},
		{"not text", []string{"\xff\xfe\n"}, []string{"\uFFFD"}},
		{"partial line counts", []string{"a\nb\nc\nd"}, []string{"b", "c", "d"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tail := NewTail(3)
			for _, w := range c.writes {
				if n, err := io.WriteString(tail, w); n != len(w) || err != nil {
					t.Fatalf("write: %d, %v", n, err)
				}
			}
			if d := cmp.Diff(c.want, tail.Lines()); d != "" {
				t.Error(d)
			}
		})
	}
}

// An encoder that complains for hours must not fill the memory.
func TestTailIsBounded(t *testing.T) {
	tail := NewTail(4)
	block := bytes.Repeat([]byte("no end of line "), 1000)
	for range 1000 {
		_, _ = tail.Write(block)
	}
	if got := cap(tail.partial); got > 2*maxLine {
		t.Errorf("holds %d bytes of one line", got)
	}
}

func TestReadProgressOfARealRun(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), realFFmpeg(t).Path, "-v", "error", "-f", "lavfi", "-i", "testsrc=d=2:r=10", "-progress", "pipe:1", "-f", "null", "-")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var last Progress
	if err := ReadProgress(out, func(p Progress) { last = p }); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if want := (Progress{Frame: 20, OutTime: 2 * time.Second, End: true}); last != want {
		t.Errorf("got %+v, want %+v", last, want)
	}
}

func TestReadProgress(t *testing.T) {
	in := "frame=0\nfps=0.00\ntotal_size=N/A\nout_time_us=N/A\nout_time=N/A\ndup_frames=0\ndrop_frames=0\nspeed=N/A\nprogress=continue\n" +
		"frame=12\ntotal_size= 4096\r\nout_time_us=400000\nout_time_ms=400000\ndup_frames=1\ndrop_frames=2\nnoise\nprogress=continue\n" +
		"frame=13\nout_time_us=-9223372036854775807\nprogress=end\nframe=99\n"
	want := []Progress{
		{},
		{Frame: 12, TotalSize: 4096, OutTime: 400 * time.Millisecond, Dup: 1, Drop: 2},
		{Frame: 13, TotalSize: 4096, OutTime: 400 * time.Millisecond, Dup: 1, Drop: 2, End: true},
	}
	var got []Progress
	// One byte at a time: a pipe cuts lines anywhere.
	if err := ReadProgress(iotest.OneByteReader(strings.NewReader(in)), func(p Progress) { got = append(got, p) }); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	broken := errors.New("broken pipe")
	if err := ReadProgress(iotest.ErrReader(broken), func(Progress) {}); !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

// Whatever a program writes, nothing panics, and times never run backwards
// into the negative.
func FuzzParse(f *testing.F) {
	f.Add([]byte("ffmpeg version 5.1\nlibavcodec 59. 37"))
	f.Add([]byte(" --\n D  x11grab X11\n"))
	f.Add([]byte(" ... scale V->V Scale\n-c[:<s>] x\n"))
	f.Add([]byte("frame=1\nout_time_us=9223372036854775807\nprogress=end\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = parseVersion(raw)
		for _, names := range [][]string{parseList(raw, 0), parseList(raw, 'D'), parseFilters(raw), parseOptions(raw)} {
			for _, n := range names {
				if strings.ContainsAny(n, " \n") {
					t.Errorf("name %q", n)
				}
			}
		}
		_ = ReadProgress(bytes.NewReader(raw), func(p Progress) {
			if p.OutTime < 0 || p.Frame < 0 {
				t.Errorf("negative: %+v", p)
			}
		})
		tail := NewTail(2)
		_, _ = tail.Write(raw)
		if len(tail.Lines()) > 2 {
			t.Errorf("%d lines", len(tail.Lines()))
		}
	})
}
