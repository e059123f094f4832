// Package cell is what the backends share once it comes to a process: where
// boxes keep their state, the pool of users, the work directory, the started
// box with its log and its clock, its end, and the reaping of those whose
// server died. How a backend isolates is not known here.
package cell
