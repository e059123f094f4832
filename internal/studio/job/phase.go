package job

import "slices"

// Phase is what a job does. These words are all that is ever told of a job
// that runs, whatever its box says.
type Phase string

// The phases.
const (
	Queued     Phase = "queued"
	Screening  Phase = "screening"  // whether the prompt is a brief for a film
	Starting   Phase = "starting"   // the box
	Writing    Phase = "writing"    // the author writes
	Checking   Phase = "checking"   // it looks at its work
	Rendering  Phase = "rendering"  // the film is drawn
	Validating Phase = "validating" // the film is taken out of the box, examined and encoded afresh
	Done       Phase = "done"
	Failed     Phase = "failed"
	Refused    Phase = "refused"   // the prompt is none that we work on
	Cancelled  Phase = "cancelled" // by whoever ordered it
)

// Phases lists them in the order in which they usually come.
func Phases() []Phase {
	return []Phase{Queued, Screening, Starting, Writing, Checking, Rendering, Validating, Done, Failed, Refused, Cancelled}
}

// Step counts the phases that lie before the end, from 0; an end is Steps.
func (p Phase) Step() int {
	if i := slices.Index(Phases()[:Steps], p); i >= 0 {
		return i
	}
	return Steps
}

// Steps is how many phases lie before the end.
const Steps = 7
