package typeset

import (
	"bytes"
	"embed"
	"fmt"
	"unicode"

	"github.com/go-text/typesetting/font"
)

// Subsets with their sizes, coverage and licences: fonts/README.md.
//
//go:embed fonts/*.gz
var fontFiles embed.FS

const (
	fileMedium   = "inter-medium.otf"
	fileSemiBold = "inter-semibold.otf"
	fileCJK      = "noto-cjk.otf"
	fileEmoji    = "noto-emoji.ttf"
	fileSymbols  = "noto-symbols.ttf"
	fileSymbols2 = "noto-symbols2.ttf"
	fileMath     = "noto-math.ttf"
)

// library unpacks fonts when a text first needs them. It isn't safe for
// concurrent use.
type library struct {
	faces map[string]*font.Face
}

// face returns the font of a file. The files are part of the binary: an error
// is a fault of the build.
func (l *library) face(name string) (*font.Face, error) {
	if face, ok := l.faces[name]; ok {
		return face, nil
	}
	face, err := loadFace(name)
	if err != nil {
		return nil, fmt.Errorf("font %s: %w", name, err)
	}
	l.faces[name] = face
	return face, nil
}

func loadFace(name string) (*font.Face, error) {
	raw, err := File(name)
	if err != nil {
		return nil, err
	}
	return font.ParseTTF(bytes.NewReader(raw))
}

// scriptFile names the file of a script that stands in one of its own, "" for
// other runes.
func scriptFile(r rune) string {
	for _, s := range []struct {
		table *unicode.RangeTable
		file  string
	}{
		{unicode.Arabic, "noto-arabic.ttf"},
		{unicode.Hebrew, "noto-hebrew.ttf"},
		{unicode.Devanagari, "noto-devanagari.ttf"},
		{unicode.Thai, "noto-thai.ttf"},
		{unicode.Bengali, "noto-bengali.ttf"},
		{unicode.Tamil, "noto-tamil.ttf"},
		{unicode.Telugu, "noto-telugu.ttf"},
		{unicode.Gujarati, "noto-gujarati.ttf"},
		{unicode.Gurmukhi, "noto-gurmukhi.ttf"},
		{unicode.Kannada, "noto-kannada.ttf"},
		{unicode.Malayalam, "noto-malayalam.ttf"},
		{unicode.Sinhala, "noto-sinhala.ttf"},
		{unicode.Georgian, "noto-georgian.ttf"},
		{unicode.Armenian, "noto-armenian.ttf"},
		{unicode.Ethiopic, "noto-ethiopic.ttf"},
		{unicode.Khmer, "noto-khmer.ttf"},
		{unicode.Lao, "noto-lao.ttf"},
		{unicode.Myanmar, "noto-myanmar.ttf"},
	} {
		if unicode.Is(s.table, r) {
			return s.file
		}
	}
	// Marks that several scripts of India share, and Arabic's common comma.
	switch {
	case r == 0x0964, r == 0x0965, r >= 0x1CD0 && r <= 0x1CFF:
		return "noto-devanagari.ttf"
	case r >= 0x0600 && r <= 0x06FF:
		return "noto-arabic.ttf"
	case r == 0x0E3F:
		return "noto-thai.ttf"
	case r == 0x0589:
		return "noto-armenian.ttf"
	}
	return ""
}

// eastAsian tells whether a rune lies where Chinese, Japanese and Korean do.
func eastAsian(r rune) bool {
	return r >= 0x1100 && r <= 0x11FF || r >= 0x2E80 && r <= 0xA4CF || r >= 0xA960 && r <= 0xA97F ||
		r >= 0xAC00 && r <= 0xD7FF || r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE4F ||
		r >= 0xFF00 && r <= 0xFFEF || r >= 0x20000 && r <= 0x3FFFF
}

// candidates lists the files that may hold a grapheme which starts with r,
// best first. It is short, so that a strange character doesn't unpack
// every font.
func candidates(r rune, latin string, emoji bool) []string {
	if emoji {
		return []string{fileEmoji, latin}
	}
	if file := scriptFile(r); file != "" {
		return []string{file, latin}
	}
	switch {
	case eastAsian(r):
		return []string{fileCJK, latin}
	case r < 0x2000:
		return []string{latin}
	default:
		return []string{latin, fileSymbols, fileSymbols2, fileMath, fileEmoji}
	}
}

// drawable finds the file whose font has every rune of the grapheme, else the
// one that has its first; "" when no font knows it.
func (l *library) drawable(grapheme []rune, latin string) (string, error) {
	first := ""
	for _, file := range candidates(grapheme[0], latin, isEmoji(grapheme)) {
		face, err := l.face(file)
		if err != nil {
			return "", err
		}
		if _, ok := face.NominalGlyph(grapheme[0]); !ok {
			continue
		}
		if coversAll(face, grapheme) {
			return file, nil
		}
		if first == "" {
			first = file
		}
	}
	return first, nil
}

func coversAll(face *font.Face, grapheme []rune) bool {
	for _, r := range grapheme {
		if _, ok := face.NominalGlyph(r); !ok && !joins(r) {
			return false
		}
	}
	return true
}
