package x11

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jezek/xgb/xproto"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/record/capture"
)

func xdotool(t testing.TB, display string, args ...string) {
	t.Helper()
	cmd := exec.Command(need(t, "xdotool", "xdotool"), args...)
	cmd.Env = append(os.Environ(), "DISPLAY="+display)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("xdotool %v: %v: %s", args, err, out)
	}
}

// xvnc starts a VNC server, whose devices are its own.
func xvnc(t testing.TB, spawn *proc.Spawner, w, h int) string {
	t.Helper()
	path := need(t, "Xvnc", "tigervnc-standalone-server")
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	child, err := spawn.Start(proc.Command{Role: "xvnc", Path: path, Files: []*os.File{wr}, Args: []string{
		"-displayfd", "3", "-geometry", strconv.Itoa(w) + "x" + strconv.Itoa(h), "-depth", "24", "-noreset",
		"-SecurityTypes", "None", "-rfbunixpath", filepath.Join(t.TempDir(), "rfb"), "-rfbport", "-1",
	}})
	_ = wr.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(child.Kill)
	var number int
	if _, err := fmt.Fscan(r, &number); err != nil {
		t.Fatalf("Xvnc gave no display: %v", err)
	}
	return fmt.Sprintf(":%d", number)
}

// logged is the input log without times and without moves.
func (p *tape) logged() []capture.Input {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []capture.Input
	for _, in := range p.inputs {
		if in.At = 0; in.Kind != capture.InputMove {
			all = append(all, in)
		}
	}
	return all
}

// Guards the log on real servers: buttons at the place where they were pressed
// though the pointer has gone on at once, wheel, keys by their class, and never
// a character. Each request of xdotool is one burst: a log that asked for the
// pointer's place afterwards would have the wrong one.
func TestInput(t *testing.T) {
	const w, h = 320, 240
	down := func(x, y, b int) []capture.Input {
		return []capture.Input{
			{Kind: capture.InputDown, X: x, Y: y, Button: b},
			{Kind: capture.InputUp, X: x, Y: y, Button: b},
		}
	}
	key := func(class capture.KeyClass, name string, mods ...string) capture.Input {
		return capture.Input{Kind: capture.InputKey, Key: capture.Key{Class: class, Name: name, Modifiers: mods}}
	}
	servers := map[string]func(t *testing.T, spawn *proc.Spawner) string{
		"Xvfb": func(t *testing.T, spawn *proc.Spawner) string {
			display, _ := xvfb(t, spawn, w, h, 24)
			return display
		},
		"Xvnc": func(t *testing.T, spawn *proc.Spawner) string { return xvnc(t, spawn, w, h) },
	}
	keys := map[bool][]capture.Input{
		false: {
			key(capture.KeyCombo, ""), key(capture.KeyCombo, ""), key(capture.KeyText, ""),
			key(capture.KeyEnter, ""), key(capture.KeyArrow, ""), key(capture.KeyTab, ""), key(capture.KeyFunction, ""),
		},
		true: {
			key(capture.KeyCombo, "S", "Ctrl"), key(capture.KeyCombo, "Left", "Ctrl", "Alt"), key(capture.KeyText, ""),
			key(capture.KeyEnter, "Enter"), key(capture.KeyArrow, "Down"), key(capture.KeyTab, "Tab", "Shift"), key(capture.KeyFunction, "F5"),
		},
	}
	for name, server := range servers {
		for names, wantKeys := range keys {
			t.Run(name+"/names="+strconv.FormatBool(names), func(t *testing.T) {
				spawn := newSpawner(t)
				display := server(t, spawn)
				cfg := config(t, spawn, display, w, h, 30)
				cfg.Keys = names
				tp := newTape()
				_, stop := film(t, cfg, tp)
				eventually(t, "the pointer's first place", func() bool { return len(tp.pointers()) > 0 })
				xdotool(t, display, "mousemove", "21", "32", "click", "1", "mousemove", "200", "111", "click", "3", "click", "5", "mousemove", "5", "6")
				// é is in no keymap: xdotool puts it into one, and out again.
				xdotool(t, display, "key", "ctrl+s", "key", "ctrl+alt+Left", "type", "--delay", "1", "Hunter2é")
				xdotool(t, display, "key", "Return", "key", "Down", "key", "shift+Tab", "key", "F5")
				want := []capture.Input{{Kind: capture.InputSource, Source: sourceRecord}}
				want = append(want, down(21, 32, 1)...)
				want = append(want, down(200, 111, 3)...)
				want = append(want, capture.Input{Kind: capture.InputWheel, X: 200, Y: 111, DY: 1})
				want = append(want, wantKeys...)
				eventually(t, "all is logged", func() bool { return len(tp.logged()) >= len(want) })
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, tp.logged()); diff != "" {
					t.Errorf("log (-want +got):\n%s", diff)
				}
				if at := tp.pointers(); at[len(at)-1] != image.Pt(5, 6) {
					t.Errorf("the way of the pointer is %v", at)
				}
			})
		}
	}
}

