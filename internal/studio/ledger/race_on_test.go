//go:build race

package ledger

// schedules is how many are tried: the race detector takes its time, and sees
// a race in few.
const schedules = 1_000
