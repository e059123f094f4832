package main

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/proofreel/proofreel/web/rig"
)

const (
	width, height = 1920, 1080
	// tall is the height of the picture through which the scrolling take moves.
	tall = 3400
)

// shot is one lossless picture of the page, and where its parts lie in it.
type shot struct {
	picture image.Image
	rects   map[string]image.Rectangle
}

// pages is the page as a display shows it, and at a length that needs no scrolling.
type pages struct{ display, tall shot }

func takePages(ctx context.Context, chromium, dir string) (pages, error) {
	server := httptest.NewServer(rig.Handler())
	defer server.Close()
	var p pages
	var err error
	if p.display, err = takeShot(ctx, chromium, dir, server.URL, height); err != nil {
		return p, err
	}
	p.tall, err = takeShot(ctx, chromium, dir, server.URL, tall)
	return p, err
}

func takeShot(ctx context.Context, chromium, dir, url string, high int) (shot, error) {
	file := filepath.Join(dir, "page.png")
	browse := func(args ...string) ([]byte, error) {
		argv := []string{
			"--headless", "--hide-scrollbars", "--no-first-run", "--disable-dev-shm-usage",
			"--user-data-dir=" + filepath.Join(dir, "profile"), fmt.Sprintf("--window-size=%d,%d", width, high),
		}
		if os.Geteuid() == 0 {
			argv = append(argv, "--no-sandbox")
		}
		out, err := exec.CommandContext(ctx, chromium, append(argv, append(args, url+"/?rects=1")...)...).Output()
		if err != nil {
			return nil, fmt.Errorf("browser %v: %w", args, err)
		}
		return out, nil
	}
	if _, err := browse("--screenshot=" + file); err != nil {
		return shot{}, err
	}
	f, err := os.Open(file)
	if err != nil {
		return shot{}, fmt.Errorf("the page's picture: %w", err)
	}
	defer func() { _ = f.Close() }()
	s := shot{}
	if s.picture, err = png.Decode(f); err != nil {
		return s, fmt.Errorf("the page's picture: %w", err)
	}
	if size := s.picture.Bounds().Size(); size != image.Pt(width, high) {
		return s, fmt.Errorf("the page's picture is %v, not %dx%d", size, width, high)
	}
	document, err := browse("--dump-dom")
	if err != nil {
		return s, err
	}
	s.rects, err = parseRects(document)
	return s, err
}

var rectsElement = regexp.MustCompile(`(?s)<script type="application/json" id="rects">(.*?)</script>`)

// parseRects reads the places that the rig writes into its document, widened to
// whole pairs of pixels so that every crop has whole chroma samples.
func parseRects(document []byte) (map[string]image.Rectangle, error) {
	found := rectsElement.FindSubmatch(document)
	if found == nil {
		return nil, fmt.Errorf("the page's document has no places of its parts")
	}
	var raw map[string][4]float64
	if err := json.Unmarshal(found[1], &raw); err != nil {
		return nil, fmt.Errorf("places of the page's parts: %w", err)
	}
	rects := make(map[string]image.Rectangle, len(raw))
	for name, r := range raw {
		rects[name] = image.Rect(int(r[0])&^1, int(r[1])&^1, (int(r[2])+2)&^1, (int(r[3])+2)&^1)
	}
	return rects, nil
}
