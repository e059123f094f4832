// Package sse reads a stream of server-sent events within limits, and writes
// events in one form.
//
// Here lies the event stream's syntax. What events mean is not known here.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Event is one event. Data is valid until the next is read.
type Event struct {
	Name string
	Data []byte
}

// Limits bound a stream, in bytes as they come in.
type Limits struct {
	Event int   // one event
	Total int64 // the whole stream
}

// ErrTooLarge says that an event or the stream is beyond its limit.
var ErrTooLarge = errors.New("the event stream is beyond its limit")

// Reader reads events.
type Reader struct {
	r     *bufio.Reader
	l     Limits
	total int64
	data  []byte
	long  []byte
}

// NewReader reads events from r.
func NewReader(r io.Reader, l Limits) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 16<<10), l: l}
}

// Next gives the next event that has data. At the end of the stream it is
// io.EOF, or io.ErrUnexpectedEOF when the stream ends inside an event.
func (r *Reader) Next() (Event, error) {
	var e Event
	r.data = r.data[:0]
	size, begun, has := 0, false, false
	for {
		line, err := r.line(&size)
		if err != nil {
			if errors.Is(err, io.EOF) && (begun || len(line) > 0) {
				err = io.ErrUnexpectedEOF
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if has {
				e.Data = r.data
				return e, nil
			}
			e, begun, size = Event{}, false, 0 // an event without data is none
			continue
		}
		begun = true
		name, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(name) {
		case "event":
			e.Name = string(value)
		case "data":
			if has {
				r.data = append(r.data, '\n')
			}
			has = true
			r.data = append(r.data, value...)
		}
	}
}

// line reads a line without its end, and adds its bytes to the event's.
func (r *Reader) line(size *int) ([]byte, error) {
	r.long = r.long[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		*size += len(part)
		r.total += int64(len(part))
		if *size > r.l.Event || r.total > r.l.Total {
			return nil, ErrTooLarge
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			r.long = append(r.long, part...)
			continue
		}
		if len(r.long) > 0 {
			r.long = append(r.long, part...)
			part = r.long
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				err = fmt.Errorf("read the event stream: %w", err)
			}
			return part, err
		}
		return bytes.TrimSuffix(part[:len(part)-1], []byte{'\r'}), nil
	}
}

// Append writes an event. Name and data must not hold a line's end.
func Append(dst []byte, e Event) []byte {
	if e.Name != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, e.Name...)
		dst = append(dst, '\n')
	}
	dst = append(dst, "data: "...)
	dst = append(dst, e.Data...)
	return append(dst, "\n\n"...)
}
