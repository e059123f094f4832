package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type flat struct{ Name, Data string }

// drain reads a stream to its end.
func drain(r io.Reader, l Limits) ([]flat, error) {
	s := NewReader(r, l)
	var all []flat
	for {
		e, err := s.Next()
		if err != nil {
			return all, err
		}
		all = append(all, flat{e.Name, string(e.Data)})
	}
}

// A stream that is read otherwise than the client reads it is metered wrongly.
func TestNext(t *testing.T) {
	long := strings.Repeat("x", 40<<10) // more than the reader's buffer
	cases := []struct {
		name, in string
		want     []flat
		err      error
	}{
		{"two", "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", []flat{{"a", "1"}, {"b", "2"}}, io.EOF},
		{"crlf", "event: a\r\ndata: 1\r\n\r\n", []flat{{"a", "1"}}, io.EOF},
		{"no space", "event:a\ndata:1\n\n", []flat{{"a", "1"}}, io.EOF},
		{"one space only", "data:  1\n\n", []flat{{"", " 1"}}, io.EOF},
		{"joined lines", "data: 1\ndata: 2\n\n", []flat{{"", "1\n2"}}, io.EOF},
		{"comment, id and retry", ": hi\nid: 7\nretry: 1\ndata: 1\n\n", []flat{{"", "1"}}, io.EOF},
		{"name without data", "event: a\n\ndata: 1\n\n", []flat{{"", "1"}}, io.EOF},
		{"empty data", "data\n\n", []flat{{"", ""}}, io.EOF},
		{"long line", "data: " + long + "\n\n", []flat{{"", long}}, io.EOF},
		{"cut in a line", "data: 1\n\ndata: 2", []flat{{"", "1"}}, io.ErrUnexpectedEOF},
		{"cut before the blank line", "data: 1\n", nil, io.ErrUnexpectedEOF},
		{"nothing", "", nil, io.EOF},
		{"event too large", "data: " + strings.Repeat("x", 70<<10) + "\n\n", nil, ErrTooLarge},
		{"event too large in lines", strings.Repeat("data: x\n", 10<<10) + "\n\n", nil, ErrTooLarge},
		{"line without end", strings.Repeat("x", 70<<10), nil, ErrTooLarge},
		{"stream too large", strings.Repeat("data: x\n\n", 20<<10), nil, ErrTooLarge},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				got, err := drain(r, Limits{Event: 64 << 10, Total: 128 << 10})
				if !errors.Is(err, c.err) {
					t.Fatalf("error %v, want %v", err, c.err)
				}
				if c.want != nil {
					if d := cmp.Diff(c.want, got); d != "" {
						t.Error(d)
					}
				}
			}
		})
	}
}

// An event's memory is bounded, whatever comes.
func FuzzNext(f *testing.F) {
	for _, s := range []string{"event: a\ndata: {}\n\n", "data\n\n", ":\n\n", "\r\n\n", "data: a\ndata: b\n\n", "event: x\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const most = 256
		s := NewReader(bytes.NewReader(in), Limits{Event: most, Total: 1 << 16})
		var out []byte
		var all []flat
		for {
			e, err := s.Next()
			if err != nil {
				break
			}
			if len(e.Data) > most {
				t.Fatalf("an event of %d bytes", len(e.Data))
			}
			if bytes.ContainsAny(e.Data, "\r\n") || strings.ContainsAny(e.Name, "\r\n") {
				return // we send none of these
			}
			all = append(all, flat{e.Name, string(e.Data)})
			out = Append(out, e)
		}
		// What we write is read as what we have read.
		again, err := drain(bytes.NewReader(out), Limits{Event: 4 * most, Total: 1 << 20})
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if d := cmp.Diff(all, again); d != "" {
			t.Error(d)
		}
	})
}
