package encode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/statefile"
)

const (
	testW, testH  = 160, 96
	testFPS       = 30
	testFrames    = 121
	testStretches = 4
)

// whole is the hash of the test film when nothing goes wrong. It is made once.
func whole(t *testing.T) string {
	t.Helper()
	undisturbed.Do(func() {
		o := options(t, testW, testH, testFPS, testFrames)
		undisturbed.sum = must(t, o, &source{w: testW, h: testH}).SHA256
	})
	if undisturbed.sum == "" {
		t.Fatal("there is no undisturbed film")
	}
	return undisturbed.sum
}

var undisturbed struct {
	sync.Once
	sum string
}

// finished waits until a stretch is on disk: without that there is nothing of
// which a test of going on could say anything.
func finished(ctx context.Context, o Options, index int) error {
	for {
		found, err := filepath.Glob(filepath.Join(o.Work, "*", fmt.Sprintf("%05d.json", index)))
		if err != nil || len(found) > 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// breakAt is a source that does something before a frame, once stretch 0 is
// finished.
func breakAt(o Options, frame int, do func() error) *source {
	return &source{w: testW, h: testH, before: func(ctx context.Context, n int) error {
		if n != frame {
			return nil
		}
		if err := finished(ctx, o, 0); err != nil {
			return err
		}
		return do()
	}}
}

// interrupted leaves a film of which the first stretch is finished.
func interrupted(t *testing.T, o Options) {
	t.Helper()
	stop := errors.New("stop")
	_, err := Film(t.Context(), o, breakAt(o, 100, func() error { return stop }))
	if !errors.Is(err, stop) {
		t.Fatalf("error %v", err)
	}
	noFilm(t, o)
}

func noFilm(t *testing.T, o Options) {
	t.Helper()
	if _, err := os.Stat(o.Out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a film: %v", err)
	}
	noParts(t, o)
	parts, err := filepath.Glob(filepath.Join(o.Work, "*", "*"+partSuffix))
	if err != nil || len(parts) > 0 {
		t.Errorf("unfinished parts are left: %v, %v", parts, err)
	}
	if live := o.Spawn.Live(); len(live) > 0 {
		t.Errorf("%d processes are left", len(live))
	}
}

// again makes the film after something went wrong: it must be the same, and use
// what was finished.
func again(t *testing.T, o Options, want string, reused int) {
	t.Helper()
	src := &source{w: testW, h: testH}
	res := must(t, o, src)
	if res.SHA256 != want {
		t.Error("the resumed film differs from one that was not interrupted")
	}
	if res.Reused < reused {
		t.Errorf("%d parts were used again, want %d or more", res.Reused, reused)
	}
	if n := int(src.drawn.Load()); res.Reused > 0 && n >= testFrames {
		t.Errorf("all %d frames were drawn again", n)
	}
}

// A killed encoder costs its stretch, and is told as what it is.
func TestKilledEncoder(t *testing.T) {
	want := whole(t)
	o := options(t, testW, testH, testFPS, testFrames)
	src := breakAt(o, 70, func() error {
		for _, c := range o.Spawn.Live() {
			if c.Role == "encoder" {
				return c.Signal(unix.SIGKILL)
			}
		}
		return errors.New("no encoder runs")
	})
	_, err := Film(t.Context(), o, src)
	var broken *EncoderError
	if !errors.As(err, &broken) || broken.Hung || fault.As(err).Code != fault.EncodeFailed || !strings.Contains(err.Error(), "killed") {
		t.Errorf("error %v", err)
	}
	noFilm(t, o)
	again(t, o, want, 1)
}

// A source that fails keeps what was finished, and its error.
func TestSourceError(t *testing.T) {
	want := whole(t)
	o := options(t, testW, testH, testFPS, testFrames)
	interrupted(t, o)
	again(t, o, want, 3)
}

// An interrupt ends all at once and leaves what was finished.
func TestCancel(t *testing.T) {
	want := whole(t)
	o := options(t, testW, testH, testFPS, testFrames)
	ctx, cancel := context.WithCancel(t.Context())
	src := breakAt(o, 40, func() error { cancel(); return nil })
	src.workers = 2
	if _, err := Film(ctx, o, src); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	noFilm(t, o)
	again(t, o, want, 1)
}

// Two that make one film would write into each other's files.
func TestTwoAtOnce(t *testing.T) {
	o := options(t, testW, testH, testFPS, 30)
	var second error
	must(t, o, &source{w: testW, h: testH, before: func(ctx context.Context, n int) error {
		if n == 10 {
			_, second = Film(ctx, o, &source{w: testW, h: testH})
		}
		return nil
	}})
	if second == nil || fault.As(second).Code != fault.RenderBusy {
		t.Errorf("the second says %v", second)
	}
}

// A stand-in for ffmpeg: what a broken build, a hung or a foreign one does.
func TestBrokenEncoders(t *testing.T) {
	cases := []struct {
		name, script string
		hung         bool
		want         string
	}{
		{"ends at once", "exit 0", false, ""},
		{"takes all and gives nothing", "cat >/dev/null", false, "0 of 30 pictures"},
		{"says why", "echo 'Unknown encoder libx264' >&2; exit 1", false, "Unknown encoder"},
		{"gives something else", "cat >/dev/null; echo 'this is no stream of any kind'", false, "not an FLV stream"},
		{"hangs from the start", "exec sleep 1000", true, "did not move"},
		{"hangs at the end", "cat >/dev/null; exec sleep 1000", true, "hung at the end"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, 640, 480, testFPS, 30)
			o.FFmpeg = filepath.Join(t.TempDir(), "ffmpeg")
			if err := os.WriteFile(o.FFmpeg, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			o.Patience = 10 * time.Second // more than a busy machine lets a shell wait for its start
			if c.hung {
				o.Patience = time.Second
			}
			_, err := Film(t.Context(), o, &source{w: 640, h: 480})
			var broken *EncoderError
			if !errors.As(err, &broken) || broken.Hung != c.hung || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("error %v", err)
			}
			noFilm(t, o)
		})
	}
}