// Guards a server without RECORD: the pointer's place is logged all the same,
// and the log says that nothing else is.
func TestInputWithoutRecord(t *testing.T) {
	const w, h = 160, 120
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24, "-extension", "RECORD")
	tp := newTape()
	_, stop := film(t, config(t, spawn, display, w, h, 30), tp)
	newPainter(t, display).warp(image.Pt(12, 34))
	eventually(t, "the pointer", func() bool {
		at := tp.pointers()
		return len(at) > 0 && at[len(at)-1] == image.Pt(12, 34)
	})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	got := tp.logged()
	if len(got) != 1 || got[0].Kind != capture.InputSource || !strings.Contains(got[0].Source, "no RECORD") {
		t.Errorf("log %+v", got)
	}
}

// Guards what a keyboard of several groups and levels would give away.
func TestKeyClasses(t *testing.T) {
	rows := [][]xproto.Keysym{
		8:  {'s', 'S', 0x6d9, 0x6f9}, // Latin and Cyrillic
		9:  {0x6d9, 0x6f9},           // Cyrillic alone
		10: {0xff95, 0xffb7},         // KP_Home, KP_7: Num Lock decides
		11: {0xfe51},                 // dead_acute
		12: {},                       // nothing is known
		13: {0xffe3},                 // Control_L
		14: {0xfe03},                 // ISO_Level3_Shift
		15: {0xff8d},                 // KP_Enter
		16: {0x1008ff13},             // XF86AudioRaiseVolume
		17: {' '},
		18: {0xff09, 0xfe20}, // Tab, ISO_Left_Tab
		19: {0xffbe, 0xffbe, 0x1008fe01},
		20: {0, 0x01000107}, // ć at the second level alone
		21: {0xff50},
	}
	m := keymap{first: 8, width: 4}
	for _, row := range rows[8:] {
		m.syms = append(m.syms, append(append([]xproto.Keysym{}, row...), make([]xproto.Keysym, 4-len(row))...)...)
	}
	text := capture.Key{Class: capture.KeyText}
	tests := []struct {
		what  string
		code  byte
		state uint16
		want  capture.Key
		mods  bool // a modifier: no key
	}{
		{"letter", 8, 0, text, false},
		{"capital", 8, maskShift, text, false},
		{"with AltGr", 8, maskLevel3, text, false},
		{"with AltGr as Ctrl+Alt", 8, maskLevel3 | maskCtrl | maskAlt, text, false},
		{"shortcut", 8, maskCtrl | maskShift, capture.Key{Class: capture.KeyCombo, Name: "S", Modifiers: []string{"Ctrl", "Shift"}}, false},
		{"shortcut without a Latin letter", 9, maskSuper, capture.Key{Class: capture.KeyCombo}, false},
		{"digit of the keypad", 10, 0, text, false},
		{"dead key", 11, 0, text, false},
		{"unknown", 12, 0, text, false},
		{"unknown shortcut", 12, maskAlt, capture.Key{Class: capture.KeyCombo}, false},
		{"outside of the map", 250, 0, text, false},
		{"below the map", 3, 0, text, false},
		{"Ctrl", 13, 0, capture.Key{}, true},
		{"AltGr", 14, 0, capture.Key{}, true},
		{"keypad's Enter", 15, 0, capture.Key{Class: capture.KeyEnter, Name: "Enter"}, false},
		{"media", 16, 0, capture.Key{Class: capture.KeyOther}, false},
		{"space", 17, 0, text, false},
		{"Ctrl+Space", 17, maskCtrl, capture.Key{Class: capture.KeyCombo, Name: "Space", Modifiers: []string{"Ctrl"}}, false},
		{"Shift+Tab", 18, maskShift, capture.Key{Class: capture.KeyTab, Name: "Tab", Modifiers: []string{"Shift"}}, false},
		{"F1", 19, 0, capture.Key{Class: capture.KeyFunction, Name: "F1"}, false},
		{"second level alone", 20, 0, text, false},
		{"Home", 21, 0, capture.Key{Class: capture.KeyPage, Name: "Home"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			got, ok := m.key(tt.code, tt.state, true)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok == tt.mods {
				t.Errorf("ok %v, key (-want +got):\n%s", ok, diff)
			}
			if plain, _ := m.key(tt.code, tt.state, false); plain.Name != "" || plain.Modifiers != nil {
				t.Errorf("a name without being asked: %+v", plain)
			}
		})
	}
}

