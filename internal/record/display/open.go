package display

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Info is what is known of a display that is there.
type Info struct {
	Name       string // as it was given
	Number     int
	Xauthority string // cookie file that was used; empty: none
	Width      int    // pixels
	Height     int
	Depth      int // bits of the root window, 24 or 32
}

// Open looks at a display that is there and changes nothing of it. An empty
// xauthority stands for ~/.Xauthority. Every error is an *OpenError.
func Open(ctx context.Context, name, xauthority string) (Info, error) {
	number, err := numberOf(name)
	if err != nil {
		return Info{}, err
	}
	xauthority = cookieFile(xauthority)
	c, err := connect(ctx, number, xauthority)
	if err != nil {
		return Info{}, openError(ctx, name, err)
	}
	defer c.close()
	w, h, depth, err := c.geometry()
	if err != nil {
		return Info{}, openError(ctx, name, err)
	}
	if depth != 24 && depth != 32 {
		return Info{}, &OpenError{
			Display: name, Reason: Depth, Err: fmt.Errorf("it has %d bits a pixel", depth),
			Hint: "Start the display with 24 bits, for instance Xvfb -screen 0 1920x1080x24.",
		}
	}
	return Info{Name: name, Number: number, Xauthority: xauthority, Width: w, Height: h, Depth: depth}, nil
}

// Watch holds a connection to a display that is there. The channel is closed
// when the server has ended or dropped the connection, or ctx ends; until then
// a goroutine runs. Every error is an *OpenError.
func Watch(ctx context.Context, name, xauthority string) (<-chan struct{}, error) {
	number, err := numberOf(name)
	if err != nil {
		return nil, err
	}
	c, err := connect(ctx, number, cookieFile(xauthority))
	if err != nil {
		return nil, openError(ctx, name, err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer c.close()
		for { // nothing was asked for; what the server tells everybody is passed over
			if ev, err := c.x.WaitForEvent(); ev == nil && err == nil {
				return
			}
		}
	}()
	return gone, nil
}

func cookieFile(xauthority string) string {
	if xauthority != "" {
		return xauthority
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".Xauthority")
}

func openError(ctx context.Context, name string, err error) error {
	e := &OpenError{Display: name, Reason: Unanswered, Err: err, Hint: "See whether the X server of that display still works."}
	switch {
	case ctx.Err() != nil:
		e.Err = context.Cause(ctx)
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ENOTDIR):
		e.Reason, e.Hint = NoDisplay, "Look for displays with: ls /tmp/.X11-unix. Leave out --display to start an own one."
	case errors.Is(err, errRefused) || errors.Is(err, unix.EACCES):
		e.Reason, e.Hint = Refused, "Set XAUTHORITY to the cookie file of that display's session, and run as its user."
	}
	return e
}

// Current names the display of the session that this process belongs to, from
// its environment. The error is an *OpenError.
func Current(getenv func(string) string) (string, error) {
	if name := getenv("DISPLAY"); name != "" {
		return name, nil
	}
	if getenv("WAYLAND_DISPLAY") != "" {
		return "", &OpenError{
			Display: getenv("WAYLAND_DISPLAY"), Reason: WaylandOnly, Err: errors.New("this version films X11 displays only"),
			Hint: "Name the session's Xwayland with --display :N, or leave out --display to start an own display.",
		}
	}
	return "", &OpenError{Reason: Unset, Hint: "Set DISPLAY, or leave out --display to start an own one."}
}
