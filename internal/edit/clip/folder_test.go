package clip

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
)

func newTestFolder(t *testing.T, out string) *folder {
	t.Helper()
	f, err := newFolder(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.remove)
	return f
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Two recordings of one name that began in one second must not take each
// other's place, in no format; a recording replaces its own clip.
func TestNamesOfTwoRecordings(t *testing.T) {
	const ours, other = `{"recordingId":"0123456789-ours"}`, `{"recordingId":"another"}`
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	const plain, own = "shop-20260102-030405", "shop-20260102-030405-01234567"
	for name, c := range map[string]struct {
		there    map[string]string
		format   Format
		id       string
		video    string
		captions string
	}{
		"nothing there":        {nil, MP4, "0123456789-ours", plain + ".mp4", plain + ".vtt"},
		"its own":              {map[string]string{plain + ".json": ours}, MP4, "0123456789-ours", plain + ".mp4", plain + ".vtt"},
		"another's":            {map[string]string{plain + ".json": other}, MP4, "0123456789-ours", own + ".mp4", own + ".vtt"},
		"another's GIF":        {map[string]string{plain + "-gif.json": other}, MP4, "0123456789-ours", own + ".mp4", own + ".vtt"},
		"somebody's JSON":      {map[string]string{plain + ".json": "[1]"}, MP4, "0123456789-ours", own + ".mp4", own + ".vtt"},
		"its own, as GIF":      {map[string]string{plain + ".json": ours}, GIF, "0123456789-ours", plain + ".gif", plain + "-gif.vtt"},
		"another's, as a WebM": {map[string]string{plain + ".json": other}, WebM, "0123456789-ours", own + ".webm", own + "-webm.vtt"},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			for n, content := range c.there {
				put(t, filepath.Join(out, n), content)
			}
			m := &maker{Options: Options{Name: "shop", Format: c.format}, src: &source{id: c.id, start: start}, work: &folder{out: out}}
			if n := m.names(); n.video != c.video || n.captions != c.captions {
				t.Errorf("%s and %s, want %s and %s", n.video, n.captions, c.video, c.captions)
			}
		})
	}
}

// A clip that was killed leaves its hidden folder: the next clip removes it,
// and never one that is in use.
func TestKilledClipIsSweptAway(t *testing.T) {
	out := t.TempDir()
	used := newTestFolder(t, out)
	dead := filepath.Join(out, workPrefix+"123")
	if err := os.Mkdir(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dead, "video"), "half")
	newTestFolder(t, out)
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the killed clip's folder: %v", err)
	}
	if _, err := os.Stat(used.work); err != nil {
		t.Errorf("the folder in use: %v", err)
	}
}

// An install that fails leaves the clip that was there as it was.
func TestFailedInstallKeepsTheEarlierClip(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, f *folder){
		"a folder in the place": func(t *testing.T, f *folder) {
			if err := os.Mkdir(filepath.Join(f.out, "c"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"a file that is gone": func(t *testing.T, f *folder) {
			if err := os.Remove(f.path("c")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTestFolder(t, t.TempDir())
			put(t, filepath.Join(f.out, "a"), "old")
			for _, n := range []string{"a", "b", "c"} {
				if err := f.write(n, []byte("new")); err != nil {
					t.Fatal(err)
				}
			}
			spoil(t, f)
			var e *fault.Error
			if err := f.install(); !errors.As(err, &e) || e.Code != fault.OutUnwritable {
				t.Errorf("%v", err)
			}
			if raw, err := os.ReadFile(filepath.Join(f.out, "a")); err != nil || string(raw) != "old" {
				t.Errorf("a: %q %v", raw, err)
			}
			if _, err := os.Stat(filepath.Join(f.out, "b")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("b: %v", err)
			}
		})
	}
}
