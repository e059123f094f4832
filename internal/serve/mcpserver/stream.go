package mcpserver

import (
	"io"
	"time"
)

// linger is for how long the end of the input is held back, so that a client
// which closes it behind its last request still gets the quick answers.
const linger = 200 * time.Millisecond

// input is the client's side that we read. Its end is the client's: the
// library would first wait for answers that nobody takes.
type input struct {
	io.ReadCloser
	gone func()
}

func (r *input) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil {
		time.Sleep(linger)
		r.gone()
	}
	return n, err //nolint:wrapcheck // io.EOF must stay itself
}

// output is the side that we write. It is not closed: another file would get
// the number of standard output, and what is printed there by mistake.
type output struct{ io.Writer }

func (output) Close() error { return nil }
