// Package display gives the screens that are filmed: own ones (Xvfb with a
// cookie of its own, openbox as window manager) and those that are there.
//
// It starts, sizes, waits for and removes them. Which programs run on a
// screen, and how its pixels become a film, is not known here. A display that
// is there is only looked at: nothing of it is changed.
package display

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// The roles of the processes of an own display.
const (
	RoleXvfb    = "xvfb"
	RoleOpenbox = "openbox"
)

// MaxWidth and MaxHeight bound an own display, in pixels.
const (
	MaxWidth  = 7680
	MaxHeight = 4320
)

//go:embed rc.xml
var openboxSettings []byte

// rootColour is what shows where no window is, as 0xRRGGBB.
const rootColour = 0xd8dde3

// Options says what own display to start.
type Options struct {
	Width, Height int           // pixels, 1 to MaxWidth and MaxHeight; odd sizes are given as asked
	Dir           string        // existing directory of mode 0700 for the cookies and settings
	Env           []string      // environment of the children, to which DISPLAY and XAUTHORITY are added; nil: the process's
	Spawn         *proc.Spawner // starts the children
	Log           *slog.Logger  // nil: nothing is logged
}

// Own is a display that was started here.
type Own struct {
	Name       string // ":7"
	Number     int
	Xauthority string // cookie file for clients
	Width      int
	Height     int
	Xvfb       *proc.Child
	Openbox    *proc.Child

	env  []string
	dir  string
	log  *slog.Logger
	stop sync.Mutex
}

// Start starts an own display and returns when it can be used: the server
// answers and the window manager manages. On error, which is a *StartError or
// the context's cause, nothing that was started is left.
func Start(ctx context.Context, o Options) (*Own, error) {
	if o.Width < 1 || o.Height < 1 || o.Width > MaxWidth || o.Height > MaxHeight {
		return nil, fmt.Errorf("start a display of %dx%d: sizes are 1x1 to %dx%d", o.Width, o.Height, MaxWidth, MaxHeight)
	}
	d := &Own{Width: o.Width, Height: o.Height, dir: o.Dir, env: o.Env, log: o.Log}
	if d.env == nil {
		d.env = os.Environ()
	}
	d.env = slices.DeleteFunc(slices.Clone(d.env), secret)
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if err := d.start(ctx, o.Spawn); err != nil {
		_ = d.Stop(context.WithoutCancel(ctx))
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
		return nil, err
	}
	return d, nil
}

// secret says whether a variable was given to the recording itself and is
// nothing for a display: what publishes, and the page's address.
func secret(kv string) bool {
	return strings.HasPrefix(kv, "UPLOADS_") || strings.HasPrefix(kv, "PROOFREEL_PAGE=")
}

func (d *Own) start(ctx context.Context, spawn *proc.Spawner) error {
	began := time.Now()
	cookie := newCookie()
	if err := writeServerCookie(d.serverCookie(), cookie); err != nil {
		return &StartError{Part: PartFiles, Err: err}
	}
	if err := d.startXvfb(ctx, spawn); err != nil {
		return err
	}
	d.Name = ":" + strconv.Itoa(d.Number)
	d.Xauthority = filepath.Join(d.dir, "Xauthority")
	if err := writeClientCookie(d.Xauthority, d.Number, cookie); err != nil {
		return &StartError{Part: PartFiles, Err: err}
	}
	c, err := connect(ctx, d.Number, d.Xauthority)
	if err != nil {
		return &StartError{Part: PartConnect, Err: err}
	}
	defer c.close()
	w, h, _, err := c.geometry()
	if err != nil {
		return &StartError{Part: PartConnect, Err: err}
	}
	if w != d.Width || h != d.Height {
		return &StartError{Part: PartConnect, Err: fmt.Errorf("the screen is %dx%d, asked was %dx%d", w, h, d.Width, d.Height)}
	}
	if err := c.paintRoot(rootColour); err != nil {
		return &StartError{Part: PartConnect, Err: err}
	}
	if err := d.startOpenbox(ctx, spawn, c); err != nil {
		return err
	}
	d.log.Debug("display started", "display", d.Name, "took", time.Since(began))
	return nil
}

// Env is the environment for programs that are to run on this display.
func (d *Own) Env() []string {
	drop := []string{"DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XDG_SESSION_TYPE", "DESKTOP_STARTUP_ID"}
	env := slices.DeleteFunc(slices.Clone(d.env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(drop, name)
	})
	return append(env, "DISPLAY="+d.Name, "XAUTHORITY="+d.Xauthority, "XDG_SESSION_TYPE=x11")
}

// Lost is closed when the X server has ended, whoever ended it.
func (d *Own) Lost() <-chan struct{} { return d.Xvfb.Done() }

func (d *Own) serverCookie() string { return filepath.Join(d.dir, "Xauthority.server") }
func (d *Own) settings() string     { return filepath.Join(d.dir, "openbox.xml") }
func (d *Own) home() string         { return filepath.Join(d.dir, "openbox") }

// patience is how long a part that is asked to end may do nothing before it is
// killed.
const patience = 2 * time.Second

// Stop ends the window manager and the server, and removes the cookies and
// whatever a killed server left. It may be called again, also while another
// Stop runs.
func (d *Own) Stop(ctx context.Context) error {
	d.stop.Lock()
	defer d.stop.Unlock()
	for _, c := range []*proc.Child{d.Openbox, d.Xvfb} {
		if c != nil {
			c.Stop(ctx, unix.SIGTERM, patience, nil)
		}
	}
	if d.Xvfb != nil && d.Name != "" {
		CleanStale(d.Name, d.Xvfb.Identity)
	}
	var errs []error
	for _, path := range []string{d.serverCookie(), filepath.Join(d.dir, "Xauthority"), d.settings(), d.home()} {
		if err := os.RemoveAll(path); err != nil {
			errs = append(errs, fmt.Errorf("remove the display's files: %w", err))
		}
	}
	return errors.Join(errs...)
}
