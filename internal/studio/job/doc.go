// Package job is what a film's order may say, and the words for how it goes:
// the prompt's rules, the sizes, the phases. The command line and the service
// take orders by it.
//
// It is a leaf: what is done with an order is workflow's matter, what a prompt
// means is screen's.
package job
