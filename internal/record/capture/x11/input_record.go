package x11

import (
	"context"
	"encoding/binary"
	"fmt"
)

// The RECORD extension, version 1.13: its requests, and the categories of the
// answers to EnableContext.
const (
	recordName          = "RECORD"
	recordQueryVersion  = 0
	recordCreateContext = 1
	recordEnableContext = 5

	recordAllClients = 3 // a client specification; events of devices are told once whatever it is
	recordFromServer = 0
	recordStart      = 4
	recordEnd        = 5
)

// Core events that a device makes (X protocol, appendix B).
const (
	eventKeyPress      = 2
	eventButtonPress   = 4
	eventButtonRelease = 5
	eventMotion        = 6
	eventSize          = 32
)

// openRecord connects and has the server tell each event of its devices, as
// they come from them: with the pointer's place at that time, whoever grabs the
// device and whatever clients select. Key releases are not asked for. While no
// device makes an event nothing is sent.
func openRecord(ctx context.Context, display, xauthority string) (*wire, error) {
	w, err := dialWire(ctx, display, xauthority)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = w.net.Close() })
	err = w.enableRecord()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = w.net.Close()
		return nil, err
	}
	return w, nil
}

func (w *wire) enableRecord() error {
	reply, err := w.ask(queryExtensionRequest(recordName))
	if err != nil {
		return fmt.Errorf("ask for %s: %w", recordName, err)
	}
	if reply[8] == 0 {
		return fmt.Errorf("the X server has no %s", recordName)
	}
	major := reply[9]
	if _, err := w.ask([]byte{major, recordQueryVersion, 2, 0, 1, 0, 13, 0}); err != nil {
		return fmt.Errorf("agree on a version of %s: %w", recordName, err)
	}
	le := binary.LittleEndian
	enable := le.AppendUint32([]byte{major, recordEnableContext, 2, 0}, w.base)
	if err := w.send(createContextRequest(major, w.base), enable); err != nil {
		return err
	}
	for {
		p, err := readPacket(w.r)
		if err != nil {
			return fmt.Errorf("have the X server record its devices: %w", err)
		}
		if p[0] == packetReply && p[1] == recordStart {
			return nil
		}
	}
}

func queryExtensionRequest(name string) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16([]byte{98, 0}, uint16(2+(len(name)+3)/4))
	b = le.AppendUint16(b, uint16(len(name)))
	return padded(append(append(b, 0, 0), name...))
}

// createContextRequest asks for two ranges of device events: key presses, and
// all of buttons and motion.
func createContextRequest(major byte, id uint32) []byte {
	const size, rangeSize, deviceEvents = 24, 24, 18 // bytes; place of device-events in a RECORDRANGE
	le := binary.LittleEndian
	b := le.AppendUint16([]byte{major, recordCreateContext}, (size+2*rangeSize)/4)
	b = le.AppendUint32(b, id)
	b = append(b, 0, 0, 0, 0) // no element header
	b = le.AppendUint32(b, 1) // client specifications
	b = le.AppendUint32(b, 2) // ranges
	b = le.AppendUint32(b, recordAllClients)
	for _, r := range [][2]byte{{eventKeyPress, eventKeyPress}, {eventButtonPress, eventMotion}} {
		all := make([]byte, rangeSize)
		all[deviceEvents], all[deviceEvents+1] = r[0], r[1]
		b = append(b, all...)
	}
	return b
}

// deviceEvent is a core event as a device made it.
type deviceEvent struct {
	kind   byte   // one of the event constants
	detail byte   // keycode or button
	x, y   int    // the pointer on its root window
	state  uint16 // modifiers and buttons before the event
}

// deviceEvents takes the events out of an answer to EnableContext. What is not
// a whole event of ours is left out.
func deviceEvents(packet []byte) []deviceEvent {
	if len(packet) < 32 || packet[0] != packetReply || packet[1] != recordFromServer {
		return nil
	}
	le := binary.LittleEndian
	var out []deviceEvent
	for b := packet[32:]; len(b) >= eventSize; b = b[eventSize:] {
		switch kind := b[0] & 127; kind {
		case eventKeyPress, eventButtonPress, eventButtonRelease, eventMotion:
			out = append(out, deviceEvent{
				kind: kind, detail: b[1], state: le.Uint16(b[28:]),
				x: int(int16(le.Uint16(b[20:]))), y: int(int16(le.Uint16(b[22:]))),
			})
		}
	}
	return out
}
