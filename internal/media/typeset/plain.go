package typeset

import (
	"regexp"
	"strings"
)

// Plain returns what of a text may be shown anywhere: white space as single
// spaces, without control characters, terminal colours, bidi overrides and
// other invisible format characters; at most limit characters as a reader
// counts them, the last of which is an ellipsis when there were more.
func Plain(text string, limit int) string {
	if limit < 1 {
		return ""
	}
	var colours *regexp.Regexp
	if strings.ContainsRune(text, '\x1b') {
		colours = terminalColours()
	}
	runes, cut := clean(text, limit*maxGrapheme, colours)
	if !joined(runes) { // most texts: every rune is a character
		if len(runes) > limit {
			runes, cut = runes[:limit-1], true
		}
		if cut {
			runes = append(runes, '…')
		}
		return string(runes)
	}
	all := graphemes(runes)
	if len(all) > limit {
		all, cut = all[:limit-1], true
	}
	var out []rune
	for _, g := range all {
		out = append(out, g...)
	}
	if cut {
		out = append(out, '…')
	}
	return string(out)
}

// joined tells whether runes may belong together: below the combining marks
// none do.
func joined(runes []rune) bool {
	for _, r := range runes {
		if r >= 0x300 {
			return true
		}
	}
	return false
}
