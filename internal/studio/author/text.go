package author

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words are the words of a text, without what stands between them.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) })
}

// coveredScript says of most characters whether the library's fonts have them:
// those of scripts that they are there for.
func coveredScript(r rune) bool {
	if r < 0x20 || r > 0xFFFF {
		return false
	}
	return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Thai, unicode.Inherited) ||
		r < 0x100 || r >= 0x2010 && r <= 0x203A || r == '€' || r == '™' || r == '→' ||
		r >= 0x4E00 && r <= 0x9FA5 || r >= 0x3001 && r <= 0x3011
}

// tidy makes running text of a stranger's: no addresses, no marks of Markdown,
// no character that can't be drawn, and the signs that a typesetter would take.
func (a *Author) tidy(s string) string {
	s = regexp.MustCompile(`(?i)[a-z0-9+.-]*://\S*|www\.\S+|javascript:\S*`).ReplaceAllString(s, " ")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsSpace(r):
			return ' '
		case strings.ContainsRune("`*_#<>{}[]|\\~^", r):
			return ' '
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) || r == utf8.RuneError:
			return -1
		case !a.covers(r):
			return ' '
		}
		return r
	}, s)
	for _, rule := range [][2]string{
		{`\.{3,}`, "…"},
		{`[^\S\n]*--+[^\S\n]*`, " — "},
		{`(\S)[^\S\n]+-[^\S\n]+`, "$1 — "},
		{`(\d) ?- ?(\d)`, "$1–$2"},
		{`(\pL)'(\pL)`, "$1’$2"},
		{`(\pL)'`, "$1’"},
		{`(^|[\s(])"`, "$1“"},
		{`"`, "”"},
		{`[^\S\n]+`, " "},
		{` *\n *`, "\n"},
		{` ([,.;:!?])`, "$1"},
		{`(\d) %`, "$1%"},
	} {
		s = regexp.MustCompile(rule[0]).ReplaceAllString(s, rule[1])
	}
	return strings.TrimSpace(s)
}

// sentence trims a piece of text to what can stand alone, and begins it with a
// capital.
func sentence(s string) string {
	s = strings.Trim(s, " \n\t,;:–—…-•·/&+=")
	s = regexp.MustCompile(`(?i)^(?:and|but|or|so|then|also|plus|und|et|y)\s+`).ReplaceAllString(s, "")
	s = strings.TrimRight(s, ".!")
	s = strings.TrimSpace(s)
	for _, pair := range []string{"“”", "()", "«»", "‘’"} {
		if open, shut := []rune(pair)[0], []rune(pair)[1]; strings.ContainsRune(s, open) != strings.ContainsRune(s, shut) {
			s = strings.Map(func(r rune) rune {
				if r == open || r == shut && shut != '’' {
					return -1
				}
				return r
			}, s)
		}
	}
	r, n := utf8.DecodeRuneInString(s)
	// A word such as iPhone or npm keeps its first letter.
	if n < len(s) && unicode.IsLower(r) {
		if next, _ := utf8.DecodeRuneInString(s[n:]); !unicode.IsUpper(next) {
			return string(unicode.ToUpper(r)) + s[n:]
		}
	}
	return s
}

// short cuts a text after a whole word, at most so many characters long.
func short(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	cut := most
	for i := most; i > most*2/3; i-- {
		if r[i] == ' ' {
			cut = i
			break
		}
	}
	return strings.TrimRight(string(r[:cut]), " ,;:–—-") + "…"
}
