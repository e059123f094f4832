package recording

import "time"

// Event is one line of events.jsonl: what the agent said it did.
type Event struct {
	At   time.Duration `json:"atNs"` // since the epoch, by CLOCK_BOOTTIME
	Wall time.Time     `json:"wall"`
	Kind EventKind     `json:"kind"`
	Text string        `json:"text"`
	Step int           `json:"step"`           // 1 for the first step; a result has its step's
	Pass *bool         `json:"pass,omitempty"` // of a result
}

// EventKind tells events apart.
type EventKind string

// The kinds of events.
const (
	EventStep   EventKind = "step"
	EventResult EventKind = "result"
)
