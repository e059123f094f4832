package x11

import (
	"bufio"
	"context"
	"encoding/binary"
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
)

// address is a display name taken apart (X(7), "DISPLAY NAMES").
type address struct {
	host   string // empty: this machine's socket
	number int
	screen int
}

// parseDisplay reads "[host]:number[.screen]".
func parseDisplay(name string) (address, error) {
	bad := fmt.Errorf("display name %q is not [host]:number[.screen]", name)
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 {
		return address{}, bad
	}
	a := address{host: name[:colon]}
	if a.host == "unix" {
		a.host = ""
	}
	number, screen, dotted := strings.Cut(name[colon+1:], ".")
	var err error
	if a.number, err = strconv.Atoi(number); err != nil || a.number < 0 || a.number > 65535-6000 {
		return address{}, bad
	}
	if !dotted {
		return a, nil
	}
	if a.screen, err = strconv.Atoi(screen); err != nil || a.screen < 0 {
		return address{}, bad
	}
	return a, nil
}

// dial connects to the X server. The net.Conn is returned too, because closing
// it is the only way to end requests to a server that no longer answers.
func dial(ctx context.Context, display, xauthority string) (*xgb.Conn, net.Conn, address, error) {
	xgb.Logger.SetOutput(io.Discard) // it would write to our stderr, which belongs to the contract
	a, err := parseDisplay(display)
	if err != nil {
		return nil, nil, address{}, err
	}
	raw, err := a.open(ctx)
	if err != nil {
		return nil, nil, address{}, fmt.Errorf("connect to display %s: %w", display, err)
	}
	// A server that hangs in the handshake must not hang us.
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	conn, err := greet(&bufferedConn{Conn: raw, r: bufio.NewReaderSize(raw, 16<<10)}, a.cookie(xauthority))
	if !stop() && err == nil {
		conn.Close()
		err = ctx.Err()
	}
	if err != nil {
		_ = raw.Close()
		return nil, nil, address{}, fmt.Errorf("log in to display %s: %w", display, err)
	}
	return conn, raw, a, nil
}

func greet(c net.Conn, cookie []byte) (*xgb.Conn, error) {
	if cookie == nil {
		return xgb.NewConnNet(c)
	}
	return xgb.NewConnNetWithCookieHex(c, hex.EncodeToString(cookie))
}

// open tries the abstract socket first, as Xlib does: it is there also where
// /tmp is another one.
func (a address) open(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	if a.host != "" {
		return d.DialContext(ctx, "tcp", net.JoinHostPort(a.host, strconv.Itoa(6000+a.number)))
	}
	path := "/tmp/.X11-unix/X" + strconv.Itoa(a.number)
	if c, err := d.DialContext(ctx, "unix", "@"+path); err == nil {
		return c, nil
	}
	return d.DialContext(ctx, "unix", path)
}

// bufferedConn reads replies with fewer system calls: xgb asks for 32 bytes first.
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

const magicCookie = "MIT-MAGIC-COOKIE-1"

// Families of an Xauthority entry (Xauth.h and Xproto.h).
const (
	familyLocal = 256
	familyWild  = 65535
)

// cookie finds the display's cookie in an Xauthority file; an empty path is
// the environment's. Without one, nil: many own displays need none.
func (a address) cookie(path string) []byte {
	if path == "" {
		path = os.Getenv("XAUTHORITY")
	}
	if path == "" {
		path = filepath.Join(os.Getenv("HOME"), ".Xauthority")
	}
	f, err := os.Open(path) //nolint:gosec // the file that the user named, as every X client opens it
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	hostname, _ := os.Hostname()
	cookie, err := a.findCookie(bufio.NewReader(io.LimitReader(f, 1<<20)), hostname)
	if err != nil {
		return nil
	}
	return cookie
}

var errNoCookie = errors.New("no cookie for this display")

// findCookie reads entries until one fits this display on this machine.
func (a address) findCookie(r io.Reader, hostname string) ([]byte, error) {
	for {
		var family uint16
		if err := binary.Read(r, binary.BigEndian, &family); err != nil {
			return nil, errNoCookie
		}
		var fields [4][]byte // address, display number, protocol, data
		for i := range fields {
			var err error
			if fields[i], err = readCounted(r); err != nil {
				return nil, err
			}
		}
		number := string(fields[1])
		local := family == familyLocal && string(fields[0]) == hostname
		if family != familyWild && !local && a.host == "" {
			continue
		}
		if (number == "" || number == strconv.Itoa(a.number)) && string(fields[2]) == magicCookie && len(fields[3]) == 16 {
			return fields[3], nil
		}
	}
}

func readCounted(r io.Reader) ([]byte, error) {
	var n uint16
	if err := binary.Read(r, binary.BigEndian, &n); err != nil {
		return nil, fmt.Errorf("read Xauthority: %w", err)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("read Xauthority: %w", err)
	}
	return b, nil
}
