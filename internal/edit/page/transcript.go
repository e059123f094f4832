package page

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// TranscriptVersion is the version of the transcript's form.
const TranscriptVersion = 1

// transcript is the JSON form: for a model that reviews its work without
// watching. Times are seconds with milliseconds.
type transcript struct {
	TranscriptVersion int              `json:"transcriptVersion"`
	Title             string           `json:"title"`
	Video             string           `json:"video"`
	Width             int              `json:"width"`
	Height            int              `json:"height"`
	Started           *time.Time       `json:"started,omitempty"`
	ClipSeconds       float64          `json:"clipSeconds"`
	RecordingSeconds  float64          `json:"recordingSeconds"`
	CutSeconds        float64          `json:"cutSeconds"`
	Speed             int              `json:"speed"`
	Passed            int              `json:"passed"`
	Failed            int              `json:"failed"`
	Steps             []transcriptStep `json:"steps"`
}

type transcriptStep struct {
	Number   int                `json:"number"`
	Name     string             `json:"name"`
	Outcome  string             `json:"outcome"` // open, passed, failed
	Result   string             `json:"result,omitempty"`
	ClipFrom float64            `json:"clipFrom"`
	ClipTo   float64            `json:"clipTo"`
	At       float64            `json:"at"` // in the recording
	ResultAt *float64           `json:"resultAt,omitempty"`
	Time     *time.Time         `json:"time,omitempty"`
	Changes  []transcriptChange `json:"changes,omitempty"`
}

type transcriptChange struct {
	From float64 `json:"from"` // in the recording
	To   float64 `json:"to"`
	X    int     `json:"x"`
	Y    int     `json:"y"`
	W    int     `json:"width"`
	H    int     `json:"height"`
}

// Transcript returns the clip's steps, results, times, and what changed where,
// as indented JSON. It ends with a line end.
func Transcript(c Clip) ([]byte, error) {
	passed, failed := c.count()
	t := transcript{
		TranscriptVersion: TranscriptVersion,
		Title:             plain(c.Title, maxText), Video: c.Video, Width: c.Width, Height: c.Height,
		ClipSeconds: seconds(c.Length), RecordingSeconds: seconds(c.Recording), CutSeconds: seconds(c.Cut),
		Speed: c.Speed, Passed: passed, Failed: failed, Steps: []transcriptStep{},
		Started: c.moment(0),
	}
	for i, s := range c.Steps {
		step := transcriptStep{
			Number: i + 1, Name: plain(s.Name, maxText), Outcome: s.Outcome.String(),
			ClipFrom: seconds(s.From), ClipTo: seconds(s.To), At: seconds(s.At), Time: c.moment(s.At),
		}
		if s.Outcome != Open {
			at := seconds(s.ResultIn)
			step.Result, step.ResultAt = plain(s.Result, maxText), &at
		}
		for _, ch := range s.Changes {
			step.Changes = append(step.Changes, transcriptChange{seconds(ch.From), seconds(ch.To), ch.X, ch.Y, ch.Width, ch.Height})
		}
		t.Steps = append(t.Steps, step)
	}
	out, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the transcript: %w", err)
	}
	return append(out, '\n'), nil
}

// moment is a time of the recording on the clock; nil when nobody knows when
// it began.
func (c Clip) moment(at time.Duration) *time.Time {
	if c.Started.IsZero() {
		return nil
	}
	t := c.Started.Add(at).UTC().Truncate(time.Millisecond)
	return &t
}

func (o Outcome) String() string {
	switch o {
	case Passed:
		return "passed"
	case Failed:
		return "failed"
	default:
		return "open"
	}
}

func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
