package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Kinds of incidents that the recorder itself notes; an engine's events have
// kinds of their own.
const (
	IncidentGap  = "gap"          // for a while nothing was known of the screen
	IncidentDied = "process_died" // the capture or the supervisor
	IncidentBad  = "bad_segment"  // it did not decode and is not in the film
)

// Rect is a rectangle of the screen in pixels.
type Rect struct{ X, Y, W, H int }

// Damage is one entry of the damage log: at At, the rectangles changed.
type Damage struct {
	At    time.Duration
	Rects []Rect
}

// damageLine is how an entry looks on disk: short, since an animated page
// makes sixty a second.
type damageLine struct {
	T int64    `json:"t"` // milliseconds since the epoch
	R [][4]int `json:"r"` // x, y, width, height
}

// DamageLog is the damage log that is being written. Every entry is handed to
// the operating system as it comes: a buffer would hold the last change before
// a still stretch until the screen moves again, and a killed writer would lose
// it. There is at most one entry a tick.
type DamageLog struct{ f *os.File }

// CreateDamage begins the damage log.
func (d *Dir) CreateDamage() (*DamageLog, error) {
	f, err := os.OpenFile(d.DamagePath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin the damage log: %w", err)
	}
	return &DamageLog{f}, nil
}

// Add appends an entry.
func (l *DamageLog) Add(at time.Duration, rects []Rect) error {
	line := damageLine{T: at.Milliseconds(), R: make([][4]int, len(rects))}
	for i, r := range rects {
		line.R[i] = [4]int{r.X, r.Y, r.W, r.H}
	}
	raw, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encode damage: %w", err)
	}
	if _, err := l.f.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("write the damage log: %w", err)
	}
	return nil
}

// Close ends the log.
func (l *DamageLog) Close() error {
	if err := l.f.Close(); err != nil {
		return fmt.Errorf("end the damage log: %w", err)
	}
	return nil
}

// DamageEntries reads the damage log. Lines that can't be read (a writer was
// killed in mid-line) are left out. Without a log there are none.
func (d *Dir) DamageEntries() ([]Damage, error) {
	entries, _, err := d.ReadDamage()
	return entries, err
}

// ReadDamage is DamageEntries that also counts the lines that were left out.
func (d *Dir) ReadDamage() (entries []Damage, bad int, err error) {
	raw, err := os.ReadFile(d.DamagePath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the damage log: %w", err)
	}
	for _, line := range bytes.Split(raw, []byte{'\n'}) {
		if len(line) == 0 {
			continue
		}
		var l damageLine
		if json.Unmarshal(line, &l) != nil {
			bad++
			continue
		}
		e := Damage{At: time.Duration(l.T) * time.Millisecond}
		for _, r := range l.R {
			e.Rects = append(e.Rects, Rect{r[0], r[1], r[2], r[3]})
		}
		entries = append(entries, e)
	}
	return entries, bad, nil
}
