package cli

import (
	"fmt"
	"time"

	"github.com/proofreel/proofreel/internal/contract"
)

// tenths tells when another tenth of counted work is done. The zero value is
// ready.
type tenths struct{ shown int }

func (t *tenths) passed(e contract.Progress) bool {
	if e.TotalSteps <= 0 {
		return false
	}
	now := e.Step * 10 / e.TotalSteps
	if now <= t.shown {
		return false
	}
	t.shown = now
	return true
}

// pace tells how fast counted work goes and how long the rest takes.
type pace struct {
	began time.Time
	first int
}

// words are empty until there is something to go by. Work that was done before
// (of a render that goes on) is no measure.
func (p *pace) words(e contract.Progress, now time.Time) string {
	if p.began.IsZero() {
		p.began, p.first = now, e.Step
		return ""
	}
	took, done := now.Sub(p.began).Seconds(), e.Step-p.first
	if took < 1 || done <= 0 {
		return ""
	}
	speed := float64(done) / took
	return fmt.Sprintf("  %.1f frames/s  %s left", speed, clock(float64(e.TotalSteps-e.Step)/speed))
}
