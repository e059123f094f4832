package strictjson

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Rule is which rule a text breaks. It is stable: programs may switch on it.
type Rule string

// The rules.
const (
	Syntax        Rule = "json_syntax"
	DuplicateName Rule = "json_duplicate_name"
	BadUTF8       Rule = "json_utf8"
	LoneSurrogate Rule = "json_surrogate"
	TooDeep       Rule = "json_depth"
	TooMany       Rule = "json_values"
	SecondValue   Rule = "json_second_value"
	NumberRange   Rule = "json_number"
)

// Error says which rule is broken and where.
type Error struct {
	Rule   Rule
	Place  string // as messages[2].content; empty: the whole
	Offset int    // bytes from the start
	Detail string
}

func (e *Error) Error() string {
	if e.Place == "" {
		return fmt.Sprintf("%s at byte %d: %s", e.Rule, e.Offset, e.Detail)
	}
	return fmt.Sprintf("%s at %s (byte %d): %s", e.Rule, e.Place, e.Offset, e.Detail)
}

// Limits bound what a text may make of the parser's memory.
type Limits struct {
	Depth  int // arrays and objects inside each other
	Values int // values in all, names not counted
}

// maxNumber is how long a number may be written.
const maxNumber = 64

// Parse reads one value, and nothing behind it but white space. Errors are of
// *Error. The value shares data's memory.
func Parse(data []byte, l Limits) (Value, error) {
	p := parser{b: data, left: l.Values, maxDepth: l.Depth}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.i < len(p.b) {
		return Value{}, p.fail(SecondValue, "there is more behind the value")
	}
	return v, nil
}

type parser struct {
	b        []byte
	i        int
	left     int
	maxDepth int
}

func (p *parser) fail(r Rule, format string, args ...any) *Error {
	return &Error{Rule: r, Offset: p.i, Detail: fmt.Sprintf(format, args...)}
}

// in puts the name of a member before the place of its error.
func (e *Error) in(name string) *Error {
	if len(name) > 64 {
		name = name[:64]
	}
	if e.Place != "" && e.Place[0] != '[' {
		name += "."
	}
	e.Place = name + e.Place
	return e
}

func (p *parser) space() {
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *parser) peek() byte {
	if p.i < len(p.b) {
		return p.b[p.i]
	}
	return 0
}

func (p *parser) value(depth int) (Value, *Error) {
	if p.left--; p.left < 0 {
		return Value{}, p.fail(TooMany, "too many values")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth + 1)
	case c == '[':
		return p.array(depth + 1)
	case c == '"':
		s, is64, err := p.str()
		return Value{Kind: String, Text: s, Base64: is64}, err
	case c == '-' || (c >= '0' && c <= '9'):
		return p.number()
	default:
		return p.word()
	}
}

func (p *parser) word() (Value, *Error) {
	rest := p.b[p.i:]
	switch {
	case bytes.HasPrefix(rest, []byte("true")):
		p.i += 4
		return Value{Kind: Bool, True: true}, nil
	case bytes.HasPrefix(rest, []byte("false")):
		p.i += 5
		return Value{Kind: Bool}, nil
	case bytes.HasPrefix(rest, []byte("null")):
		p.i += 4
		return Value{}, nil
	}
	if len(rest) == 0 {
		return Value{}, p.fail(Syntax, "the text ends where a value should be")
	}
	return Value{}, p.fail(Syntax, "no value begins with %q", rest[0])
}

func (p *parser) deep(depth int) *Error {
	if depth > p.maxDepth {
		return p.fail(TooDeep, "more than %d arrays and objects inside each other", p.maxDepth)
	}
	return nil
}

func (p *parser) array(depth int) (Value, *Error) {
	if err := p.deep(depth); err != nil {
		return Value{}, err
	}
	p.i++
	v := Value{Kind: Array}
	p.space()
	if p.peek() == ']' {
		p.i++
		return v, nil
	}
	for {
		p.space()
		e, err := p.value(depth)
		if err != nil {
			return Value{}, err.in("[" + strconv.Itoa(len(v.Elems)) + "]")
		}
		v.Elems = append(v.Elems, e)
		p.space()
		switch p.peek() {
		case ',':
			p.i++
		case ']':
			p.i++
			return v, nil
		default:
			return Value{}, p.fail(Syntax, "an array goes on with , or ]")
		}
	}
}

func (p *parser) object(depth int) (Value, *Error) {
	if err := p.deep(depth); err != nil {
		return Value{}, err
	}
	p.i++
	v := Value{Kind: Object}
	p.space()
	if p.peek() == '}' {
		p.i++
		return v, nil
	}
	v.Names, v.Elems = make([]string, 0, 4), make([]Value, 0, 4)
	var seen map[string]bool
	for {
		p.space()
		name, err := p.name(&v, &seen)
		if err != nil {
			return Value{}, err
		}
		e, err := p.value(depth)
		if err != nil {
			return Value{}, err.in(name)
		}
		v.Names = append(v.Names, name)
		v.Elems = append(v.Elems, e)
		p.space()
		switch p.peek() {
		case ',':
			p.i++
		case '}':
			p.i++
			return v, nil
		default:
			return Value{}, p.fail(Syntax, "an object goes on with , or }")
		}
	}
}

