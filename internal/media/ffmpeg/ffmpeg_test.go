package ffmpeg

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
)

// The binary that the tests run with has what a recording needs.
func TestRealBinary(t *testing.T) {
	info := realFFmpeg(t)
	if info.Version.Major < 4 {
		t.Errorf("version %+v: want a number", info.Version)
	}
	need := Need{
		Encoder: {"libx264", "rawvideo"}, Decoder: {"h264"}, Grabber: {"x11grab", "lavfi"}, Filter: {"scale", "pad", "testsrc"},
		Muxer: {"mp4", "null", "h264", "rawvideo"}, Demuxer: {"mov", "mp4", "rawvideo", "h264"}, Option: {"progress", "stdin", "c", "f"},
	}
	if err := info.Check(t.Context(), need); err != nil {
		t.Fatal(err)
	}
	options, err := info.EncoderOptions(t.Context(), "libx264")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []string{"preset", "crf", "x264-params"} {
		if !slices.Contains(options, o) {
			t.Errorf("libx264 has no option %s in %v", o, options)
		}
	}
	if options, err = info.EncoderOptions(t.Context(), "nonesuch"); err != nil || len(options) != 0 {
		t.Errorf("options of an encoder that is not there: %v, %v", options, err)
	}
}

// One error names everything that lacks, sorted, and is a fault with a hint.
func TestCheckNamesAllThatLacks(t *testing.T) {
	err := realFFmpeg(t).Check(t.Context(), Need{Encoder: {"libx264", "libnone"}, Grabber: {"nograb"}, Muxer: {"mov"}})
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("got %v, want a MissingError", err)
	}
	if d := cmp.Diff([]string{"encoder libnone", "grabber nograb"}, missing.Missing); d != "" {
		t.Error(d)
	}
	f := fault.As(err)
	if f.Code != fault.MissingTool || f.Hint == "" || !strings.Contains(f.Message, "libnone") {
		t.Errorf("fault %+v", f)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	fake := filepath.Join(dir, "ffmpeg")
	script(t, fake, "exit 0")
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, env, path, want string }{
		{"in PATH", "", dir, fake},
		{"named", fake, "/nowhere", fake},
		{"named but not there", filepath.Join(dir, "no"), dir, ""},
		{"named but not executable", plain, dir, ""},
		{"nowhere", "", "/nowhere", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", c.path)
			t.Setenv(EnvPath, c.env)
			got, err := Find()
			if got != c.want {
				t.Errorf("got %q, want %q (%v)", got, c.want, err)
			}
			var none *NotFoundError
			if c.want == "" && (!errors.As(err, &none) || fault.As(err).Code != fault.MissingTool || none.Hint == "") {
				t.Errorf("error %v: want a NotFoundError that is a fault with a hint", err)
			}
		})
	}
}

// A binary that fails, says nothing or prints something else is told from one
// that is not there, and its own words are in the error.
func TestBrokenBinary(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"library is missing", "echo 'ffmpeg: error while loading shared libraries: libx264.so.164' >&2; exit 127", "libx264.so.164"},
		{"another program", "echo 'avconv version 12'", "no version"},
		{"nothing", "exit 0", "no version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ffmpeg")
			script(t, path, c.body)
			_, err := Probe(t.Context(), path)
			var broken *BrokenError
			if !errors.As(err, &broken) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a BrokenError with %q", err, c.want)
			}
		})
	}
}

