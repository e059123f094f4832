package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
)

const filmID = "0193767c-52aa-7cc1-9b0e-0123456789ab"

func film(t *testing.T, size int) Film {
	t.Helper()
	data := bytes.Repeat([]byte("film"), size/4+1)[:size]
	path := filepath.Join(t.TempDir(), "film.mp4")
	write(t, path, data)
	sum := sha256.Sum256(data)
	return Film{Path: path, ID: filmID, Bytes: int64(size), SHA256: hex.EncodeToString(sum[:])}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func toDir(t *testing.T, path string) Publisher {
	t.Helper()
	p, err := New(Target{Kind: KindDir, Path: path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// The directory may be missing, be a link, and hold what an interrupted copy
// left; a second publish changes nothing.
func TestDirInstallsOnce(t *testing.T) {
	f := film(t, 3<<20)
	there := filepath.Join(t.TempDir(), "a", "b[1]*")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(there, link); err != nil {
		t.Fatal(err)
	}
	if _, err := toDir(t, there).Publish(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	want := "proofreel-" + filmID + ".mp4"
	before, err := os.Stat(filepath.Join(there, want))
	if err != nil || before.Mode().Perm() != 0o644 {
		t.Fatalf("mode %v, %v", before, err)
	}
	write(t, filepath.Join(there, ".proofreel-"+filmID+"-123"), []byte("half"))
	receipt, err := toDir(t, link).Publish(t.Context(), f)
	if err != nil || receipt.Path != filepath.Join(link, want) {
		t.Fatalf("%+v, %v", receipt, err)
	}
	if d := cmp.Diff([]string{want}, names(t, there)); d != "" {
		t.Error(d)
	}
	after, err := os.Stat(filepath.Join(there, want))
	if err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Error("the second publish wrote the film again")
	}
}

// What has the film's name but is not the film is replaced; a link there is
// not followed.
func TestDirReplacesWhatIsNotTheFilm(t *testing.T) {
	for _, kind := range []string{"half a film", "another film", "link"} {
		t.Run(kind, func(t *testing.T) {
			f, dir := film(t, 1000), t.TempDir()
			to, elsewhere := filepath.Join(dir, FileName(f)), filepath.Join(t.TempDir(), "other")
			write(t, elsewhere, []byte("precious"))
			switch kind {
			case "half a film":
				write(t, to, []byte("film"))
			case "another film":
				write(t, to, bytes.Repeat([]byte("x"), 1000))
			case "link":
				if err := os.Symlink(elsewhere, to); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := toDir(t, dir).Publish(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			if got := sum(t, to); got != f.SHA256 {
				t.Errorf("the film is not there, but %s", got)
			}
			if raw, err := os.ReadFile(elsewhere); err != nil || string(raw) != "precious" {
				t.Errorf("the link's target was changed: %q, %v", raw, err)
			}
		})
	}
}

// Every failure names the film that is safe and leaves no half file.
func TestDirFails(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, f *Film, dir string) (path string)
		want    string
		hint    string
	}{
		{"a file is in the way", func(t *testing.T, _ *Film, dir string) string {
			t.Helper()
			p := filepath.Join(dir, "file")
			write(t, p, nil)
			return p
		}, "not a directory", "must be a directory"},
		{"below a file", func(t *testing.T, _ *Film, dir string) string {
			t.Helper()
			p := filepath.Join(dir, "file")
			write(t, p, nil)
			return filepath.Join(p, "sub")
		}, "not a directory", "must be a directory"},
		{"link to nowhere", func(t *testing.T, _ *Film, dir string) string {
			t.Helper()
			p := filepath.Join(dir, "link")
			if err := os.Symlink("/nowhere/at/all", p); err != nil {
				t.Fatal(err)
			}
			return p
		}, "make the directory", "must be a directory"},
		{"no file system to write to", func(*testing.T, *Film, string) string { return "/proc/proofreel" }, "make the directory", ""},
		{"disk is too small", func(t *testing.T, f *Film, dir string) string {
			t.Helper()
			f.Bytes = 1 << 42 // 4 TiB, sparse
			if err := os.Truncate(f.Path, f.Bytes); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "no space left", "free some space"},
		{"the film changed", func(t *testing.T, f *Film, dir string) string {
			t.Helper()
			write(t, f.Path, bytes.Repeat([]byte("x"), int(f.Bytes)))
			return dir
		}, "changed since it was verified", ""},
		{"the film is gone", func(t *testing.T, f *Film, dir string) string {
			t.Helper()
			if err := os.Remove(f.Path); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "no such file", ""},
		{"a directory has the film's name", func(t *testing.T, f *Film, dir string) string {
			t.Helper()
			if err := os.Mkdir(filepath.Join(dir, FileName(*f)), 0o755); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "install the film", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, dir := film(t, 1000), t.TempDir()
			path := c.prepare(t, &f, dir)
			receipt, err := toDir(t, path).Publish(t.Context(), f)
			var e *fault.Error
			if !errors.As(err, &e) || e.Code != fault.PublishFailed || e.Artifact != f.Path || receipt != (Receipt{}) {
				t.Fatalf("got %+v, %v", receipt, err)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("error %q, hint %q", err, e.Hint)
			}
			for _, n := range names(t, dir) {
				if strings.HasPrefix(n, ".proofreel-") {
					t.Errorf("%s was left", n)
				}
			}
		})
	}
}

// An interrupted copy leaves nothing.
func TestDirEndsWithTheContext(t *testing.T) {
	f, dir := film(t, 1000), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := toDir(t, dir).Publish(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

func sum(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(raw)
	return hex.EncodeToString(hash[:])
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"":                       "proofreel-" + filmID + ".mp4",
		"Log in, then out":       "log-in-then-out-" + filmID + ".mp4",
		"../../etc/passwd":       "etc-passwd-" + filmID + ".mp4",
		"-rf":                    "rf-" + filmID + ".mp4",
		"Ünï, côdé":              "ünï-côdé-" + filmID + ".mp4",
		"日本語":                    "日本語-" + filmID + ".mp4",
		"U\u0308n हिन्दी":        "u\u0308n-हिन्दी-" + filmID + ".mp4", // marks belong to their letters
		"\u0301\u202e\xff\n":     "proofreel-" + filmID + ".mp4",       // no letter
		strings.Repeat("a", 300): strings.Repeat("a", maxSlug) + "-" + filmID + ".mp4",
		strings.Repeat("語", 300): strings.Repeat("語", maxSlug/3) + "-" + filmID + ".mp4",
	} {
		if got := FileName(Film{ID: filmID, Name: name}); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]string{
		"none": "none", "uploads.sh": "uploads.sh", "dir:/a/b/../c": "dir:/a/c", "dir:films": "dir:" + wd + "/films", "dir:.": "dir:" + wd,
		"dir:a:b": "dir:" + wd + "/a:b",
	} {
		got, err := Parse(spec)
		if err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v, want %s", spec, got, err, want)
		}
		// A kept target is read again by another process.
		if again, err := Parse(got.String()); err != nil || again != got {
			t.Errorf("%s is read again as %v, %v", got, again, err)
		}
	}
	for _, spec := range []string{
		"", "None", "dir", "dir:", "dir:  ", "dir:a\nb", "dir:a\x00", "uploads", "uploads.sh:x", "s3://bucket", "https://me:pw@x/", "github-pr:o/r#1", " none",
	} {
		got, err := Parse(spec)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.InvalidValue || f.Hint == "" || strings.Contains(f.Message, "pw") {
			t.Errorf("%q: got %v, %v", spec, got, err)
		}
	}
	if s := (Target{}).String(); s != "none" {
		t.Errorf("the zero target is %q", s)
	}
}

func TestNew(t *testing.T) {
	p, err := New(Target{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.Publish(t.Context(), Film{}); err != nil || r != (Receipt{}) {
		t.Errorf("none gave %+v, %v", r, err)
	}
	if _, err := New(Target{Kind: KindUploads}, Options{}); err == nil {
		t.Error("uploads.sh without a spawner is no error")
	}
	if _, err := New(Target{Kind: "s3"}, Options{}); err == nil {
		t.Error("an unknown kind is no error")
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, " 5 ": 5 * time.Second, "-1": 0, "soon": 0, "999999999": 24 * time.Hour,
		"Mon, 30 Nov 2026 12:00:09 GMT": 9 * time.Second, "Mon, 30 Nov 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}

// Whatever the CLI prints: no panic, and no address that is not https.
func FuzzAnswer(f *testing.F) {
	f.Add(`{"url":"https://a/b"}`)
	f.Add("note\n{\"url\": \"https://a:b@c/?token=x\"}\n{")
	f.Add(`{"error": {"a": 1}, "code": "NETWORK", "status": 503}`)
	f.Fuzz(func(t *testing.T, text string) {
		if address, err := hostedAddress(text, Film{ID: filmID, Bytes: 1}); err == nil && !strings.HasPrefix(strings.ToLower(address), "https://") {
			t.Errorf("gave %q", address)
		}
		_ = classify(result{code: 1, stdout: text, stderr: text})
		if clean := newRedactor([]string{"UPLOADS_TOKEN=" + token}).clean(text + token); strings.Contains(clean, token) {
			t.Errorf("%q holds the token", clean)
		}
	})
}
