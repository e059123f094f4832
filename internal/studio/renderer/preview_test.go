package renderer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// previewed runs a preview and gives its address; the preview ends with the test.
func previewed(t *testing.T, path string) string {
	t.Helper()
	s := newStudio(t)
	ctx, cancel := context.WithCancel(t.Context())
	url, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		_, err := s.Preview(ctx, PreviewOptions{Source: Source{Scene: path}, Ready: func(u string) { url <- u }})
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the preview ended with %v", err)
		}
	})
	select {
	case u := <-url:
		return u
	case err := <-ended:
		ended <- err
		t.Fatal(err)
		return ""
	}
}

// reply is what is looked at of an answer beside its body.
type reply struct {
	StatusCode int
	Status     string
	Header     http.Header
}

func get(t *testing.T, url, host string) (reply, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Status, answer.Header}, raw
}

// events reads the news of a preview.
func events(t *testing.T, url string) func() news {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	return func() news {
		t.Helper()
		for lines.Scan() {
			if raw, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var n news
				if err := json.Unmarshal([]byte(raw), &n); err != nil {
					t.Fatal(err)
				}
				if !n.Loading && n.Version > 0 {
					return n
				}
			}
		}
		t.Fatalf("the news have ended: %v", lines.Err())
		return news{}
	}
}

