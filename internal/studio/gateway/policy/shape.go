// Package policy says what of a request to a model may reach the provider. The
// rules are data: tables of fields and of kinds of things, each row with what
// is done and why. A body is parsed strictly and then written anew from the
// tables; whatever they do not name is refused. The documentation is printed
// from the same tables.
//
// Here lie the tables, their interpreter and their printer. Money, tokens of
// access and HTTP are not known here.
package policy

import (
	"fmt"
	"strings"

	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// Action is what is done with a field or with a kind of thing.
type Action string

// The actions.
const (
	Allow  Action = "allow"  // checked, and written anew
	Set    Action = "set"    // we write it, whatever came
	Drop   Action = "drop"   // left out without an error, and counted
	Refuse Action = "refuse" // the whole request is an error
)

// field is a row of an object's table.
type field struct {
	name   string
	action Action
	shape  *shape // of what is allowed
	why    string
	must   bool // it is an error when it is missing
	count  bool // on the top level: goes into a request that counts tokens, too
	// bind takes the value instead of writing it: what is decided later.
	bind func(*walk, *shape, strictjson.Value) error
}

// variant is a row of a union's table: one or several values of its "type".
type variant struct {
	names  []string
	action Action
	fields []field // beside "type"
	why    string
}

type kind uint8

const (
	text    kind = iota // a string
	integer             // written without fraction and exponent
	number
	boolean
	anyJSON // any object: the agent's own data, written anew but not judged
	array
	object
	union  // an object with a "type"
	either // one of several, by JSON's kind
	pixels // base64 of a picture, beside its media type
)

// shape is what a value may be.
type shape struct {
	kind     kind
	title    string // of its table in the docs, for objects and unions
	max      int    // bytes of a text or of anyJSON, elements of an array
	from, to float64
	enum     []string
	rewrite  map[string]string // texts that are written as another
	word     bool              // letters, digits, _ and - only
	elem     *shape
	fields   []field
	variants []variant
	untyped  string // the variant of an object without a "type"
	choices  []*shape
	onElem   func(*walk, strictjson.Value, bool) // told of each variant that was kept or dropped
}

// Shapes are made by these, so that the tables read as tables.

func str(most int) *shape             { return &shape{kind: text, max: most} }
func words(most int) *shape           { return &shape{kind: text, max: most, word: true} }
func oneOf(values ...string) *shape   { return &shape{kind: text, max: 64, enum: values} }
func whole(from, to float64) *shape   { return &shape{kind: integer, from: from, to: to} }
func decimal(from, to float64) *shape { return &shape{kind: number, from: from, to: to} }
func yesNo() *shape                   { return &shape{kind: boolean} }
func free(most int) *shape            { return &shape{kind: anyJSON, max: most} }
func list(most int, elem *shape) *shape {
	return &shape{kind: array, max: most, elem: elem}
}
func any1(choices ...*shape) *shape { return &shape{kind: either, choices: choices} }
func obj(title string, fields ...field) *shape {
	return &shape{kind: object, title: title, fields: fields}
}

func variants(title string, v ...variant) *shape {
	return &shape{kind: union, title: title, variants: v}
}

// takes is the JSON kind that a shape accepts.
func (s *shape) takes() strictjson.Kind {
	switch s.kind {
	case text, pixels:
		return strictjson.String
	case integer, number:
		return strictjson.Number
	case boolean:
		return strictjson.Bool
	case array:
		return strictjson.Array
	default:
		return strictjson.Object
	}
}

// String says in words what the shape accepts.
func (s *shape) String() string {
	if s == nil {
		return ""
	}
	switch s.kind {
	case text:
		return s.textWords()
	case integer:
		return fmt.Sprintf("integer, %.0f to %.0f", s.from, s.to)
	case number:
		return fmt.Sprintf("number, %g to %g", s.from, s.to)
	case boolean:
		return "true or false"
	case anyJSON:
		return "any object up to " + size(s.max)
	case array:
		return fmt.Sprintf("up to %d of: %v", s.max, s.elem)
	case either:
		var parts []string
		for _, c := range s.choices {
			parts = append(parts, c.String())
		}
		return strings.Join(parts, "; or ")
	case pixels:
		return "base64 of a JPEG, PNG, GIF or WebP picture of one frame that is what media_type says; refused are animations, and bytes after the picture's end"
	default:
		return "see *" + s.title + "*"
	}
}

func (s *shape) textWords() string {
	if len(s.enum) > 0 {
		out := "`" + strings.Join(s.enum, "`, `") + "`"
		for from, to := range s.rewrite {
			out += fmt.Sprintf("; `%s` becomes `%s`", from, to)
		}
		return out
	}
	if s.word {
		return fmt.Sprintf("1 to %d letters, digits, `_`, `-`", s.max)
	}
	return "text up to " + size(s.max)
}

func size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
