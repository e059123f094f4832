package typeset

import (
	"bytes"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/go-text/typesetting/font"
)

// Guards the build: a font file that can't be read would only be found when a
// text needs it.
func TestEveryFontLoads(t *testing.T) {
	entries, err := fontFiles.ReadDir("fonts")
	if err != nil || len(entries) < 20 {
		t.Fatalf("%d fonts, %v", len(entries), err)
	}
	total := int64(0)
	for _, e := range entries {
		if _, err := loadFace(strings.TrimSuffix(e.Name(), ".gz")); err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
		if info, err := e.Info(); err == nil {
			total += info.Size()
		}
	}
	if total > 10<<20 {
		t.Errorf("the fonts are %d KiB: more than 10 MiB in every binary needs a good reason", total>>10)
	}
}

// Guards the code against a file that nobody embeds.
func TestEveryNameHasAFile(t *testing.T) {
	l := library{faces: map[string]*font.Face{}}
	for r := rune(0x20); r < 0x20000; r += 5 {
		if r >= 0xD800 && r < 0xE000 {
			continue
		}
		if _, err := l.drawable([]rune{r}, fileMedium); err != nil {
			t.Fatalf("U+%04X: %v", r, err)
		}
	}
	if len(l.faces) < 20 {
		t.Errorf("only %d fonts are ever used", len(l.faces))
	}
}

// Guards the emoji: every picture of the font can be decoded.
func TestEmojiPicturesDecode(t *testing.T) {
	face, err := loadFace(fileEmoji)
	if err != nil {
		t.Fatal(err)
	}
	pictures := 0
	for gid := range font.GID(4000) {
		bitmap, ok := face.GlyphDataBitmap(gid)
		if !ok {
			continue
		}
		pictures++
		if _, err := png.Decode(bytes.NewReader(bitmap.Data)); err != nil {
			t.Fatalf("glyph %d: %v", gid, err)
		}
	}
	if pictures < 3500 {
		t.Errorf("%d pictures", pictures)
	}
}

// Guards the duty that comes with the fonts.
func TestLicencesAreThere(t *testing.T) {
	text, err := os.ReadFile("fonts/LICENSES")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SIL OPEN FONT LICENSE Version 1.1", "The Inter Project Authors", "Noto"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("fonts/LICENSES lacks %q", want)
		}
	}
}
