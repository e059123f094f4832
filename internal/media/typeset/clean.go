package typeset

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-text/typesetting/segmenter"
)

const (
	zwnj        = '\u200c'
	zwj         = '\u200d'
	textStyle   = '\ufe0e' // variation selector: draw as text
	emojiStyle  = '\ufe0f' // variation selector: draw as emoji
	keycap      = '\u20e3'
	blackFlag   = '\U0001F3F4'
	substitute  = '·' // stands for what no font can draw
	maxMarks    = 6   // combining marks kept on one letter; Thai and Hebrew need 3, Khmer 5
	maxGrapheme = 16  // runes of one grapheme; the longest emoji in the font has 10
	maxDots     = 3   // substitutes in a row
)

// joins tells runes that shape their neighbours and have no picture.
func joins(r rune) bool {
	return r == zwnj || r == zwj || r == textStyle || r == emojiStyle || isTag(r)
}

// isTag tells the letters of a flag such as Scotland's.
func isTag(r rune) bool { return r >= 0xE0020 && r <= 0xE007F }

func isTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

// isEmoji tells whether a grapheme is meant to be drawn in colour: Unicode's
// Emoji_Presentation, or a style, tone or keycap that asks for it.
func isEmoji(g []rune) bool {
	for _, r := range g[1:] {
		switch {
		case r == textStyle:
			return false
		case r == emojiStyle, r == keycap, isTone(r):
			return true
		}
	}
	return emojiByDefault(g[0])
}

// emojiByDefault is Emoji_Presentation of emoji-data.txt, Unicode 15. Above
// U+1F300 everything that the emoji font has counts: such a pictogram beside
// one in colour would look broken.
func emojiByDefault(r rune) bool {
	if r >= 0x1F300 {
		return r <= 0x1FAFF && (r < 0x1F780 || r > 0x1F7DF) && (r < 0x1F800 || r > 0x1F8FF)
	}
	if r >= 0x1F1E6 && r <= 0x1F1FF {
		return true
	}
	switch r {
	case 0x231A, 0x231B, 0x23E9, 0x23EA, 0x23EB, 0x23EC, 0x23F0, 0x23F3, 0x25FD, 0x25FE, 0x2614, 0x2615,
		0x267F, 0x2693, 0x26A1, 0x26AA, 0x26AB, 0x26BD, 0x26BE, 0x26C4, 0x26C5, 0x26CE, 0x26D4, 0x26EA, 0x26F2,
		0x26F3, 0x26F5, 0x26FA, 0x26FD, 0x2705, 0x270A, 0x270B, 0x2728, 0x274C, 0x274E, 0x2753, 0x2754, 0x2755,
		0x2757, 0x2795, 0x2796, 0x2797, 0x27B0, 0x27BF, 0x2B1B, 0x2B1C, 0x2B50, 0x2B55,
		0x1F004, 0x1F0CF, 0x1F18E, 0x1F201, 0x1F21A, 0x1F22F, 0x1F250, 0x1F251:
		return true
	}
	return r >= 0x2648 && r <= 0x2653 || r >= 0x1F191 && r <= 0x1F19A || r >= 0x1F232 && r <= 0x1F23A
}

// clean returns what may be drawn of a text, at most limit runes, and whether
// it had to end early. White space becomes single spaces; control characters,
// terminal colours, bidi overrides and other invisible format characters go.
// Letters stay in the order in which Unicode's bidi algorithm puts them: a text
// can't pretend another order.
func clean(text string, limit int, colours *regexp.Regexp) (runes []rune, cut bool) {
	// No character is longer than 4 bytes, and what is dropped can't be without
	// end either: the rest of a hostile text isn't looked at.
	if most := limit * 16; len(text) > most {
		text, cut = text[:most], true
	}
	if strings.ContainsRune(text, '\x1b') {
		text = colours.ReplaceAllString(text, "")
	}
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = len(runes) > 0
			continue
		case dropped(r, runes):
			continue
		}
		if len(runes) >= limit {
			return runes, true
		}
		if space {
			runes = append(runes, ' ')
			space = false
		}
		runes = append(runes, r)
	}
	return runes, cut
}

// terminalColours matches what a terminal takes as colours and titles.
func terminalColours() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[[0-9;:?]*[A-Za-z]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)?`)
}

// dropped tells the runes that draw nothing, or that only move others.
func dropped(r rune, before []rune) bool {
	switch {
	case r == utf8.RuneError:
		return false // shown as something that can't be drawn
	case r == zwnj, r == zwj, r == emojiStyle, r == textStyle:
		return len(before) == 0 || before[len(before)-1] == ' '
	case isTag(r):
		return len(before) == 0 || before[len(before)-1] != blackFlag && !isTag(before[len(before)-1])
	case r >= 0xFE00 && r <= 0xFE0D, r >= 0xE0100 && r <= 0xE01EF: // other variation selectors
		return true
	case r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800, r == 0x034F, r == 0x17B4, r == 0x17B5: // blank fillers
		return true
	case r >= 0x0600 && r <= 0x0605, r == 0x06DD: // Arabic signs of category Cf that are seen
		return false
	case r >= 0x180B && r <= 0x180F:
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// graphemes splits runes into what a reader takes for one character, each
// with as many marks as a script needs: a tower of accents is cut.
func graphemes(runes []rune) [][]rune {
	if len(runes) == 0 {
		return nil
	}
	var seg segmenter.Segmenter
	seg.Init(runes)
	var all [][]rune
	for it := seg.GraphemeIterator(); it.Next(); {
		g := it.Grapheme().Text
		kept := make([]rune, 0, min(len(g), maxGrapheme))
		marks := 0
		for _, r := range g {
			if unicode.Is(unicode.M, r) && !joins(r) {
				marks++
				if marks > maxMarks {
					continue
				}
			}
			if len(kept) == maxGrapheme {
				break
			}
			kept = append(kept, r)
		}
		all = append(all, kept)
	}
	return all
}

// guessLanguage guesses whose forms of the shared ideographs a text wants; "" when
// it has none. Kana is Japanese, Hangul Korean; traditional characters that
// simplified Chinese never uses decide the rest.
func guessLanguage(runes []rune) string {
	han, traditional := false, false
	for _, r := range runes {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja"
		case unicode.Is(unicode.Hangul, r):
			return "ko"
		case unicode.Is(unicode.Han, r):
			han = true
			traditional = traditional || traditionalOnly(r)
		}
	}
	switch {
	case traditional:
		return "zh-tw"
	case han:
		return "zh-cn"
	default:
		return ""
	}
}

// traditionalOnly knows the commonest characters that a text in traditional
// Chinese about software can hardly do without and that GB 2312 lacks.
func traditionalOnly(r rune) bool {
	return strings.ContainsRune("這個們為來時說對開關點擊選擇顯測試驗證結錯誤應該網頁檔資輸確認檢連畫設啟動載執帳號碼電話郵訂單購車買賣價錢總計變數據庫處從與裡麼樣會國學過還進長問間門見現無務員產發經實業體環機權請讓讀寫創議題終標籤樹類", r)
}
