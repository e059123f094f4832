package page

import (
	"fmt"
	"strings"
	"time"
)

// WebVTT returns the steps and results as cues, for players and for those who
// don't see the captions in the picture.
// Format: https://www.w3.org/TR/webvtt1/
func WebVTT(c Clip) []byte {
	var b strings.Builder
	b.WriteString("WEBVTT\n")
	for i, s := range c.Steps {
		to := s.To
		if s.Outcome != Open {
			to = min(max(s.ResultAt, s.From), s.To)
		}
		number := fmt.Sprintf("%d. ", i+1)
		cue(&b, s.From, to, number+plain(s.Name, maxText))
		if s.Outcome != Open {
			cue(&b, to, s.To, number+plain(s.Name, maxText), mark(s.Outcome)+" "+plain(s.Result, maxText))
		}
	}
	return []byte(b.String())
}

// cue writes one cue. A cue of no length is no cue. Lines can't be empty and
// can't hold an arrow: both would end it.
func cue(b *strings.Builder, from, to time.Duration, lines ...string) {
	if to.Milliseconds() <= from.Milliseconds() {
		return
	}
	fmt.Fprintf(b, "\n%s --> %s\n", stamp(from), stamp(to))
	for _, line := range lines {
		b.WriteString(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.TrimSpace(line)) + "\n")
	}
}

func stamp(d time.Duration) string {
	ms := max(d, 0).Milliseconds()
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

func mark(o Outcome) string {
	switch o {
	case Passed:
		return "✓"
	case Failed:
		return "✗"
	default:
		return ""
	}
}
