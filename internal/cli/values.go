package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/proofreel/proofreel/internal/fault"
)

// The value types of the tree. Each parses itself and says, through its kind,
// what it is called in the manifest; ranges come from the tree's tags.
type (
	toggle bool   // present or not
	choice string // one of the tag allowed
	text   string // a line of text, of at most max characters
	label  string // text that is fit for a file's name
	ident  string // a recording's id
)

// kinder is a value that names its type in the manifest.
type kinder interface{ kind() string }

func (toggle) kind() string { return "boolean" }
func (choice) kind() string { return "choice" }
func (text) kind() string   { return "text" }
func (label) kind() string  { return "text" }
func (ident) kind() string  { return "recording id" }

// fromEnv is a value that an environment variable gave.
type fromEnv struct{ name, value string }

// taken is a value on its way into its field.
type taken struct {
	where string // --fps, TEXT, or the name of an environment variable
	value string
	tag   *kong.Tag
}

// bad makes the error for a value that is not allowed. It shows the value.
func (t taken) bad(hint, why string) *fault.Error {
	return fault.New(fault.InvalidValue, hint, "%s: %s %s", t.where, quote(t.value), why)
}

// take takes the value of a flag or an argument from the command line.
func take(ctx *kong.DecodeContext) (taken, error) {
	t := taken{where: where(ctx.Value), tag: ctx.Value.Tag}
	token := ctx.Scan.Pop()
	switch v := token.Value.(type) {
	case fromEnv:
		t.where, t.value = v.name, v.value
	case string:
		t.value = v
	}
	if token.IsEOL() || token.Type == kong.UntypedToken && flagLike(t.value) {
		return t, fault.New(fault.Usage, "Write "+t.where+"=VALUE.", "%s has no value", t.where)
	}
	if t.value == "" {
		return t, fault.New(fault.InvalidValue, "Give a value, or leave it out.", "%s is empty", t.where)
	}
	if strings.TrimSpace(t.value) == "" {
		return t, fault.New(fault.InvalidValue, "Give a value, or leave it out.", "%s is blank", t.where)
	}
	return t, nil
}

// where names a flag or an argument as its user would.
func where(v *kong.Value) string {
	if v.Flag != nil {
		return "--" + v.Name
	}
	return strings.ToUpper(v.Name)
}

// flagLike tells flags from values that only begin with a dash, such as -5.
func flagLike(s string) bool {
	if !strings.HasPrefix(s, "-") || s == "-" {
		return false
	}
	c := strings.TrimLeft(s, "-")
	return c == "" || c[0] < '0' || c[0] > '9'
}

// Decode sets the flag; it takes no value.
func (b *toggle) Decode(ctx *kong.DecodeContext) error {
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		return fault.New(fault.Usage, "Write "+where(ctx.Value)+" alone.", "%s takes no value", where(ctx.Value))
	}
	*b = true
	return nil
}

// Decode takes one of the allowed values.
func (c *choice) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	allowed := strings.Split(t.tag.Get("allowed"), ",")
	if !slices.Contains(allowed, t.value) {
		return t.bad("Use one of: "+strings.Join(allowed, ", ")+".", "is not allowed")
	}
	*c = choice(t.value)
	return nil
}

// Decode takes a text that is not too long.
func (s *text) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	*s = text(t.value)
	return t.checkLength()
}

// checkLength holds a text to the tag max, in characters.
func (t taken) checkLength() error {
	limit, n := intTag(t.tag, "max"), utf8.RuneCountInString(t.value)
	if n > limit {
		return fault.New(fault.InvalidValue, "Make it shorter.", "%s has %d characters; at most %d are allowed", t.where, n, limit)
	}
	return nil
}

// Decode takes a name that is fit for a file's name.
func (s *label) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	if strings.ContainsAny(t.value, `/\`) || strings.HasPrefix(t.value, ".") || strings.HasPrefix(t.value, "-") {
		return t.bad("Leave out / and \\, and begin with a letter or a digit.", "is no name")
	}
	*s = label(t.value)
	return t.checkLength()
}

// Decode takes what may be a recording's id. Whether there is such a recording
// is asked later; a path never gets that far.
func (s *ident) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	if !regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z-]{0,63}$`).MatchString(t.value) {
		return t.bad("Take it from the answer of start or list.", "is no recording id")
	}
	*s = ident(t.value)
	return nil
}

// quote shows a foreign value in a message: in quotes, cut at 80 characters,
// without the password of a URL.
func quote(s string) string {
	s = redact(s)
	if r := []rune(s); len(r) > 80 {
		s = string(r[:79]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// redact takes user names and passwords out of the URLs in a text.
func redact(s string) string {
	return regexp.MustCompile(`//[^/\s"]*@`).ReplaceAllString(s, "//***@")
}
