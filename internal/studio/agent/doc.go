// Package agent is what the outside knows of the agent in a box: what it is
// given ([Job], [Spec], JOB.md), which agents there are ([Own], [ClaudeCode]),
// and how little of what it says is taken in ([Report]).
//
// The program that runs in the box lies below it, in runner; the way from there
// to the gateway in forward. Nothing here starts a box, and nothing here
// believes what comes out of one.
package agent