// Guards the thinning: a fast mouse fills no disk, its last place is not lost,
// and typing shows neither how many keys nor their rhythm.
func TestInputIsThinned(t *testing.T) {
	var got []capture.Input
	w := &inputWatch{typedAt: map[capture.KeyClass]time.Duration{}, put: func(in capture.Input) { got = append(got, in) }}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	w.keys = keymap{first: 8, width: 1, syms: []xproto.Keysym{'a', 0xff08}}
	for i := range 1000 { // a second at 1000 Hz
		w.event(deviceEvent{kind: eventMotion, x: i, y: 1}, ms(1000+i))
	}
	w.flush()
	if last := got[len(got)-1]; len(got) > 56 || len(got) < 45 || last.X != 999 || last.At != ms(1999) {
		t.Errorf("%d moves, the last %+v", len(got), last)
	}
	for i := 1; i < len(got); i++ {
		if got[i].At < got[i-1].At || got[i].X <= got[i-1].X {
			t.Fatalf("moves out of order: %+v after %+v", got[i], got[i-1])
		}
	}
	got = nil
	for i := range 30 { // 3 s of typing, with corrections
		w.event(deviceEvent{kind: eventKeyPress, detail: byte(8 + i%2)}, ms(3000+100*i))
	}
	if len(got) != 6 { // each second, each of the two classes
		t.Errorf("%d entries of typing", len(got))
	}
	got = nil
	w.event(deviceEvent{kind: eventMotion, x: 5, y: 5}, ms(9000))
	w.event(deviceEvent{kind: eventMotion, x: 6, y: 5}, ms(9001))
	w.event(deviceEvent{kind: eventButtonPress, detail: 1, x: 7, y: 5}, ms(9002))
	w.event(deviceEvent{kind: eventButtonRelease, detail: 4, x: 7, y: 5}, ms(9003))
	w.flush()
	want := []capture.Input{{At: ms(9000), Kind: capture.InputMove, X: 5, Y: 5}, {At: ms(9002), Kind: capture.InputDown, X: 7, Y: 5, Button: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// Guards against what a broken or hostile server sends.
func FuzzInputPackets(f *testing.F) {
	event := make([]byte, eventSize)
	event[0], event[1] = eventButtonPress, 1
	binary.LittleEndian.PutUint16(event[20:], 33)
	reply := make([]byte, 32)
	reply[0], reply[4] = packetReply, 8
	f.Add(append(reply, event...))
	f.Add(event)
	generic := bytes.Repeat([]byte{0xff}, 32)
	generic[0] = packetGeneric
	f.Add(generic)
	f.Add([]byte{0, 8, 1, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := bytes.NewReader(raw)
		for {
			p, err := readPacket(r)
			if err != nil {
				break
			}
			if len(p) > maxReply+32 {
				t.Fatalf("a packet of %d bytes", len(p))
			}
			for _, ev := range deviceEvents(p) {
				if ev.kind < eventKeyPress || ev.kind > eventMotion {
					t.Fatalf("event %+v", ev)
				}
			}
		}
		_, _ = readWelcome(bytes.NewReader(raw))
	})
}