// The preview must show the film's frames, say what is wrong, come back when
// the scene is saved, and let in nobody else.
func TestPreview(t *testing.T) {
	path := writeScene(t, small("duration: 1")+"export function draw(ctx, t, frame) { if (frame === 20) throw new Error('at twenty'); ctx.fillStyle = '#f00'; ctx.fillRect(0, 0, 320, 180); }")
	url := previewed(t, path)
	next := events(t, url)
	first := next()
	if first.Frames != 30 || first.Width != 320 || first.Error != "" {
		t.Fatalf("the news are %+v", first)
	}

	answer, raw := get(t, url, "")
	if answer.StatusCode != http.StatusOK || !bytes.Contains(raw, []byte("preview.js")) {
		t.Errorf("the page: %s", answer.Status)
	}
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the page's policy is %q", policy)
	}
	for name, c := range map[string]struct{ url, host string }{
		"without the token":  {url[:strings.LastIndex(url[:len(url)-1], "/")+1], ""},
		"with another token": {strings.Replace(url, url[len(url)-9:len(url)-1], "AAAAAAAA", 1), ""},
		"by another name":    {url, "evil.example"},
	} {
		if answer, _ := get(t, c.url, c.host); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", name, answer.Status)
		}
	}

	frame := func(n, version int) (reply, []byte) {
		return get(t, fmt.Sprintf("%sframe?n=%d&full=1&version=%d", url, n, version), "")
	}
	answer, raw = frame(5, first.Version)
	img, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil || img.Bounds().Dx() != 320 {
		t.Fatalf("frame 5: %s, %v", answer.Status, err)
	}
	if r, g, _, _ := img.At(100, 100).RGBA(); r < 0xF000 || g > 0x1000 {
		t.Errorf("frame 5 is not red: %v", img.At(100, 100))
	}
	if answer, raw = frame(20, first.Version); answer.StatusCode != http.StatusUnprocessableEntity || !bytes.Contains(raw, []byte("scene.js:2:")) || !bytes.Contains(raw, []byte("at twenty")) {
		t.Errorf("frame 20: %s %s", answer.Status, raw)
	}
	if answer, _ = frame(6, first.Version); answer.StatusCode != http.StatusOK {
		t.Errorf("a good frame after a bad one: %s", answer.Status)
	}
	if pictures, words := stream(t, fmt.Sprintf("%splay?from=15&version=%d", url, first.Version)); pictures != 5 || !strings.Contains(words, "at twenty") {
		t.Errorf("playing gives %d pictures, then %q", pictures, words)
	}

	save := func(code string) news {
		if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		return next()
	}
	if n := save("export const meta = {"); !strings.Contains(n.Error, "scene.js:1:") {
		t.Errorf("a broken scene: %+v", n)
	}
	good := save(small("duration: 2") + "export function draw(ctx) { ctx.fillStyle = '#0f0'; ctx.fillRect(0, 0, 320, 180); }")
	if good.Frames != 60 || good.Error != "" || good.Version <= first.Version {
		t.Errorf("a mended scene: %+v", good)
	}
	if answer, _ = frame(5, first.Version); answer.StatusCode != http.StatusConflict {
		t.Errorf("a frame of a version that is gone: %s", answer.Status)
	}
	// A film that is rendered beside the scene is no reason to load it again, nor
	// is another file; an import and an asset are.
	for _, name := range []string{"scene.mp4", "notes.txt", "other.js"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), []byte("export {};"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(3 * lookEvery)
	if answer, raw = frame(5, good.Version); answer.StatusCode != http.StatusOK {
		t.Errorf("after a film was written: %s %s", answer.Status, raw)
	}
	asset := filepath.Join(filepath.Dir(path), "rows.csv")
	part := filepath.Join(filepath.Dir(path), "part.js")
	if err := errors.Join(os.WriteFile(asset, []byte("1"), 0o600), os.WriteFile(part, []byte("export const red = '#f00';"), 0o600)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * lookEvery)
	good = save("import { red } from './part.js';\n" + small("duration: 2, assets: { rows: 'rows.csv' }") + "export function draw(ctx) { ctx.fillStyle = red; ctx.fillRect(0, 0, 320, 180); }")
	for _, file := range []string{part, asset} {
		if err := os.WriteFile(file, []byte("export const red = '#00f';"), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := next(); n.Version != good.Version+1 || n.Error != "" {
			t.Errorf("%s was written: %+v", file, n)
		} else {
			good = n
		}
	}
	// A scene that lacks an import is loaded when that comes.
	if err := os.Remove(part); err != nil {
		t.Fatal(err)
	}
	if n := next(); !strings.Contains(n.Error, "part") {
		t.Errorf("without an import: %+v", n)
	}
	if err := os.WriteFile(part, []byte("export const red = '#f00';"), 0o600); err != nil {
		t.Fatal(err)
	}
	good = next()
	if good.Error != "" {
		t.Errorf("with the import again: %+v", good)
	}
	if pictures, words := stream(t, fmt.Sprintf("%splay?from=50&version=%d", url, good.Version)); pictures != 10 || words != "" {
		t.Errorf("playing gives %d pictures, then %q", pictures, words)
	}
}

// stream reads a played film: how many pictures, and the error's words.
func stream(t *testing.T, url string) (pictures int, words string) {
	t.Helper()
	_, raw := get(t, url, "")
	r := bytes.NewReader(raw)
	part := func() ([]byte, error) {
		var size uint32
		if err := binary.Read(r, binary.BigEndian, &size); err != nil {
			return nil, err
		}
		b := make([]byte, size)
		_, err := io.ReadFull(r, b)
		return b, err
	}
	for {
		b, err := part()
		if errors.Is(err, io.EOF) {
			return pictures, ""
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 {
			b, err = part()
			if err != nil {
				t.Fatal(err)
			}
			return pictures, string(b)
		}
		if _, err := jpeg.Decode(bytes.NewReader(b)); err != nil {
			t.Fatalf("picture %d: %v", pictures, err)
		}
		pictures++
	}
}

// A port that is taken is the caller's mistake.
func TestPreviewPort(t *testing.T) {
	url := previewed(t, writeScene(t, small("duration: 1")+"export function draw() {}"))
	port := 0
	if _, err := fmt.Sscanf(url, "http://127.0.0.1:%d/", &port); err != nil {
		t.Fatal(err)
	}
	_, err := newStudio(t).Preview(t.Context(), PreviewOptions{Source: Source{Scene: "x.js"}, Port: port})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(port)) {
		t.Errorf("the error is %v", err)
	}
}