// An encoder that somebody stopped (SIGSTOP) is continued, not given up.
func TestStoppedEncoderGoesOn(t *testing.T) {
	o := options(t, 640, 480, testFPS, 60)
	o.Patience = 4 * time.Second
	must(t, o, &source{w: 640, h: 480, before: func(_ context.Context, n int) error {
		if n != 10 {
			return nil
		}
		for _, c := range o.Spawn.Live() {
			if err := c.Signal(unix.SIGSTOP); err != nil {
				return err
			}
		}
		return nil
	}})
	wantNumbers(t, o.Out, 640, 480, 60)
}

// Stretches of two streams can't be one film: players would show rubbish.
func TestStretchOfAnotherStream(t *testing.T) {
	o := options(t, testW, testH, testFPS, testFrames)
	interrupted(t, o)
	found, err := filepath.Glob(filepath.Join(o.Work, "*", "00000.json"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	var p piece
	if err := statefile.Read(found[0], &p); err != nil {
		t.Fatal(err)
	}
	p.PPS = append(p.PPS, 0x80)
	if err := statefile.WriteVolatile(found[0], p); err != nil {
		t.Fatal(err)
	}
	_, err = Film(t.Context(), o, &source{w: testW, h: testH})
	var broken *EncoderError
	if !errors.As(err, &broken) || !strings.Contains(err.Error(), "parameter sets") {
		t.Errorf("error %v", err)
	}
	noFilm(t, o)
}

// A film that can't be put together or does not decode must not be installed,
// nor its parts used again: they would fail each time.
func TestFilmThatDoesNotDecode(t *testing.T) {
	want := whole(t)
	base := options(t, testW, testH, testFPS, testFrames)
	interrupted(t, base)
	for _, c := range []struct {
		name string
		at   func(p piece) int // offset of the fault
	}{
		{"in a picture", func(p piece) int { return p.Pictures[0].Size / 3 }},
		{"in a length", func(p piece) int { return p.Pictures[0].Size }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, testW, testH, testFPS, testFrames)
			copyWork(t, base, o)
			found, err := filepath.Glob(filepath.Join(o.Work, "*", "00000.h264"))
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			// What a fault of memory does: the bytes are wrong, and their hash is
			// that of the wrong ones.
			raw, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			note := strings.TrimSuffix(found[0], "h264") + "json"
			var p piece
			if err := statefile.Read(note, &p); err != nil {
				t.Fatal(err)
			}
			for i := range 60 {
				raw[c.at(p)+i] ^= 0x5A
			}
			if err := os.WriteFile(found[0], raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if p.SHA256, p.CRC, err = hashFile(found[0], int64(len(raw))); err != nil {
				t.Fatal(err)
			}
			if err := statefile.WriteVolatile(note, p); err != nil {
				t.Fatal(err)
			}
			if _, err := Film(t.Context(), o, &source{w: testW, h: testH}); err == nil || fault.As(err).Code != fault.VerifyFailed {
				t.Errorf("error %v", err)
			}
			noFilm(t, o)
			if left := files(t, o.Work); len(left) > 0 {
				t.Errorf("left in the work folder: %v", left)
			}
			if c.name != "in a picture" {
				return // what comes is the same
			}
			if res := must(t, o, &source{w: testW, h: testH}); res.SHA256 != want || res.Reused != 0 {
				t.Errorf("afterwards %+v", res)
			}
		})
	}
}

// A full disk is told as such and costs no finished stretch.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--mount", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("in a mount namespace (needs unprivileged user namespaces, or run as root): %v\n%s", err, out)
		}
		return
	}
	want := whole(t)
	for _, c := range []struct {
		name string
		dir  func(o Options) string
	}{
		{"of unfinished films", func(o Options) string { return o.Work }},
		{"of the film", func(o Options) string { return filepath.Dir(o.Out) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, testW, testH, testFPS, testFrames)
			o.Out = filepath.Join(filepath.Dir(o.Out), "films", "out.mp4")
			for _, dir := range []string{o.Work, filepath.Dir(o.Out)} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			dir := c.dir(o)
			if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
				t.Fatalf("mount a tmpfs: %v: %s", err, out)
			}
			t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
			ballast := filepath.Join(dir, "ballast")
			src := breakAt(o, 70, func() error {
				err := os.WriteFile(ballast, bytes.Repeat([]byte{1}, 2<<20), 0o600)
				if !errors.Is(err, unix.ENOSPC) {
					return fmt.Errorf("the disk did not fill up: %w", err)
				}
				return nil
			})
			_, err := Film(t.Context(), o, src)
			if err == nil || fault.As(err).Code != fault.DiskFull || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v", err)
			}
			noFilm(t, o)
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			again(t, o, want, 1)
		})
	}
}
