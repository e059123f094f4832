package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// RefusalError says which rule a request breaks, where, and how to mend it. Its
// text is for the agent.
type RefusalError struct {
	Rule    string // stable, one word
	Place   string // as messages[2].content[0].type; empty: the whole body
	Message string
}

func (r *RefusalError) Error() string {
	if r.Place == "" {
		return r.Rule + ": " + r.Message
	}
	return r.Rule + " at " + r.Place + ": " + r.Message
}

func (r *RefusalError) in(name string) *RefusalError {
	if r.Place != "" && r.Place[0] != '[' {
		name += "."
	}
	r.Place = name + r.Place
	return r
}

func refuse(rule, format string, args ...any) *RefusalError {
	return &RefusalError{Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// clip bounds what of the agent's own text stands in a refusal.
func clip[S ~string | ~[]byte](s S) string { return string(s[:min(len(s), 64)]) }

// Rules are the tables with their limits. They may be used from anywhere at
// once.
type Rules struct {
	table  *shape
	limits Limits
	files  sync.Pool // of *[]byte, for pictures: fresh memory costs more than the walk
}

// New makes the rules with these limits.
func New(l Limits) *Rules {
	return &Rules{
		table: body(), limits: l.WithDefaults(),
		files: sync.Pool{New: func() any { return new([]byte) }},
	}
}

// Rebuild reads a request's body and writes it anew by the tables. Errors are
// of *RefusalError. The request's pictures are pieces of raw. One that only counts
// tokens need not say how many may be written.
func (p *Rules) Rebuild(raw []byte, pins Pins, counts bool) (*Request, error) {
	l := p.limits
	v, err := strictjson.Parse(raw, strictjson.Limits{Depth: l.Depth, Values: l.Values})
	if err != nil {
		var j *strictjson.Error
		if errors.As(err, &j) {
			return nil, &RefusalError{Rule: string(j.Rule), Place: clip(j.Place), Message: fmt.Sprintf("byte %d: %s", j.Offset, j.Detail)}
		}
		return nil, err
	}
	file := p.files.Get().(*[]byte) //nolint:errcheck,forcetypeassert // nothing else is put there
	defer p.files.Put(file)
	w := walk{limits: l, file: file, tools: map[string]bool{}, req: &Request{Pins: pins, Dropped: map[string]int{}}}
	w.out = make([]byte, 0, min(len(raw)+64, 64<<10)) // pictures are not in it
	if r := w.body(p.table, v, counts); r != nil {
		return nil, r
	}
	w.req.rest = w.out
	w.req.TextBytes = w.req.Encode(1e9).Len() - w.imageBytes
	return w.req, nil
}

// walk writes a value by a shape.
type walk struct {
	limits     Limits
	out        []byte
	req        *Request
	tools      map[string]bool // names of those that are left
	choice     *strictjson.Value
	choiceOf   *shape
	parent     strictjson.Value // the object whose member is at hand
	imageBytes int64
	file       *[]byte // of the picture at hand; the next one takes its place
}

func (w *walk) body(table *shape, v strictjson.Value, counts bool) *RefusalError {
	if v.Kind != strictjson.Object {
		return refuse("field_type", "the body should be an object")
	}
	for i, name := range v.Names {
		f, r := w.field(table.fields, name, v.Elems[i])
		if r != nil {
			return r
		}
		if f == nil {
			continue
		}
		if f.bind != nil {
			if err := f.bind(w, f.shape, v.Elems[i]); err != nil {
				return asRefusal(err).in(name)
			}
			continue
		}
		if r := w.member(f, v.Elems[i]); r != nil {
			return r
		}
	}
	free := ""
	if counts {
		free = "max_tokens"
	}
	if r := missing(table.fields, v, free); r != nil {
		return r
	}
	return w.toolChoice()
}

func asRefusal(err error) *RefusalError {
	var r *RefusalError
	if errors.As(err, &r) {
		return r
	}
	return refuse("field_type", "%v", err)
}

// member writes one member of the top level.
func (w *walk) member(f *field, v strictjson.Value) *RefusalError {
	from := len(w.out)
	w.out = append(w.out, `,"`...)
	w.out = append(append(w.out, f.name...), `":`...)
	if _, r := w.value(f.shape, v); r != nil {
		return r.in(f.name)
	}
	if f.name == "tools" && len(w.tools) == 0 {
		w.out = w.out[:from] // all were dropped: there are none
		return nil
	}
	w.req.members = append(w.req.members, member{from, len(w.out), f.count})
	return nil
}

// field finds the row of a name. It is nil when there is nothing to write.
func (w *walk) field(table []field, name string, v strictjson.Value) (*field, *RefusalError) {
	i := slices.IndexFunc(table, func(f field) bool { return f.name == name })
	if i < 0 {
		return nil, refuse("field_unknown", "%q is not on the gateway's list", clip(name)).in(clip(name))
	}
	f := &table[i]
	switch {
	case f.action == Refuse && v.Kind != strictjson.Null:
		return nil, refuse("field_refused", "%s", f.why).in(name)
	case f.action == Drop && v.Kind != strictjson.Null:
		w.req.Dropped[name]++
		return nil, nil
	case f.action == Set && f.bind != nil:
		return f, nil
	case f.action != Allow, v.Kind == strictjson.Null && !f.must:
		return nil, nil
	}
	return f, nil
}

// missing finds a field that must be there and is not, but for the free one.
func missing(table []field, v strictjson.Value, free string) *RefusalError {
	for _, f := range table {
		if f.must && f.name != free && !slices.Contains(v.Names, f.name) {
			return refuse("field_missing", "it must be there").in(f.name)
		}
	}
	return nil
}

// value writes v by a shape. It says false when v was dropped.
func (w *walk) value(s *shape, v strictjson.Value) (bool, *RefusalError) {
	if s.kind == either {
		i := slices.IndexFunc(s.choices, func(c *shape) bool { return c.takes() == v.Kind })
		if i < 0 {
			return false, refuse("field_type", "it is of kind %v; it should be %v", v.Kind, s)
		}
		s = s.choices[i]
	}
	if s.takes() != v.Kind {
		return false, refuse("field_type", "it is of kind %v; it should be of kind %v", v.Kind, s.takes())
	}
	switch s.kind {
	case text:
		return true, w.text(s, v)
	case integer:
		return true, w.integer(s, v)
	case number:
		return true, w.number(s, v)
	case boolean:
		w.out = strconv.AppendBool(w.out, v.True)
		return true, nil
	case anyJSON:
		from := len(w.out)
		w.out = v.Append(w.out)
		if n := len(w.out) - from; n > s.max {
			return false, refuse("value_size", "%d bytes; at most %d", n, s.max)
		}
		return true, nil
	case array:
		return true, w.array(s, v)
	case object:
		return true, w.object(s.fields, v, "")
	case union:
		return w.union(s, v)
	default:
		return true, w.picture(v)
	}
}

func (w *walk) text(s *shape, v strictjson.Value) *RefusalError {
	t := v.Text
	switch {
	case len(s.enum) > 0 && !slices.Contains(s.enum, clip(t)):
		return refuse("value_enum", "%q is not one of %v", clip(t), s.enum)
	case len(t) > s.max:
		return refuse("value_size", "%d bytes; at most %d", len(t), s.max)
	case s.word && !isWord(t):
		return refuse("value_form", "it should be %v", s)
	}
	if to, ok := s.rewrite[clip(t)]; ok {
		w.req.Dropped["ttl"]++
		t = []byte(to)
	}
	w.out = strictjson.AppendString(w.out, t)
	return nil
}

func isWord(t []byte) bool {
	for _, c := range t {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return len(t) > 0
}

func (w *walk) integer(s *shape, v strictjson.Value) *RefusalError {
	n, r := wholeNumber(s, v)
	if r == nil {
		w.out = strconv.AppendInt(w.out, n, 10)
	}
	return r
}

func wholeNumber(s *shape, v strictjson.Value) (int64, *RefusalError) {
	n, ok := v.Int()
	if !ok {
		return 0, refuse("value_form", "it should be a plain integer, without fraction and exponent")
	}
	if float64(n) < s.from || float64(n) > s.to {
		return 0, refuse("value_range", "%d; it should be %.0f to %.0f", n, s.from, s.to)
	}
	return n, nil
}

func (w *walk) number(s *shape, v strictjson.Value) *RefusalError {
	f, err := strconv.ParseFloat(string(v.Text), 64)
	if err != nil || f < s.from || f > s.to {
		return refuse("value_range", "it should be %g to %g", s.from, s.to)
	}
	w.out = strconv.AppendFloat(w.out, f, 'g', -1, 64)
	return nil
}

func (w *walk) array(s *shape, v strictjson.Value) *RefusalError {
	if len(v.Elems) > s.max {
		return refuse("value_size", "%d elements; at most %d", len(v.Elems), s.max)
	}
	w.out = append(w.out, '[')
	first := true
	for i, e := range v.Elems {
		from := len(w.out)
		if !first {
			w.out = append(w.out, ',')
		}
		kept, r := w.value(s.elem, e)
		if r != nil {
			return r.in("[" + strconv.Itoa(i) + "]")
		}
		if s.elem.onElem != nil {
			s.elem.onElem(w, e, kept)
		}
		if kept {
			first = false
		} else {
			w.out = w.out[:from]
		}
	}
	w.out = append(w.out, ']')
	return nil
}

// object writes an object's members by a table. A type was checked already.
func (w *walk) object(table []field, v strictjson.Value, typ string) *RefusalError {
	w.out = append(w.out, '{')
	first := true
	comma := func(name string) {
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		w.out = append(append(append(w.out, '"'), name...), `":`...)
	}
	if typ != "" {
		comma("type")
		w.out = strictjson.AppendString(w.out, typ)
	}
	for i, name := range v.Names {
		if typ != "" && name == "type" {
			continue
		}
		f, r := w.field(table, name, v.Elems[i])
		if r != nil {
			return r
		}
		if f == nil {
			continue
		}
		comma(name)
		w.parent = v
		if _, r := w.value(f.shape, v.Elems[i]); r != nil {
			return r.in(name)
		}
	}
	w.out = append(w.out, '}')
	return missing(table, v, "")
}

// union writes an object by the table of its type.
func (w *walk) union(s *shape, v strictjson.Value) (bool, *RefusalError) {
	typ, given := v.Get("type")
	name := s.untyped
	switch {
	case given && typ.Kind == strictjson.String:
		name = string(typ.Text)
	case given && (typ.Kind != strictjson.Null || s.untyped == ""):
		return false, refuse("field_type", "it should be a string").in("type")
	case !given && s.untyped == "":
		return false, refuse("field_missing", "it must be there").in("type")
	}
	i := slices.IndexFunc(s.variants, func(t variant) bool { return slices.Contains(t.names, name) })
	if i < 0 {
		return false, refuse("type_unknown", "%q is not on the gateway's list of: %s", clip(name), s.title).in("type")
	}
	switch t := s.variants[i]; t.action {
	case Refuse:
		return false, refuse("type_refused", "%s: %s", name, t.why).in("type")
	case Drop:
		w.req.Dropped[name]++
		return false, nil
	default:
		return true, w.object(t.fields, v, name)
	}
}
