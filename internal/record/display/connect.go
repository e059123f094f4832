package display

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// socketDir is where X servers of this machine listen.
const socketDir = "/tmp/.X11-unix"

func socketPath(number int) string { return filepath.Join(socketDir, "X"+strconv.Itoa(number)) }

// errRefused says that the server refused the connection setup.
var errRefused = errors.New("the X server refused the connection")

// client is a connection to an X server that ends with its context: a server
// that was stopped (SIGSTOP) never holds a caller for longer.
type client struct {
	x      *xgb.Conn
	root   xproto.Window
	screen *xproto.ScreenInfo
	stop   func() bool
}

// connect opens a local display with the cookie in the file xauthority.
// xgb's own dialing reads the process's environment; this does not.
func connect(ctx context.Context, number int, xauthority string) (*client, error) {
	// xgb reports on stderr by default, which belongs to machine output.
	xgb.Logger.SetOutput(io.Discard)
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read the host's name: %w", err)
	}
	cookie, err := findCookie(xauthority, strconv.Itoa(number), host)
	if err != nil {
		return nil, err
	}
	if cookie == nil {
		// Without one, any cookie does as well as none: a server that goes by
		// user or host lets us in, another refuses.
		cookie = newCookie()
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socketPath(number))
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	x, err := xgb.NewConnNetWithCookieHex(conn, hex.EncodeToString(cookie))
	if err != nil {
		stop()
		_ = conn.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if strings.Contains(err.Error(), "refused") {
			return nil, fmt.Errorf("%w: %w", errRefused, err)
		}
		return nil, fmt.Errorf("set up the connection: %w", err)
	}
	setup := xproto.Setup(x)
	if len(setup.Roots) == 0 {
		stop()
		x.Close()
		return nil, errors.New("the X server has no screen")
	}
	screen := &setup.Roots[0]
	return &client{x: x, root: screen.Root, screen: screen, stop: stop}, nil
}

func (c *client) close() {
	c.stop()
	c.x.Close()
}

// geometry asks the server for the root window's size and depth.
func (c *client) geometry() (width, height, depth int, err error) {
	g, err := xproto.GetGeometry(c.x, xproto.Drawable(c.root)).Reply()
	if err == nil && g == nil {
		err = io.EOF
	}
	if err != nil {
		return 0, 0, 0, fmt.Errorf("ask for the screen's size: %w", err)
	}
	return int(g.Width), int(g.Height), int(g.Depth), nil
}

func (c *client) atom(name string) (xproto.Atom, error) {
	a, err := xproto.InternAtom(c.x, false, uint16(len(name)), name).Reply()
	if err == nil && a == nil {
		err = io.EOF
	}
	if err != nil {
		return 0, fmt.Errorf("look up %s: %w", name, err)
	}
	return a.Atom, nil
}

// windows reads a property that is a list of windows; a missing one is empty.
func (c *client) windows(w xproto.Window, prop xproto.Atom) ([]xproto.Window, error) {
	p, err := xproto.GetProperty(c.x, false, w, prop, xproto.AtomWindow, 0, 1024).Reply()
	if err == nil && p == nil {
		err = io.EOF
	}
	if err != nil {
		return nil, err
	}
	if p.Format != 32 {
		return nil, nil
	}
	out := make([]xproto.Window, 0, len(p.Value)/4)
	for v := p.Value; len(v) >= 4; v = v[4:] {
		out = append(out, xproto.Window(xgb.Get32(v)))
	}
	return out, nil
}

// hasWM says whether a window manager has announced itself (EWMH,
// _NET_SUPPORTING_WM_CHECK).
func (c *client) hasWM() (bool, error) {
	a, err := c.atom("_NET_SUPPORTING_WM_CHECK")
	if err != nil {
		return false, err
	}
	w, err := c.windows(c.root, a)
	return len(w) > 0 && w[0] != 0, err
}

// paintRoot gives the root window a colour (0xRRGGBB).
func (c *client) paintRoot(rgb uint32) error {
	if err := xproto.ChangeWindowAttributesChecked(c.x, c.root, xproto.CwBackPixel, []uint32{rgb}).Check(); err != nil {
		return fmt.Errorf("colour the root window: %w", err)
	}
	return xproto.ClearAreaChecked(c.x, false, c.root, 0, 0, 0, 0).Check()
}

// numberOf parses a display's name: ":7", ":7.0", "unix:7".
func numberOf(name string) (int, error) {
	host, rest, found := strings.Cut(name, ":")
	if !found {
		return 0, &OpenError{Display: name, Reason: NoDisplay, Hint: "Name it like :0."}
	}
	if host != "" && host != "unix" {
		return 0, &OpenError{Display: name, Reason: NotLocal, Hint: "Only displays of this machine can be filmed, like :0."}
	}
	digits, _, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return 0, &OpenError{Display: name, Reason: NoDisplay, Hint: "Name it like :0."}
	}
	return int(n), nil
}
