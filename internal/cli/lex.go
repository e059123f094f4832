package cli

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/proofreel/proofreel/internal/fault"
)

// maxArgument is the longest argument, in bytes, that is looked at.
const maxArgument = 64 << 10

// checkArguments refuses what no command takes anywhere, before anything is
// made of the arguments.
func checkArguments(args []string) error {
	ended := false
	for i, a := range args {
		switch {
		case len(a) > maxArgument:
			return fault.New(fault.InvalidValue, "Make it shorter.", "argument %d has %d bytes; at most %d are allowed", i+1, len(a), maxArgument)
		case !utf8.ValidString(a):
			return fault.New(fault.InvalidValue, "Give text in UTF-8.", "argument %d is not valid UTF-8", i+1)
		case strings.ContainsFunc(a, unicode.IsControl):
			hint := "Write it on one line, without control characters."
			if slices.Contains(args[:i], "generate") {
				hint += " A prompt of several lines goes to standard input: generate -"
			}
			return fault.New(fault.InvalidValue, hint, "argument %d, %s, holds a control character", i+1, quote(a))
		case a == "--" && ended:
			return fault.New(fault.Usage, "Write -- once.", "argument %d is a second --", i+1)
		case a == "--":
			ended = true
		case ended && looksLikeFlag(a):
			return fault.New(fault.Usage, "Put flags before --.", "argument %d, %s, is a flag after --", i+1, quote(a))
		}
	}
	return nil
}

// looksLikeFlag tells a flag from a text that begins with a dash: after --,
// "- done" and "-5 is shown" are texts.
func looksLikeFlag(s string) bool {
	return regexp.MustCompile(`^--?[A-Za-z][\w-]*(=.*)?$`).MatchString(s)
}
