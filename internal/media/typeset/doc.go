// Package typeset shapes and draws text: bidirectional, wrapped, cut with an
// ellipsis, with fonts that lie inside the binary, so that a picture is the
// same on every machine. What is drawn around text, where and when, lives in
// the packages that use this one; go-text lives here alone.
package typeset