// name reads a member's name and its colon.
func (p *parser) name(v *Value, seen *map[string]bool) (string, *Error) {
	if p.peek() != '"' {
		return "", p.fail(Syntax, "a name in quotes should be here")
	}
	raw, _, err := p.str()
	if err != nil {
		return "", err
	}
	name := string(raw)
	// Few names are compared one by one; a map is for those who send many.
	const few = 16
	var double bool
	if len(v.Names) <= few {
		double = slices.Contains(v.Names, name)
	} else {
		if *seen == nil {
			*seen = map[string]bool{}
			for _, n := range v.Names {
				(*seen)[n] = true
			}
		}
		double = (*seen)[name]
	}
	if double {
		return "", p.fail(DuplicateName, "the name stands here twice").in(name)
	}
	if *seen != nil {
		(*seen)[name] = true
	}
	p.space()
	if p.peek() != ':' {
		return "", p.fail(Syntax, "a : should follow the name")
	}
	p.i++
	p.space()
	return name, nil
}

func (p *parser) number() (Value, *Error) {
	start := p.i
	digits := func() bool {
		from := p.i
		for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
			p.i++
		}
		return p.i > from
	}
	if p.peek() == '-' {
		p.i++
	}
	if p.peek() == '0' {
		p.i++
	} else if !digits() {
		return Value{}, p.fail(Syntax, "a number needs digits")
	}
	if p.peek() == '.' {
		p.i++
		if !digits() {
			return Value{}, p.fail(Syntax, "digits should follow the point")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.i++
		if c := p.peek(); c == '+' || c == '-' {
			p.i++
		}
		if !digits() {
			return Value{}, p.fail(Syntax, "digits should follow the exponent's e")
		}
	}
	text := p.b[start:p.i]
	if len(text) > maxNumber {
		return Value{}, p.fail(NumberRange, "a number of more than %d characters", maxNumber)
	}
	if _, err := strconv.ParseFloat(string(text), 64); err != nil {
		return Value{}, p.fail(NumberRange, "a number out of range")
	}
	return Value{Kind: Number, Text: text}, nil
}

// longString is from what length on a string may be a picture.
const longString = 4 << 10

// str reads a string and gives its content, and whether it is a long one of
// base64. Most strings hold no escape, and
// are a piece of the text itself: a picture of a megabyte is not copied here.
func (p *parser) str() (text []byte, is64 bool, err *Error) {
	p.i++
	end := bytes.IndexByte(p.b[p.i:], '"')
	if end < 0 {
		p.i = len(p.b)
		return nil, false, p.fail(Syntax, "a string does not end")
	}
	s := p.b[p.i : p.i+end]
	if end >= longString && IsBase64(s) {
		p.i += end + 1
		return s, true, nil
	}
	plain, ascii := scan(s)
	if !plain {
		text, err = p.escaped()
		return text, false, err
	}
	if !ascii && !utf8.Valid(s) {
		return nil, false, p.fail(BadUTF8, "a string is not UTF-8")
	}
	p.i += end + 1
	return s, false, nil
}

// scan says whether s holds neither a backslash nor a control character, and
// whether it is ASCII.
func scan(s []byte) (plain, ascii bool) {
	const highs = 0x8080808080808080
	var high uint64
	for len(s) >= 32 {
		b := (*[32]byte)(s)
		w0, w1 := binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[8:])
		w2, w3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		if (special(w0)|special(w1)|special(w2)|special(w3))&highs != 0 {
			return false, false
		}
		high |= w0 | w1 | w2 | w3
		s = s[32:]
	}
	for _, c := range s {
		if c < 0x20 || c == '\\' {
			return false, false
		}
		high |= uint64(c)
	}
	return true, high&highs == 0
}

// special sets a high bit among eight bytes when one of them is below 0x20 or
// a backslash. A borrow can only set one too many above a byte that counts
// itself.
func special(w uint64) uint64 {
	const ones = 0x0101010101010101
	slash := w ^ ones*'\\'
	return (w-ones*0x20)&^w | (slash-ones)&^slash
}

func (p *parser) escaped() ([]byte, *Error) {
	var out []byte
	for {
		from := p.i
		for p.i < len(p.b) && p.b[p.i] >= 0x20 && p.b[p.i] != '"' && p.b[p.i] != '\\' {
			p.i++
		}
		if !utf8.Valid(p.b[from:p.i]) {
			return nil, p.fail(BadUTF8, "a string is not UTF-8")
		}
		out = append(out, p.b[from:p.i]...)
		switch {
		case p.i >= len(p.b):
			return nil, p.fail(Syntax, "a string does not end")
		case p.b[p.i] == '"':
			p.i++
			return out, nil
		case p.b[p.i] != '\\':
			return nil, p.fail(Syntax, "a control character must be escaped")
		}
		p.i++
		var err *Error
		if out, err = p.escape(out); err != nil {
			return nil, err
		}
	}
}

// escape reads what follows a backslash.
func (p *parser) escape(out []byte) ([]byte, *Error) {
	c := p.peek()
	p.i++
	if at := bytes.IndexByte([]byte(`"\/bfnrt`), c); at >= 0 {
		return append(out, "\"\\/\b\f\n\r\t"[at]), nil
	}
	if c != 'u' {
		return nil, p.fail(Syntax, "an unknown escape")
	}
	r, ok := p.hex4()
	if !ok {
		return nil, p.fail(Syntax, "four hex digits should follow \\u")
	}
	if r >= 0xD800 && r <= 0xDFFF {
		var low rune
		if r < 0xDC00 && bytes.HasPrefix(p.b[min(p.i, len(p.b)):], []byte(`\u`)) {
			p.i += 2
			low, ok = p.hex4()
		}
		if !ok || low < 0xDC00 || low > 0xDFFF {
			return nil, p.fail(LoneSurrogate, "half a surrogate pair")
		}
		r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
	}
	return utf8.AppendRune(out, r), nil
}

func (p *parser) hex4() (rune, bool) {
	if p.i+4 > len(p.b) {
		return 0, false
	}
	for _, c := range p.b[p.i : p.i+4] {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(p.b[p.i:p.i+4]), 16, 32)
	p.i += 4
	return rune(n), err == nil
}
