package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	inputFile = "input.jsonl"
	// InputVersion is the version of the input log, for which a reader looks
	// in its first line.
	InputVersion = 1
	// IncidentInput is the kind of incident that says that the input log ends
	// before the film does.
	IncidentInput = "input_log"
)

// Input is one entry of the input log: what was done with pointer or keyboard.
type Input struct {
	At     time.Duration
	Kind   InputKind
	X, Y   int // of the pointer's hot spot in pixels of the screen, which begins at 0, 0; not of keys
	Button int // of down and up: 1 left, 2 middle, 3 right, 8 and more others
	DX, DY int // of wheel, in notches; right and down are positive
	// Class is the kind of key: text, enter, tab, backspace, delete, escape,
	// arrow, page, function, combo or other. Which character was typed is not
	// in a recording, and one entry of text stands for a second of typing.
	Class string
	// Name and Modifiers are there for keys that type nothing, and for
	// shortcuts, when that was asked for: "Enter", "S" with "Ctrl".
	Name      string
	Modifiers []string
}

// InputKind names what was done.
type InputKind string

// The kinds of input.
const (
	InputMove  InputKind = "move"
	InputDown  InputKind = "down"
	InputUp    InputKind = "up"
	InputWheel InputKind = "wheel"
	InputKey   InputKind = "key"
)

// InputSource says how what follows in the log is known.
type InputSource struct {
	At   time.Duration
	Text string // in words, for instance "X RECORD"
	Keys bool   // names of keys were asked for
}

// inputLine is how an entry, or a source with the version, looks on disk.
type inputLine struct {
	T       int64     `json:"t"` // milliseconds since the epoch
	Kind    InputKind `json:"k"`
	Version int       `json:"v,omitempty"`
	Source  string    `json:"source,omitempty"`
	Keys    bool      `json:"keys,omitempty"`

	X         *int     `json:"x,omitempty"`
	Y         *int     `json:"y,omitempty"`
	Button    int      `json:"b,omitempty"`
	DX        int      `json:"dx,omitempty"`
	DY        int      `json:"dy,omitempty"`
	Class     string   `json:"c,omitempty"`
	Name      string   `json:"n,omitempty"`
	Modifiers []string `json:"m,omitempty"`
}

// inputSource is the kind of a line that begins a source.
const inputSource InputKind = "source"

// InputPath is the input log's file.
func (d *Dir) InputPath() string { return filepath.Join(d.path, inputFile) }

// InputLog is the input log that is being written. Each entry is handed to the
// operating system as it comes, as those of the damage log are. It is made
// with the first source: without one there is no file.
type InputLog struct {
	path string
	f    *os.File // nil before the first source
}

// NewInputLog prepares the input log.
func (d *Dir) NewInputLog() *InputLog { return &InputLog{path: d.InputPath()} }

// Source appends how what follows is known.
func (l *InputLog) Source(s InputSource) error {
	if l.f == nil {
		f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("begin the input log: %w", err)
		}
		l.f = f
	}
	return l.write(inputLine{T: s.At.Milliseconds(), Kind: inputSource, Version: InputVersion, Source: s.Text, Keys: s.Keys})
}

// Add appends an entry. Before the first source it is an error.
func (l *InputLog) Add(in Input) error {
	if l.f == nil {
		return errors.New("an input came before its source")
	}
	line := inputLine{T: in.At.Milliseconds(), Kind: in.Kind}
	if in.Kind == InputKey {
		line.Class, line.Name, line.Modifiers = in.Class, in.Name, in.Modifiers
	} else {
		line.X, line.Y, line.Button, line.DX, line.DY = &in.X, &in.Y, in.Button, in.DX, in.DY
	}
	return l.write(line)
}

func (l *InputLog) write(line inputLine) error {
	raw, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encode input: %w", err)
	}
	if _, err := l.f.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("write the input log: %w", err)
	}
	return nil
}

// Close ends the log.
func (l *InputLog) Close() error {
	if l.f == nil {
		return nil
	}
	if err := l.f.Close(); err != nil {
		return fmt.Errorf("end the input log: %w", err)
	}
	return nil
}

// Inputs reads the input log: how it is known, and what was done, as written.
// Lines that can't be read, or of an unknown kind, are left out. Without a log
// there are none. A log of another version is an error.
func (d *Dir) Inputs() ([]InputSource, []Input, error) {
	raw, err := os.ReadFile(d.InputPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the input log: %w", err)
	}
	return parseInputs(raw)
}

func parseInputs(raw []byte) (sources []InputSource, inputs []Input, err error) {
	for _, line := range bytes.Split(raw, []byte{'\n'}) {
		var l inputLine
		if len(line) == 0 || json.Unmarshal(line, &l) != nil || l.T < 0 || l.T > maxInputMillis {
			continue
		}
		at := time.Duration(l.T) * time.Millisecond
		switch l.Kind {
		case inputSource:
			if l.Version != InputVersion {
				return nil, nil, fmt.Errorf("the input log has version %d; %d can be read", l.Version, InputVersion)
			}
			sources = append(sources, InputSource{At: at, Text: l.Source, Keys: l.Keys})
		case InputKey:
			if l.Class != "" {
				inputs = append(inputs, Input{At: at, Kind: InputKey, Class: l.Class, Name: l.Name, Modifiers: l.Modifiers})
			}
		case InputMove, InputDown, InputUp, InputWheel:
			if l.X != nil && l.Y != nil {
				inputs = append(inputs, Input{At: at, Kind: l.Kind, X: *l.X, Y: *l.Y, Button: l.Button, DX: l.DX, DY: l.DY})
			}
		}
	}
	return sources, inputs, nil
}

// maxInputMillis is a year: no recording is as long, and no time overflows.
const maxInputMillis = 366 * 24 * 3600 * 1000
