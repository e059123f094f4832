// Package job is what a film's order may say, and the words for how it goes:
// the prompt's rules, the sizes, the phases. The command line takes orders by it.
//
// Of studio it knows scene alone, for the styles' names: what is done with an
// order is workflow's matter, what a prompt means is screen's.
package job
