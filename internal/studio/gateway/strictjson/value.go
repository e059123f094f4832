// Package strictjson reads JSON that comes from somebody who wants two readers
// to disagree about it, and writes it in one form. What can be read in two
// ways is an error: a name twice, broken UTF-8, half a surrogate pair, a
// number beyond a float's range, a second value behind the first.
//
// Here lie the parser, its tree and the writer. What the values mean is not
// known here.
package strictjson

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is what a value is.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String gives the kind's name in JSON's words.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	default:
		return "object"
	}
}

// Value is one value. Its bytes may share memory with what was parsed.
type Value struct {
	Kind  Kind
	True  bool     // of a boolean
	Text  []byte   // a string's content, decoded; a number as it was written
	Elems []Value  // of an array or an object
	Names []string // an object's names, beside Elems
	// Base64 says of a long string that it is IsBase64. Pictures are long, and
	// are looked at once.
	Base64 bool
}

// Get gives an object's member; false when there is none, or v is no object.
func (v Value) Get(name string) (Value, bool) {
	if v.Kind == Object {
		if i := slices.Index(v.Names, name); i >= 0 {
			return v.Elems[i], true
		}
	}
	return Value{}, false
}

// Str gives an object's member that is a string; else the empty string.
func (v Value) Str(name string) string {
	if m, ok := v.Get(name); ok && m.Kind == String {
		return string(m.Text)
	}
	return ""
}

// Int gives a number that is written as a plain integer of 64 bits: no
// fraction, no exponent.
func (v Value) Int() (int64, bool) {
	if v.Kind != Number {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.Text), 10, 64)
	return n, err == nil
}

// Append writes the value without a space, names in the order in which they
// came.
func (v Value) Append(dst []byte) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool:
		return strconv.AppendBool(dst, v.True)
	case Number:
		return append(dst, v.Text...)
	case String:
		return AppendString(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.Append(dst)
		}
		return append(dst, ']')
	default:
		dst = append(dst, '{')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendString(dst, v.Names[i]), ':')
			dst = e.Append(dst)
		}
		return append(dst, '}')
	}
}

// AppendString writes a string, which must be valid UTF-8, in quotes. Quote,
// backslash and control characters are escaped and nothing else.
func AppendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if at := strings.IndexByte("\"\\\n\r\t", c); at >= 0 {
			dst = append(dst, '\\', `"\nrt`[at])
		} else {
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}
