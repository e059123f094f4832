package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/record/browser"
	"github.com/proofreel/proofreel/internal/record/display"
)

// stage is the display with the browser and its page: the same for every run.
type stage struct {
	dir     string
	spawn   *proc.Spawner
	screen  *display.Own
	browser *browser.Browser
	remote  *remote
	server  *httptest.Server
	ffmpeg  string
	exe     string // this program
	product string
}

// open starts everything. The page shows its number only in a strip at its top,
// so that a small change stays a small damage: with a strip at its foot too, each
// frame's damage would span the page.
func open(ctx context.Context, o options) (b *stage, err error) {
	if err := proc.AdoptOrphans(); err != nil { // the product's supervisor becomes our child: its use is told when it ends
		return nil, fmt.Errorf("adopt orphans: %w", err)
	}
	b = &stage{spawn: proc.NewSpawner()}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.ffmpeg, err = ffmpeg.Find(); err != nil {
		return nil, fmt.Errorf("find ffmpeg: %w", err)
	}
	if b.exe, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if b.product, err = filepath.Abs(o.product); err == nil {
		_, err = os.Stat(b.product)
	}
	if err != nil {
		return nil, fmt.Errorf("find the proofreel binary (make build): %w", err)
	}
	if b.dir, err = os.MkdirTemp("", "bench-capture-"); err != nil {
		return nil, fmt.Errorf("make a directory for the films: %w", err)
	}
	b.screen, err = display.Start(ctx, display.Options{Width: o.width, Height: o.height, Dir: b.dir, Spawn: b.spawn})
	if err != nil {
		return nil, fmt.Errorf("start the display: %w", err)
	}
	b.remote = newRemote()
	b.server = httptest.NewServer(b.remote)
	resolved, err := browser.Resolve(string(browser.KindChromium), nil)
	if err != nil {
		return nil, fmt.Errorf("find the browser: %w", err)
	}
	b.browser, err = browser.Start(ctx, browser.Options{
		Resolved: resolved, URL: b.server.URL + "/?beacon=top", Display: b.screen.Name, Xauthority: b.screen.Xauthority,
		Width: o.width, Height: o.height, Dir: b.dir, Spawn: b.spawn,
	})
	if err != nil {
		return nil, fmt.Errorf("start the browser: %w", err)
	}
	if err := b.screen.WaitPainted(ctx); err != nil {
		return nil, fmt.Errorf("wait for the page: %w", err)
	}
	if _, err := b.remote.ask(ctx, ""); err != nil {
		return nil, err
	}
	return b, wait(ctx, 3*time.Second) // the browser's own start-up work
}

func (b *stage) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if b.remote != nil {
		b.remote.end()
	}
	if b.browser != nil {
		_ = b.browser.Close(ctx)
	}
	if b.server != nil {
		b.server.CloseClientConnections()
		b.server.Close()
	}
	if b.screen != nil {
		_ = b.screen.Stop(ctx)
	}
	b.spawn.Close()
	_ = os.RemoveAll(b.dir)
}

// wait is a pause that ends with ctx.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait: %w", ctx.Err())
	}
}
