package job

import "unicode"

// bidi are the marks, embeddings, overrides and isolates of Unicode's
// bidirectional algorithm (UAX #9, section 2), which make text read otherwise
// than it is.
func bidi(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// hidden are characters by which text can be put into a prompt that no person
// sees: format characters, what Unicode lets a font leave out (UAX #44,
// Default_Ignorable_Code_Point), tags (U+E0000 on), selectors of variations,
// private use and what is no character at all. A flag of a region is written
// in tags, too; it is not worth the risk.
func hidden(r rune) bool {
	switch {
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // a format character that is drawn: a sign of Arabic numbers
		return false
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return true
	}
	return r >= 0xE0000 && r <= 0xE0FFF || r >= 0xFDD0 && r <= 0xFDEF || r&0xFFFE == 0xFFFE
}

// The hidden characters that writing needs.
const (
	zwnj      = '\u200C' // keeps letters apart
	zwj       = '\u200D' // joins letters, and emoji
	textStyle = '\uFE0E' // of the emoji before it
	emojiLook = '\uFE0F' // the same, in colour
)

// joins says whether a hidden character is one that writing needs, where it
// needs it: one, never two in a row, so that no text can be written in them.
func joins(all []rune, i int) bool {
	around := func(i int) rune {
		if i < 0 || i >= len(all) {
			return ' '
		}
		return all[i]
	}
	before, after := around(i-1), around(i+1)
	switch all[i] {
	case textStyle, emojiLook:
		return emoji(before) || keycap(before) && (after == '\u20E3')
	case zwj:
		if before == emojiLook {
			before = around(i - 2)
		}
		return emoji(before) && emoji(after) || joining(before)
	case zwnj:
		return joining(before)
	}
	return false
}

// keycap are the characters that become an emoji by U+FE0F and U+20E3.
func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// emoji is true of every emoji of one character (UTS #51), and of other
// symbols: pictures, arrows, signs and the tones of skin.
func emoji(r rune) bool {
	switch r {
	case '\u203C', '\u2049', '\u2139', '\u3030', '\u303D': // punctuation and a letter by their category
		return true
	}
	return r >= 0x1F000 && r <= 0x1FAFF || unicode.Is(unicode.So, r) || r >= 0x2190 && unicode.Is(unicode.Sm, r)
}

// joining are the letters and marks of scripts whose letters change their
// shape beside each other, and whose orthography has joiners (Unicode,
// sections 9.2 and 12.1): Persian needs them, Hindi, Sinhala.
func joining(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M) && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar)
}
