//go:build !race

package ledger

// schedules is how many are tried.
const schedules = 10_000
