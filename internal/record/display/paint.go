package display

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"time"

	"github.com/jezek/xgb/xproto"
)

const (
	// sampleEvery is the time between two looks at the screen.
	sampleEvery = 80 * time.Millisecond
	// stillSamples is how many looks in a row must show the same picture: a
	// browser may draw its frame a moment before the page.
	stillSamples = 3
	// movingFor is how long a picture that never stays the same is waited for.
	movingFor = 1500 * time.Millisecond
)

// WaitPainted returns when the display shows something painted: a window
// covers most of the screen, its pixels are not all the same, and they have
// come to rest, or moved for 1.5 s. It ends with ctx at the latest.
func (d *Own) WaitPainted(ctx context.Context) error {
	return WaitPainted(ctx, Info{Name: d.Name, Number: d.Number, Xauthority: d.Xauthority, Width: d.Width, Height: d.Height, Depth: 24})
}

// WaitPainted is the same for any display of 24 bits depth.
func WaitPainted(ctx context.Context, on Info) error {
	c, err := connect(ctx, on.Number, on.Xauthority)
	if err != nil {
		return openError(ctx, on.Name, err)
	}
	defer c.close()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	seed := maphash.MakeSeed()
	var last uint64
	var same int
	var first time.Time
	state := "no window covers the screen"
	for {
		sum, painted, why, err := c.look(seed)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", state, context.Cause(ctx))
		case err != nil:
			return fmt.Errorf("look at display %s: %w", on.Name, err)
		case !painted:
			same, first, state = 0, time.Time{}, why
		case first.IsZero() || sum != last:
			if first.IsZero() {
				first = time.Now()
			}
			same, last, state = 1, sum, "the picture does not come to rest"
		default:
			same++
		}
		if painted && (same >= stillSamples || time.Since(first) > movingFor) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", state, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// look samples the screen. It says why when the screen is not painted yet.
func (c *client) look(seed maphash.Seed) (sum uint64, painted bool, why string, err error) {
	w, h, _, err := c.geometry()
	if err != nil {
		return 0, false, "", err
	}
	covered, err := c.covered(w, h)
	if err != nil || !covered {
		return 0, false, "no window covers the screen", err
	}
	var hash maphash.Hash
	hash.SetSeed(seed)
	colours := false
	var firstPixel [3]byte
	for i, y := range sampleRows(h) {
		row, err := c.row(y, w)
		if err != nil {
			return 0, false, "", err
		}
		_, _ = hash.Write(row)
		if i == 0 && len(row) >= 4 {
			firstPixel = [3]byte(row)
		}
		colours = colours || !uniform(row, firstPixel)
	}
	return hash.Sum64(), colours, "the window is not painted", nil
}

// sampleRows are the rows that are looked at: some of the top, where a
// browser's own parts are, and some of everywhere.
func sampleRows(height int) []int {
	const top, topStep, spread = 100, 10, 40
	var rows []int
	for y := topStep / 2; y < min(top, height); y += topStep {
		rows = append(rows, y)
	}
	for i := range spread {
		rows = append(rows, height*i/spread)
	}
	return append(rows, height-1)
}

// row reads one row of the root window, 4 bytes a pixel.
func (c *client) row(y, width int) ([]byte, error) {
	img, err := xproto.GetImage(c.x, xproto.ImageFormatZPixmap, xproto.Drawable(c.root), 0, int16(y), uint16(width), 1, 0xffffffff).Reply()
	if err == nil && img == nil {
		err = io.EOF
	}
	if err != nil {
		return nil, fmt.Errorf("read row %d: %w", y, err)
	}
	return img.Data, nil
}

// uniform says whether every pixel of the row has that colour. The fourth
// byte is undefined at 24 bits depth.
func uniform(row []byte, colour [3]byte) bool {
	for ; len(row) >= 4; row = row[4:] {
		if [3]byte(row) != colour {
			return false
		}
	}
	return true
}

// covered says whether a mapped window covers at least half of the screen.
func (c *client) covered(width, height int) (bool, error) {
	tree, err := xproto.QueryTree(c.x, c.root).Reply()
	if err == nil && tree == nil {
		err = io.EOF
	}
	if err != nil {
		return false, fmt.Errorf("list the windows: %w", err)
	}
	for _, w := range tree.Children {
		g, err := xproto.GetGeometry(c.x, xproto.Drawable(w)).Reply()
		if errors.Is(err, io.EOF) {
			return false, err
		}
		if err != nil || g == nil { // gone meanwhile
			continue
		}
		x0, y0 := max(int(g.X), 0), max(int(g.Y), 0)
		x1, y1 := min(int(g.X)+int(g.Width), width), min(int(g.Y)+int(g.Height), height)
		if x1 <= x0 || y1 <= y0 || 2*(x1-x0)*(y1-y0) < width*height {
			continue
		}
		a, err := xproto.GetWindowAttributes(c.x, w).Reply()
		if err == nil && a != nil && a.MapState == xproto.MapStateViewable && a.Class == xproto.WindowClassInputOutput {
			return true, nil
		}
	}
	return false, nil
}