// A binary that hangs, with a child that holds its output open, must not hang
// the caller beyond its context.
func TestHungBinaryEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ffmpeg")
	script(t, path, "sleep 60 & sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := Probe(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

// A fake build of each version answers as that version does; the same Check
// must understand all.
func TestChecksEveryVersionsListings(t *testing.T) {
	for _, v := range []string{"4.4", "5.1", "6.1", "7.1", "8.0", "9.0"} {
		t.Run(v, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ffmpeg")
			script(t, path, fakeBuild(v))
			info, err := Probe(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Version; got.Text != v {
				t.Errorf("version %+v", got)
			}
			need := Need{
				Encoder: {"libx264"}, Decoder: {"h264"}, Grabber: {"x11grab", "v4l2"}, Filter: {"scale", "testsrc"},
				Muxer: {"mp4"}, Demuxer: {"mp4", "x11grab"}, Option: {"progress", "c"},
			}
			if err := info.Check(t.Context(), need); err != nil {
				t.Error(err)
			}
			// What can only be written is no grabber, and a legend is no name.
			for kind, name := range map[Kind]string{Grabber: "xv", Muxer: "x11grab", Encoder: "=", Filter: "=", Demuxer: "mp3x"} {
				if err := info.Check(t.Context(), Need{kind: {name}}); err == nil {
					t.Errorf("%s %s was found", kind, name)
				}
			}
		})
	}
}

func realFFmpeg(t *testing.T) Info {
	t.Helper()
	path, err := Find()
	if err != nil {
		t.Fatalf("%v: %s", err, fault.As(err).Hint)
	}
	info, err := Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func script(t *testing.T, path, body string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// fakeBuild writes a shell script's body that answers like a build of the
// version. The formats are those of fftools/cmdutils.c and opt_common.c:
//
//	before 7: "--" over two flags of formats and devices, "File formats:"
//	since 7:  "---" over three flags of formats, and over two flags and a blank of devices
//	filters:  three flags until 7, two since 8, no dashes until 7
func fakeBuild(v string) string {
	formats := " D. = Demuxing supported\n .E. = Muxing supported\n --\n"
	devices := "Devices:\n" + formats + " D  x11grab         X11 screen capture, using XCB\n DE video4linux2,v4l2 Video4Linux2 output device\n  E xv              XV (XVideo) output device\n"
	muxers := "File formats:\n" + formats + "  E mp4             MP4 (MPEG-4 Part 14)\n"
	demuxers := "File formats:\n" + formats + " D  mov,mp4,m4a,3gp,3g2,mj2 QuickTime / MOV\n D  x11grab         X11 screen capture, using XCB\n"
	filters := "Filters:\n  T.. = Timeline support\n  .S. = Slice threading\n  ..C = Command support\n  A = Audio input/output\n  | = Source or sink filter\n" +
		" ..C scale             V->V       Scale the input video size.\n ... testsrc           |->V       Generate test pattern.\n"
	if v >= "7" {
		formats = " D.. = Demuxing supported\n .E. = Muxing supported\n ..d = Is a device\n ---\n"
		devices = "Devices:\n D. = Demuxing supported\n .E = Muxing supported\n ---\n D  x11grab         X11 screen capture, using XCB\n DE video4linux2,v4l2 Video4Linux2 output device\n  E xv              XV (XVideo) output device\n"
		muxers = "Formats:\n" + formats + "  E  mp4             MP4 (MPEG-4 Part 14)\n"
		demuxers = "Formats:\n" + formats + " D   mov,mp4,m4a,3gp,3g2,mj2 QuickTime / MOV\n D d x11grab         X11 screen capture, using XCB\n"
	}
	if v >= "8" {
		filters = "Filters:\n  T. = Timeline support\n  .S = Slice threading\n  A = Audio input/output\n  | = Source or sink filter\n  ------\n" +
			" .S scale             V->V       Scale the input video size.\n .. testsrc           |->V       Generate test pattern.\n"
	}
	codecs := " V..... = Video\n .....D = Supports direct rendering method 1\n ------\n V....D libx264              libx264 H.264 (codec h264)\n VFS..D h264                 H.264 / AVC\n"
	options := "Global options:\n-progress <url>      write program-readable progress information\n\nPer-file main options:\n-c[:<stream_spec>] <codec>  select encoder/decoder\n"
	if v < "7" {
		options = "Global options (affect whole program):\n-progress url       write program-readable progress information\n\n-c codec            codec name\n"
	}
	answer := func(s string) string { return "cat <<'END'\n" + s + "END\n;;\n" }
	return `case "$*" in
-version) ` + answer("ffmpeg version "+v+" Copyright (c) 2000-2026 the FFmpeg developers\nbuilt with gcc\n") +
		"*-devices) " + answer(devices) + "*-muxers) " + answer(muxers) + "*-demuxers) " + answer(demuxers) + "*-filters) " + answer(filters) +
		"*-encoders) " + answer("Encoders:\n"+codecs) + "*-decoders) " + answer("Decoders:\n"+codecs) + "*\"-h long\") " + answer(options) + "*) exit 1 ;; esac"
}
