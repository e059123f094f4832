package x11

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// maxReply bounds what one answer of the server may make us keep, in bytes.
// What we ask for has a few hundred.
const maxReply = 1 << 20

// The first byte of what a server sends (X protocol, appendix B).
const (
	packetError   = 0
	packetReply   = 1
	packetMapping = 34 // MappingNotify
	packetGeneric = 35 // GenericEvent: the one event that is longer than 32 bytes
)

// wire is an X connection without a library: RECORD answers one request many
// times, which xgb can't do.
type wire struct {
	net  net.Conn
	r    *bufio.Reader
	base uint32 // the first resource id that is ours
}

// dialWire connects and logs in. It ends when ctx does.
func dialWire(ctx context.Context, display, xauthority string) (*wire, error) {
	a, err := parseDisplay(display)
	if err != nil {
		return nil, err
	}
	raw, err := a.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to display %s: %w", display, err)
	}
	w := &wire{net: raw, r: bufio.NewReaderSize(raw, 4<<10)}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	err = w.login(a.cookie(xauthority))
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("log in to display %s: %w", display, err)
	}
	return w, nil
}

func (w *wire) login(cookie []byte) error {
	if _, err := w.net.Write(hello(cookie)); err != nil {
		return err
	}
	base, err := readWelcome(w.r)
	w.base = base
	return err
}

// hello is the first thing that a client sends: little-endian, protocol 11.0.
func hello(cookie []byte) []byte {
	name := ""
	if cookie != nil {
		name = magicCookie
	}
	le := binary.LittleEndian
	b := []byte{'l', 0}
	b = le.AppendUint16(b, 11)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, uint16(len(name)))
	b = le.AppendUint16(b, uint16(len(cookie)))
	b = append(b, 0, 0)
	b = padded(append(b, name...))
	return padded(append(b, cookie...))
}

// padded fills up to whole 32 bits.
func padded(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }

// readWelcome reads the server's answer to hello and gives the first id that
// is this client's.
func readWelcome(r io.Reader) (base uint32, err error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, fmt.Errorf("read the server's answer: %w", err)
	}
	body := make([]byte, 4*int(binary.LittleEndian.Uint16(head[6:])))
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, fmt.Errorf("read the server's answer: %w", err)
	}
	if head[0] != 1 {
		return 0, fmt.Errorf("refused: %q", body[:min(int(head[1]), len(body))])
	}
	if len(body) < 32 {
		return 0, fmt.Errorf("the server's answer has %d bytes", len(body))
	}
	return binary.LittleEndian.Uint32(body[4:]), nil
}

// send sends requests.
func (w *wire) send(requests ...[]byte) error {
	for _, r := range requests {
		if _, err := w.net.Write(r); err != nil {
			return fmt.Errorf("send to the X server: %w", err)
		}
	}
	return nil
}

// ask sends a request and waits for its answer, passing over events.
func (w *wire) ask(request []byte) ([]byte, error) {
	if err := w.send(request); err != nil {
		return nil, err
	}
	for {
		p, err := readPacket(w.r)
		if err != nil {
			return nil, err
		}
		if p[0] == packetReply {
			return p, nil
		}
	}
}

// errQuiet says that nothing came before the deadline.
var errQuiet = errors.New("nothing came")

// next waits for a packet. With wait over 0 it is errQuiet when none has begun
// after that time; a packet that has begun is waited for.
func (w *wire) next(wait time.Duration) ([]byte, error) {
	if wait > 0 {
		if err := w.net.SetReadDeadline(time.Now().Add(wait)); err != nil {
			return nil, err
		}
		_, err := w.r.Peek(1)
		if err := w.net.SetReadDeadline(time.Time{}); err != nil {
			return nil, err
		}
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return nil, errQuiet
		}
	}
	return readPacket(w.r)
}

// readPacket reads an answer or an event whole. An error that the server
// reports is an error here.
func readPacket(r io.Reader) ([]byte, error) {
	p := make([]byte, 32)
	if _, err := io.ReadFull(r, p); err != nil {
		return nil, fmt.Errorf("read from the X server: %w", err)
	}
	switch p[0] & 127 {
	case packetError:
		return nil, fmt.Errorf("the X server reports error %d for request %d.%d", p[1], p[10], p[8])
	case packetReply, packetGeneric:
	default:
		return p, nil
	}
	more := uint64(binary.LittleEndian.Uint32(p[4:])) * 4
	if more > maxReply {
		return nil, fmt.Errorf("the X server sends an answer of %d bytes", more)
	}
	p = append(p, make([]byte, more)...)
	if _, err := io.ReadFull(r, p[32:]); err != nil {
		return nil, fmt.Errorf("read from the X server: %w", err)
	}
	return p, nil
}
