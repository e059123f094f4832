package encode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/media/profile"
)

// What lies in the work folder may have rotted, or be cut off by a power cut: a
// stretch that is not what was written must be made again.
func TestSpoiledStretchIsMadeAgain(t *testing.T) {
	want := whole(t)
	cases := []struct {
		name  string
		spoil func(data, note string) error
	}{
		{"a flipped bit", func(data, _ string) error {
			raw, err := os.ReadFile(data)
			if err != nil {
				return err
			}
			raw[len(raw)/2] ^= 4
			return os.WriteFile(data, raw, 0o600)
		}},
		{"cut off", func(data, _ string) error { return os.Truncate(data, 100) }},
		{"longer", func(data, _ string) error {
			f, err := os.OpenFile(data, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("x")
			return errors.Join(err, f.Close())
		}},
		{"no data", func(data, _ string) error { return os.Remove(data) }},
		{"no note", func(_, note string) error { return os.Remove(note) }},
		{"a note cut off", func(_, note string) error { return os.Truncate(note, 20) }},
		{"a note of nothing", func(_, note string) error { return os.WriteFile(note, []byte("{}"), 0o600) }},
		{"a note of other frames", func(_, note string) error {
			var p piece
			if err := statefile.Read(note, &p); err != nil {
				return err
			}
			p.Pictures[1].Frame = 90
			return statefile.WriteVolatile(note, p)
		}},
	}
	base := options(t, testW, testH, testFPS, testFrames)
	interrupted(t, base)
	first := Stretches(testFrames, testFPS)[0]
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, testW, testH, testFPS, testFrames)
			copyWork(t, base, o)
			w, err := openWork(o)
			if err != nil {
				t.Fatal(err)
			}
			defer w.close()
			if _, ok, err := w.find(first); !ok || err != nil {
				t.Fatalf("before it is spoiled: %v, %v", ok, err)
			}
			if err := c.spoil(w.data(first), w.note(first)); err != nil {
				t.Fatal(err)
			}
			if i == 0 { // one of them to the end: the others go the same way from here
				w.close()
				src := &source{w: testW, h: testH}
				if res := must(t, o, src); res.SHA256 != want || res.Reused > testStretches-2 {
					t.Errorf("%+v, want %s", res, want)
				}
				return
			}
			if _, ok, err := w.find(first); ok || err != nil {
				t.Errorf("it is found: %v, %v", ok, err)
			}
			for _, path := range []string{w.data(first), w.note(first)} {
				if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is still there: %v", filepath.Base(path), err)
				}
			}
		})
	}
}

// copyWork gives a film what another one, the same, has finished.
func copyWork(t *testing.T, from, to Options) {
	t.Helper()
	if err := os.CopyFS(to.Work, os.DirFS(from.Work)); err != nil {
		t.Fatal(err)
	}
}

// Another scene, or other settings, must not get this one's stretches; the same
// must, wherever its film goes and whoever makes it.
func TestOtherFilmsStretchesAreNotUsed(t *testing.T) {
	id := func(change func(*Options)) string {
		o := options(t, testW, testH, testFPS, testFrames)
		change(&o)
		id, err := o.id()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	other := filepath.Join(t.TempDir(), "ffmpeg")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{id(func(*Options) {}): "nothing"}
	for name, change := range map[string]func(*Options){
		"key":     func(o *Options) { o.Key = "another" },
		"CRF":     func(o *Options) { o.CRF = 30 },
		"preset":  func(o *Options) { o.Preset = "slow" },
		"quality": func(o *Options) { o.Quality = profile.High },
		"width":   func(o *Options) { o.Width += 2 },
		"height":  func(o *Options) { o.Height += 2 },
		"rate":    func(o *Options) { o.FPS++ },
		"length":  func(o *Options) { o.Frames++ },
		"ffmpeg":  func(o *Options) { o.FFmpeg = other },
	} {
		if was, ok := seen[id(change)]; ok {
			t.Errorf("with another %s it is the film with another %s", name, was)
		}
		seen[id(change)] = name
	}
	if seen[id(func(o *Options) { o.Out, o.Poster, o.Parallel, o.Patience = "x.mp4", "x.jpg", 7, time.Hour })] != "nothing" {
		t.Error("the film depends on where it goes")
	}
}

// A render that fails or is killed must leave nothing but finished stretches: a
// lock for each scene that was ever tried would gather.
func TestLocksDoNotGather(t *testing.T) {
	o := options(t, testW, testH, testFPS, testFrames)
	stop := errors.New("stop")
	if _, err := Film(t.Context(), o, &source{w: testW, h: testH, before: func(context.Context, int) error { return stop }}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if left := files(t, o.Work); len(left) > 0 {
		t.Errorf("a render that finished nothing left %v", left)
	}
	interrupted(t, o)
	kept := files(t, o.Work)
	if len(kept) != 1 || strings.HasSuffix(kept[0], lockSuffix) {
		t.Errorf("an interrupted render left %v", kept)
	}

	// What killed processes have left: with a finished stretch, and with none. And
	// the lock of one that lives.
	held, err := statefile.TryLock(filepath.Join(o.Work, "zz"+lockSuffix))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Unlock()
	for name, text := range map[string]string{kept[0] + lockSuffix: "", "dead" + lockSuffix: "", "dead/00003.h264" + partSuffix: "x", "zz/00003.h264" + partSuffix: "x"} {
		path := filepath.Join(o.Work, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	other := o
	other.Key, other.Frames = "another", 5
	if _, err := Film(t.Context(), other, &source{w: testW, h: testH}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{kept[0], "zz", "zz" + lockSuffix}, files(t, o.Work)); d != "" {
		t.Errorf("in the work folder: %s", d)
	}
	if left := files(t, filepath.Join(o.Work, "zz")); len(left) != 1 {
		t.Error("the part of one that lives is gone")
	}
}

// Films that begin at the same moment must not take each other's locks for a
// while and call themselves busy.
func TestManyBeginAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				w := work{dir: filepath.Join(dir, fmt.Sprint(i))}
				var err error
				if w.lock, err = lockIn(dir, fmt.Sprint(i)); err != nil {
					t.Error(err)
					return
				}
				w.close()
			}
		})
	}
	all.Wait()
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A note is read from a disk: whatever it says, it is either of the stretch and
// fits its data, or it is not used.
func FuzzNote(f *testing.F) {
	dir := f.TempDir()
	w := &work{dir: dir}
	s := Stretch{Index: 0, From: 3, To: 9}
	f.Add([]byte(`{"from":3,"to":9,"pictures":[{"frame":3,"size":4,"key":true},{"frame":5,"size":1}],"sha256":"x"}`), []byte("datax"))
	f.Add([]byte(`{"from":3,"to":9,"pictures":[{"frame":3,"size":9223372036854775807,"key":true},{"frame":5,"size":9223372036854775807}]}`), []byte("data"))
	f.Add([]byte(`{"from":3,"to":9}`), []byte{})
	f.Add([]byte(`[`), []byte{})
	f.Fuzz(func(t *testing.T, note, data []byte) {
		if err := errors.Join(os.WriteFile(w.note(s), note, 0o600), os.WriteFile(w.data(s), data, 0o600)); err != nil {
			t.Fatal(err)
		}
		p, ok, err := w.find(s)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			if _, err := os.Stat(w.data(s)); err == nil {
				t.Error("the data is still there")
			}
			return
		}
		if p.size() != int64(len(data)) || p.From != s.From || p.Pictures[0].Frame != s.From {
			t.Errorf("%+v with %d bytes was taken", p, len(data))
		}
	})
}
