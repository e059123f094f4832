// Package runner is what runs in a box: it gives a model the job and the tools
// to write a scene with, or starts a foreign agent that has its own, reports
// how it goes, and sees to it that in the end there is a film.
//
// All of it is on the hostile side: whatever a prompt may bring the model to,
// it can bring this program to. So nothing here protects anything outside of
// the box; the bounds in it keep a job from wasting its own budget.
//
// The loop, its tools and the finish live here. What the outside gives and
// takes is package agent's; drawing is done by this program's own commands.
package runner
