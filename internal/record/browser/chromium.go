package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// startChromium starts plain Chromium as our own child. It returns when the
// browser has reached its display and started a page's process; whoever films
// waits until the page is on the screen. There is no debugging port: a page
// could tell.
func (b *Browser) startChromium(ctx context.Context, o Options) error {
	args := append(flags(o), "--user-data-dir="+b.Profile(),
		"--disable-features=Translate") // no bubble over the page; agent-browser gives this itself
	if !mayHoldSecret(o.URL) {
		args = append(args, o.URL)
	} else if err := openAtStart(b.Profile(), o.URL); err != nil {
		return &StartError{Kind: b.kind, Err: err}
	}
	reached := startProbe(ctx, o.URL, b.env)
	defer reached.stop()
	tail := &proc.Tail{}
	child, err := b.spawn.Start(proc.Command{
		Role: "browser", Path: b.path, Args: args, Env: b.env, Dir: b.left.Dir, Stderr: tail,
	})
	if err != nil {
		return &StartError{Kind: b.kind, Err: err}
	}
	b.child = child
	b.left.Roots = []proc.Identity{child.Identity}
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for {
		if hasRenderer(child.Identity) {
			b.note = strings.TrimSpace(sandboxNote(child.Identity) + " " + reached.stop())
			return nil
		}
		select {
		case <-ctx.Done():
			return &StartError{Kind: b.kind, Err: context.Cause(ctx), Tail: withoutPage(strings.TrimSpace(tail.String()), o.URL)}
		case <-child.Done():
			return &StartError{Kind: b.kind, Err: endedEarly(child), Tail: withoutPage(strings.TrimSpace(tail.String()), o.URL), Hint: agentBrowserHint(tail.String())}
		case <-tick.C:
		}
	}
}

// hasRenderer says whether the browser has a process for pages.
func hasRenderer(main proc.Identity) bool {
	for _, id := range proc.Descendants(main) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id.PID))
		if err == nil && bytes.Contains(raw, []byte("--type=renderer")) {
			return true
		}
	}
	return false
}

func endedEarly(c *proc.Child) error {
	if err := c.Err(); err != nil {
		return fmt.Errorf("it ended: %w", err)
	}
	return errors.New("it ended at once")
}
