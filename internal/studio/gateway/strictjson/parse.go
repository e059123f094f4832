package strictjson

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
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
