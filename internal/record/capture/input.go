package capture

import "time"

// InputSink is a Sink that also wants to know what is done with pointer and
// keys. An engine that can't tell calls nothing of it.
type InputSink interface {
	Sink
	// Input takes one entry, in the order of time and under the rules of
	// Sink. It reports no error: a film is worth more than its input log.
	Input(Input)
}

// Input is something that was done with the pointer or the keyboard.
type Input struct {
	At     time.Duration // since the epoch
	Kind   InputKind
	X, Y   int    // the pointer's hot spot in pixels of the display; of all kinds but Source and Key
	Button int    // of Down and Up: 1 left, 2 middle, 3 right, 8 and more others
	DX, DY int    // of Wheel, in notches; right and down are positive
	Key    Key    // of Key
	Source string // of Source: by which means the display's input is known, in words
}

// InputKind names what was done.
type InputKind string

// The kinds of input.
const (
	InputSource InputKind = "source" // what follows is known by other means than before
	InputMove   InputKind = "move"
	InputDown   InputKind = "down"
	InputUp     InputKind = "up"
	InputWheel  InputKind = "wheel"
	InputKey    InputKind = "key"
)

// Key is a key that went down. Which character a key types is known to no
// engine's caller: typing is a class, and has no name.
type Key struct {
	Class KeyClass
	// Name is the key's name where Config.Keys asks for it: "Enter", "F5", and
	// in a shortcut also a character, "S". Empty for KeyText, always.
	Name      string
	Modifiers []string // that were held, with a Name only: "Ctrl", "Alt", "Super", "Shift"
}

// KeyClass says what kind of key it was.
type KeyClass string

// The classes of keys.
const (
	KeyText      KeyClass = "text" // it types something, or nobody knows that it does not
	KeyEnter     KeyClass = "enter"
	KeyTab       KeyClass = "tab"
	KeyBackspace KeyClass = "backspace"
	KeyDelete    KeyClass = "delete"
	KeyEscape    KeyClass = "escape"
	KeyArrow     KeyClass = "arrow"
	KeyPage      KeyClass = "page" // Home, End, PgUp, PgDn
	KeyFunction  KeyClass = "function"
	KeyCombo     KeyClass = "combo" // any key while Ctrl, Alt or Super is held
	KeyOther     KeyClass = "other"
)
