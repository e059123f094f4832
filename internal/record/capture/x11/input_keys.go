package x11

import (
	"slices"
	"strings"

	"github.com/jezek/xgb/xproto"

	"github.com/proofreel/proofreel/internal/record/capture"
)

// Modifiers of a core event's state. Alt and Super are on Mod1 and Mod4, and
// the third level (AltGr) on Mod5, in every keymap of xkeyboard-config.
const (
	maskShift  = 1 << 0
	maskCtrl   = 1 << 2
	maskAlt    = 1 << 3
	maskSuper  = 1 << 6
	maskLevel3 = 1 << 7
)

// keymap gives the keysyms of keycodes, of all groups and levels.
type keymap struct {
	first int // keycode of the first row
	width int // keysyms of a keycode
	syms  []xproto.Keysym
}

// keymap reads the server's keymap.
func (s *screen) keymap() (keymap, error) {
	setup := xproto.Setup(s.conn)
	first, last := setup.MinKeycode, setup.MaxKeycode
	r, err := xproto.GetKeyboardMapping(s.conn, first, byte(last-first+1)).Reply()
	if err != nil {
		return keymap{}, s.lost("read the keymap", err)
	}
	return keymap{first: int(first), width: int(r.KeysymsPerKeycode), syms: r.Keysyms}, nil
}

func (m keymap) of(code byte) []xproto.Keysym {
	at := (int(code) - m.first) * m.width
	if at < 0 || at+m.width > len(m.syms) {
		return nil
	}
	return m.syms[at : at+m.width]
}

// key says which key went down; ok is false for a modifier. With names, keys
// that type nothing have their names, and so have shortcuts. A key that types
// in any group or at any level is text: which one is active is not looked at,
// so that no mistake about it can tell what was typed. An unknown key is text,
// too.
func (m keymap) key(code byte, state uint16, names bool) (k capture.Key, ok bool) {
	syms := m.of(code)
	if slices.ContainsFunc(syms, isModifier) {
		return capture.Key{}, false
	}
	k = capture.Key{Class: capture.KeyText}
	name := ""
	if i := slices.IndexFunc(syms, func(s xproto.Keysym) bool { return s != 0 }); i >= 0 && !slices.ContainsFunc(syms, types) {
		k.Class, name = named(syms[i])
	}
	shortcut := state&(maskCtrl|maskAlt|maskSuper) != 0 && state&maskLevel3 == 0
	if shortcut {
		if k.Class == capture.KeyText {
			name = character(syms)
		}
		k.Class = capture.KeyCombo
	}
	if names && name != "" {
		k.Name, k.Modifiers = name, modifiers(state)
	}
	return k, true
}

func modifiers(state uint16) []string {
	var held []string
	for _, m := range []struct {
		mask uint16
		name string
	}{{maskCtrl, "Ctrl"}, {maskAlt, "Alt"}, {maskSuper, "Super"}, {maskShift, "Shift"}} {
		if state&m.mask != 0 {
			held = append(held, m.name)
		}
	}
	return held
}

// Keysyms are those of X11/keysymdef.h.

func between(s, from, to xproto.Keysym) bool { return s >= from && s <= to }

// isModifier says whether a keysym only changes others.
func isModifier(s xproto.Keysym) bool {
	return between(s, 0xffe1, 0xffee) || // Shift_L to Hyper_R
		between(s, 0xfe01, 0xfe13) || // ISO_Lock to ISO_Level5_Lock
		s == 0xff7e || s == 0xff7f // Mode_switch, Num_Lock
}

// types says whether a keysym is a character or leads to one.
func types(s xproto.Keysym) bool {
	return between(s, 0x20, 0x20ff) || // Latin-1 and the old sets of other scripts
		between(s, 0x01000000, 0x0110ffff) || // Unicode
		between(s, 0xfe50, 0xfe93) || // dead keys
		between(s, 0xff20, 0xff3f) || // compose and input methods
		s == 0xff80 || between(s, 0xffaa, 0xffb9) || s == 0xffbd // the keypad
}

// named gives class and name of a keysym that types nothing.
func named(s xproto.Keysym) (capture.KeyClass, string) {
	switch s {
	case 0xff0d, 0xff8d:
		return capture.KeyEnter, "Enter"
	case 0xff09, 0xfe20, 0xff89:
		return capture.KeyTab, "Tab"
	case 0xff08:
		return capture.KeyBackspace, "Backspace"
	case 0xffff, 0xff9f:
		return capture.KeyDelete, "Delete"
	case 0xff1b:
		return capture.KeyEscape, "Esc"
	case 0xff63, 0xff9e:
		return capture.KeyOther, "Insert"
	case 0xff61:
		return capture.KeyOther, "Print"
	case 0xff67:
		return capture.KeyOther, "Menu"
	}
	moves := []string{"Home", "Left", "Up", "Right", "Down", "PgUp", "PgDn", "End"}
	for _, from := range []xproto.Keysym{0xff50, 0xff95} { // the block's, and the keypad's in their order
		if !between(s, from, from+7) {
			continue
		}
		name := moves[s-from]
		if s-from >= 1 && s-from <= 4 {
			return capture.KeyArrow, name
		}
		return capture.KeyPage, name
	}
	if between(s, 0xffbe, 0xffd5) {
		const f = "F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24"
		return capture.KeyFunction, strings.Fields(f)[s-0xffbe]
	}
	return capture.KeyOther, ""
}

// character names the character key of a shortcut, by the first of its keysyms
// that is in ASCII; empty when none is.
func character(syms []xproto.Keysym) string {
	for _, s := range syms {
		switch {
		case s == ' ':
			return "Space"
		case between(s, 0x21, 0x7e):
			return strings.ToUpper(string(rune(s)))
		}
	}
	return ""
}
