package x11

import (
	"bytes"
	"context"
	"errors"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/record/capture"
)

// Guards the end of the display: it must not look like a film's natural end,
// and what was captured before must be there.
func TestDisplayDies(t *testing.T) {
	const w, h = 320, 240
	spawn := newSpawner(t)
	display, server := xvfb(t, spawn, w, h, 24)
	tp := newTape()
	ctx := t.Context()
	ended := make(chan error, 1)
	e := New()
	go func() { ended <- e.Run(ctx, config(t, spawn, display, w, h, 60), tp) }()
	<-tp.first
	server.Kill()
	var lost *capture.DisplayLostError
	if err := <-ended; !errors.As(err, &lost) || lost.Display != display {
		t.Fatalf("got %v", err)
	}
	if s := e.Stats(); s.Captured != int64(tp.count()) {
		t.Errorf("%d frames were captured, %d arrived", s.Captured, tp.count())
	}
}

// Guards stop against a server that no longer answers.
func TestDisplayIsStopped(t *testing.T) {
	const w, h = 320, 240
	spawn := newSpawner(t)
	display, server := xvfb(t, spawn, w, h, 24)
	tp := newTape()
	cfg := config(t, spawn, display, w, h, 60)
	cfg.Cursor = true // the pointer is asked for at every tick, so we hang in a request
	_, stop := film(t, cfg, tp)
	if err := server.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if len(tp.frames) == 0 {
		t.Fatal("no frames")
	}
}

func encoderOf(t *testing.T, spawn *proc.Spawner) *proc.Child {
	t.Helper()
	for _, c := range spawn.Live() {
		if c.Role == "encoder" {
			return c
		}
	}
	t.Fatal("no encoder runs")
	return nil
}

// Guards the restart: a dead encoder is told from a dead display, and the same
// engine films on, with a header again.
func TestEncoderDies(t *testing.T) {
	const w, h = 320, 240
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	tp := newTape()
	cfg := config(t, spawn, display, w, h, 60)
	ended := make(chan error, 1)
	e := New()
	go func() { ended <- e.Run(t.Context(), cfg, tp) }()
	<-tp.first
	encoderOf(t, spawn).Kill()
	var encoder *capture.EncoderError
	if err := <-ended; !errors.As(err, &encoder) {
		t.Fatalf("got %v", err)
	}
	before := tp.count()
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- e.Run(ctx, cfg, tp) }()
	eventually(t, "a frame of the second run", func() bool { return tp.count() > before })
	p.fill(0x123456, image.Rect(0, 0, 50, 50))
	eventually(t, "the change", func() bool { return tp.count() > before+1 })
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if tp.headers != 2 || !tp.frames[before].Key {
		t.Errorf("%d headers, first frame of the second run key %v", tp.headers, tp.frames[before].Key)
	}
}

// Guards the end against a stopped encoder: it is continued and loses nothing.
func TestEncoderIsStopped(t *testing.T) {
	const w, h = 320, 240
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	tp := newTape()
	e, stop := film(t, config(t, spawn, display, w, h, 60), tp)
	if err := encoderOf(t, spawn).Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.fill(0xff0000, image.Rect(0, 0, w, h))
	eventually(t, "the frame is fed", func() bool { return e.Stats().Captured >= 2 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	want := picture(t, p, w, h, pixel.BGRX)
	film := tp.decode(t, w, h)
	if !bytes.Equal(film[len(film)-1], want) {
		t.Error("the last picture is not the screen's")
	}
}

// Guards the sink's error: it must come back, whoever notices it first.
func TestSinkFails(t *testing.T) {
	const w, h = 320, 240
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	tp := newTape()
	tp.fail = errors.New("disk full")
	if err := New().Run(t.Context(), config(t, spawn, display, w, h, 60), tp); !errors.Is(err, tp.fail) {
		t.Fatalf("got %v", err)
	}
	if live := spawn.Live(); len(live) != 1 {
		t.Errorf("%d children are left beside Xvfb", len(live)-1)
	}
}

// Guards the messages of a start that can't be: each names its cause and
// leaves nothing behind.
func TestStartFails(t *testing.T) {
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, 320, 240, 24)
	shallow, _ := xvfb(t, spawn, 320, 240, 8)
	var lost *capture.DisplayLostError
	var unsupported *UnsupportedError
	var encoder *capture.EncoderError
	tests := map[string]struct {
		display, ffmpeg string
		encode          []string
		as              any
	}{
		"no such display":     {display: ":63999", as: &lost},
		"bad name":            {display: "nonsense", as: &lost},
		"no such screen":      {display: display + ".7", as: &unsupported},
		"8-bit visual":        {display: shallow, as: &unsupported},
		"no ffmpeg":           {display: display, ffmpeg: "/nonexistent/ffmpeg", as: &encoder},
		"ffmpeg that ends":    {display: display, ffmpeg: "/bin/false", as: &encoder},
		"ffmpeg that is dumb": {display: display, ffmpeg: "/bin/true", as: &encoder},
		"unknown encoder":     {display: display, encode: []string{"-c:v", "nonesuch"}, as: &encoder},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, spawn, tc.display, 320, 240, 30)
			if tc.ffmpeg != "" {
				cfg.FFmpeg = tc.ffmpeg
			}
			if tc.encode != nil {
				cfg.Encode = tc.encode
			}
			tp := newTape()
			if err := New().Run(t.Context(), cfg, tp); !errors.As(err, tc.as) {
				t.Fatalf("got %v (%T)", err, err)
			}
			if len(tp.frames) > 0 {
				t.Error("frames came all the same")
			}
		})
	}
}

// Guards the cookie: the file is found by its entry, and a wrong one is told.
func TestXauthority(t *testing.T) {
	dir := t.TempDir()
	right, wrong := filepath.Join(dir, "right"), filepath.Join(dir, "wrong")
	addCookie(t, right, ":42", strings.Repeat("ab", 16))
	addCookie(t, wrong, ":42", strings.Repeat("cd", 16))
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, 320, 240, 24, "-auth", right)
	for _, file := range []string{right, wrong} {
		addCookie(t, file, display, map[string]string{right: strings.Repeat("ab", 16), wrong: strings.Repeat("cd", 16)}[file])
	}
	how, err := Check(t.Context(), capture.Target{Display: display, Xauthority: right, Width: 320, Height: 240})
	if err != nil || how != "X DAMAGE with pixels through MIT-SHM, bgrx" {
		t.Errorf("right cookie: %q, %v", how, err)
	}
	var lost *capture.DisplayLostError
	_, err = Check(t.Context(), capture.Target{Display: display, Xauthority: wrong, Width: 320, Height: 240})
	if !errors.As(err, &lost) {
		t.Errorf("wrong cookie: %v", err)
	}
}

func addCookie(t *testing.T, file, display, cookie string) {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(need(t, "xauth", "xauth"), "-f", file, "add", display, magicCookie, cookie)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("xauth: %v: %s", err, out)
	}
}
