package policy

import (
	"cmp"
	"io"
	"strconv"

	"github.com/proofreel/proofreel/internal/studio/gateway/picture"
	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// Limits bound a request. The zero value of a field means its default.
type Limits struct {
	Depth     int // arrays and objects inside each other; 64
	Values    int // JSON values in all; 200,000
	Images    int // pictures; 100, as the API
	ImageSize int // bytes of one picture; 8 MiB
	ImageSide int // pixels of a picture's longer side; 8000, as the API
}

// WithDefaults gives the limits with the zero fields filled in.
func (l Limits) WithDefaults() Limits {
	l.Depth = cmp.Or(l.Depth, 64)
	l.Values = cmp.Or(l.Values, 200_000)
	l.Images = cmp.Or(l.Images, 100)
	l.ImageSize = cmp.Or(l.ImageSize, 8<<20)
	l.ImageSide = cmp.Or(l.ImageSide, 8000)
	return l
}

// Pins is what the gateway writes, whatever the agent asked for.
type Pins struct {
	Model string // the only model; a request that names another is refused
	User  string // metadata.user_id: an opaque name of the job
}

// Request is what is left of a request: everything in it was written by us.
type Request struct {
	Pins      Pins
	MaxTokens int64 // as asked for
	Stream    bool
	Thinking  Thinking
	Images    []picture.Size
	TextBytes int64          // size of it all without the pictures' data
	Tools     int            // that are left
	Dropped   map[string]int // by the tables' names

	rest    []byte // the other members, each with a comma before it, without pictures
	members []member
	inserts []insert
}

// Thinking is the switch of a request; Type is empty when there was none.
type Thinking struct {
	Type, Display string
	Budget        int64
}

type member struct {
	from, to int
	count    bool
}

// insert is a picture's data, and where it belongs in the other members. It is
// a piece of the agent's own body, of which every byte was looked at.
type insert struct {
	at   int
	data []byte
}

// pieces gives a stretch of the other members with its pictures.
func (r *Request) pieces(parts [][]byte, from, to int) [][]byte {
	for _, i := range r.inserts {
		if i.at > from && i.at < to {
			parts = append(parts, r.rest[from:i.at], i.data)
			from = i.at
		}
	}
	return append(parts, r.rest[from:to])
}

// MinThinking is the least budget that the API takes.
const MinThinking = 1024

// Encode gives the body of a call that may write so many tokens.
func (r *Request) Encode(maxTokens int64) *Body {
	b := strictjson.AppendString([]byte(`{"model":`), r.Pins.Model)
	b = append(b, `,"max_tokens":`...)
	b = strconv.AppendInt(b, maxTokens, 10)
	if r.Stream {
		b = append(b, `,"stream":true`...)
	}
	b = append(b, `,"metadata":{"user_id":`...)
	b = strictjson.AppendString(b, r.Pins.User)
	b = append(b, `},"service_tier":"standard_only"`...)
	b = r.Thinking.append(b, maxTokens)
	return &Body{parts: append(r.pieces([][]byte{b}, 0, len(r.rest)), []byte("}"))}
}

// EncodeCount gives the body of a request that counts the call's tokens.
func (r *Request) EncodeCount() *Body {
	b := strictjson.AppendString([]byte(`{"model":`), r.Pins.Model)
	b = r.Thinking.append(b, r.Thinking.Budget+1)
	parts := [][]byte{b}
	for _, m := range r.members {
		if m.count {
			parts = r.pieces(parts, m.from, m.to)
		}
	}
	return &Body{parts: append(parts, []byte("}"))}
}

func (t Thinking) append(b []byte, maxTokens int64) []byte {
	if t.Type == "" {
		return b
	}
	b = strictjson.AppendString(append(b, `,"thinking":{"type":`...), t.Type)
	if t.Budget > 0 {
		b = append(b, `,"budget_tokens":`...)
		b = strconv.AppendInt(b, max(MinThinking, min(t.Budget, maxTokens-1)), 10)
	}
	if t.Display != "" {
		b = strictjson.AppendString(append(b, `,"display":`...), t.Display)
	}
	return append(b, '}')
}

// Body is a request's bytes, in pieces: pictures are not copied once more.
type Body struct {
	parts [][]byte
	part  int
	at    int
}

// Len is the size in bytes.
func (b *Body) Len() int64 {
	var n int64
	for _, p := range b.parts {
		n += int64(len(p))
	}
	return n
}

// Again gives a reader of the same bytes from their start.
func (b *Body) Again() *Body { return &Body{parts: b.parts} }

// Bytes gives the whole in one piece.
func (b *Body) Bytes() []byte {
	out := make([]byte, 0, b.Len())
	for _, p := range b.parts {
		out = append(out, p...)
	}
	return out
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	for b.part < len(b.parts) {
		if n := copy(p, b.parts[b.part][b.at:]); n > 0 || len(p) == 0 {
			b.at += n
			return n, nil
		}
		b.part, b.at = b.part+1, 0
	}
	return 0, io.EOF
}

// Close implements io.Closer. There is nothing to close.
func (b *Body) Close() error { return nil }
