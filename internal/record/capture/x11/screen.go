package x11

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"net"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/shm"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"

	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/record/capture"
)

// allPlanes asks for every bit of a pixel.
const allPlanes = 0xFFFFFFFF

// screen is a connection to the X server with what we hold there.
type screen struct {
	conn   *xgb.Conn
	net    net.Conn
	root   xproto.Window
	format pixel.Format
	size   image.Point // of the root window now
	inbox  *inbox
	pumped chan struct{} // the pump has ended

	xfixes  error         // why there is no XFIXES; nil: there is
	damage  damage.Damage // 0: the server has no DAMAGE
	region  xfixes.Region // receives the damage
	memory  *sharedMemory // nil: pixels come through the socket
	lacking []string      // why a slower way was taken, in words
}

// openScreen connects and prepares everything for pictures of target. What
// the server lacks is noted in lacking; it is an *UnsupportedError when no
// picture can be had at all, and a *lostError when there is no server.
func openScreen(ctx context.Context, target capture.Target, now func() time.Duration) (*screen, error) {
	conn, raw, addr, err := dial(ctx, target.Display, target.Xauthority)
	if err != nil {
		return nil, &lostError{err}
	}
	s := &screen{conn: conn, net: raw, pumped: make(chan struct{})}
	setup := xproto.Setup(conn)
	if addr.screen >= len(setup.Roots) {
		s.abandon()
		return nil, &UnsupportedError{fmt.Sprintf("it has no screen %d", addr.screen)}
	}
	missing := initExtensions(conn) // before the first event can come, see there
	s.xfixes = missing.xfixes
	root := &setup.Roots[addr.screen]
	s.root = root.Root
	s.inbox = newInbox(s.root, now)
	go func() {
		defer close(s.pumped)
		s.inbox.pump(conn)
	}()
	if s.format, err = pixelFormat(setup, root); err == nil {
		err = s.prepare(target, missing)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// abandon ends a connection whose events nobody reads yet.
func (s *screen) abandon() {
	_ = s.net.Close()
	for {
		if ev, err := s.conn.WaitForEvent(); ev == nil && err == nil {
			return
		}
	}
}

func (s *screen) prepare(target capture.Target, missing missing) error {
	mask := []uint32{xproto.EventMaskStructureNotify}
	if err := xproto.ChangeWindowAttributesChecked(s.conn, s.root, xproto.CwEventMask, mask).Check(); err != nil {
		return s.lost("watch the root window", err)
	}
	if err := s.resize(); err != nil {
		return err
	}
	if err := s.watchDamage(missing); err != nil {
		s.damage = 0
		s.lacking = append(s.lacking, fmt.Sprintf("the whole screen is looked at each tick: %v", err))
	}
	bytes := s.stride(target.Width) * target.Height
	memory, err := attachShared(s.conn, bytes, missing.shm)
	if err != nil {
		s.lacking = append(s.lacking, fmt.Sprintf("pixels come through the socket: %v", err))
	}
	s.memory = memory
	return nil
}

// watchDamage asks for the damage of everything on the root window. The level
// is the bounding box: an event comes when it grows, so a burst of paints in
// one place is one event.
func (s *screen) watchDamage(missing missing) error {
	if err := cmp.Or(missing.damage, missing.xfixes); err != nil {
		return fmt.Errorf("the X server reports no damage: %w", err)
	}
	region, err := xfixes.NewRegionId(s.conn)
	if err != nil {
		return fmt.Errorf("name a region: %w", err)
	}
	if err := xfixes.CreateRegionChecked(s.conn, region, nil).Check(); err != nil {
		return fmt.Errorf("make a region: %w", err)
	}
	id, err := damage.NewDamageId(s.conn)
	if err != nil {
		return fmt.Errorf("name a damage object: %w", err)
	}
	err = damage.CreateChecked(s.conn, id, xproto.Drawable(s.root), damage.ReportLevelBoundingBox).Check()
	if err != nil {
		return fmt.Errorf("watch the screen's damage: %w", err)
	}
	s.damage, s.region = id, region
	return nil
}

// resize reads the root window's size.
func (s *screen) resize() error {
	g, err := xproto.GetGeometry(s.conn, xproto.Drawable(s.root)).Reply()
	if err != nil {
		return s.lost("ask for the screen's size", err)
	}
	s.size = image.Pt(int(g.Width), int(g.Height))
	return nil
}

// damaged empties the damage region and returns its rectangles.
func (s *screen) damaged() ([]image.Rectangle, error) {
	damage.Subtract(s.conn, s.damage, 0, s.region)
	reply, err := xfixes.FetchRegion(s.conn, s.region).Reply()
	if err != nil {
		return nil, s.lost("fetch the damage", err)
	}
	out := make([]image.Rectangle, 0, len(reply.Rectangles))
	for _, r := range reply.Rectangles {
		x, y := int(r.X), int(r.Y)
		out = append(out, image.Rect(x, y, x+int(r.Width), y+int(r.Height)))
	}
	return out, nil
}

// stride is the length of a row of pixels as servers send it: whole 32 bits.
func (s *screen) stride(width int) int {
	return (width*s.format.BytesPerPixel() + 3) &^ 3
}

// fetch gets the pixels of each rectangle, rows stride apart. What it returns
// is valid until the next fetch. All requests leave before the first answer is
// awaited, so the server does them in one go.
//
// When the screen has shrunk meanwhile, it returns errShrunk.
func (s *screen) fetch(rects []image.Rectangle) ([][]byte, error) {
	if s.memory == nil {
		return s.fetchBySocket(rects)
	}
	out := make([][]byte, len(rects))
	cookies := make([]shm.GetImageCookie, len(rects))
	offset := 0
	for i, r := range rects {
		n := s.stride(r.Dx()) * r.Dy()
		if offset+n > len(s.memory.data) {
			return nil, fmt.Errorf("rectangles %v are larger than the screen", rects)
		}
		out[i] = s.memory.data[offset : offset+n]
		cookies[i] = shm.GetImage(s.conn, xproto.Drawable(s.root), int16(r.Min.X), int16(r.Min.Y),
			uint16(r.Dx()), uint16(r.Dy()), allPlanes, xproto.ImageFormatZPixmap, s.memory.seg, uint32(offset))
		offset += n
	}
	var first error
	for _, c := range cookies { // every answer is awaited: memory is written until then
		if _, err := c.Reply(); err != nil && first == nil {
			first = err
		}
	}
	return out, s.fetched(first)
}

func (s *screen) fetchBySocket(rects []image.Rectangle) ([][]byte, error) {
	cookies := make([]xproto.GetImageCookie, len(rects))
	for i, r := range rects {
		cookies[i] = xproto.GetImage(s.conn, xproto.ImageFormatZPixmap, xproto.Drawable(s.root),
			int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()), allPlanes)
	}
	out := make([][]byte, len(rects))
	var first error
	for i, c := range cookies {
		reply, err := c.Reply()
		if err == nil {
			out[i] = reply.Data
			continue
		}
		if first == nil {
			first = err
		}
	}
	return out, s.fetched(first)
}

// errShrunk says that a rectangle reached beyond the screen.
var errShrunk = errors.New("the screen is smaller than it was")

func (s *screen) fetched(err error) error {
	var match xproto.MatchError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &match):
		return errShrunk
	default:
		return s.lost("fetch pixels", err)
	}
}

// lost explains an error of a request. One that the server reports leaves the
// connection whole, but we have no use for it either: requests that we make
// don't fail. Whoever runs the engine finds out whether the display is there.
func (s *screen) lost(doing string, err error) error {
	return &lostError{fmt.Errorf("%s: %w", doing, err)}
}

// lostError marks the loss of the X server; the engine names the display.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }

func (e *lostError) Unwrap() error { return e.err }

// close ends the connection and waits for its goroutines' last event.
func (s *screen) close() {
	// xgb's own Close waits for an answer, which a stopped server never gives.
	_ = s.net.Close()
	<-s.pumped
	if s.memory != nil {
		s.memory.close()
	}
}
