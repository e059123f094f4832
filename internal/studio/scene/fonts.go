package scene

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proofreel/proofreel/internal/media/typeset"
)

// What scenes have beside typeset's fonts; sizes and origins: fonts/README.md.
//
//go:embed fonts/*.gz
var fontFiles embed.FS

// Family is a typeface that scenes may name.
type Family struct {
	Name    string `json:"name"`
	Weights []int  `json:"weights"`
	Italics []int  `json:"italics,omitempty"` // weights that have an italic
	About   string `json:"about"`
}

// Families lists the typefaces by their CSS names. Other scripts need not be
// named: a character that the family lacks is taken from the Noto fonts.
func Families() []Family {
	return []Family{
		{"Inter", []int{300, 400, 500, 600, 700, 800, 900}, []int{400}, "neutral sans; Latin, Greek, Cyrillic"},
		{"Space Grotesk", []int{400, 500, 600, 700}, nil, "technical sans with character"},
		{"Instrument Serif", []int{400}, []int{400}, "narrow display serif, for large sizes"},
		{"Source Serif 4", []int{400, 600}, []int{400}, "serif for reading; Latin, Greek, Cyrillic"},
		{"Anton", []int{400}, nil, "condensed heavy capitals, for posters"},
		{"Fredoka", []int{500, 600, 700}, nil, "round and friendly"},
		{"Nunito", []int{600, 800}, nil, "rounded sans for reading; Latin, Cyrillic"},
		{"Caveat", []int{500, 600, 700}, nil, "handwriting; Latin, Cyrillic"},
		{"JetBrains Mono", []int{400, 500, 700, 800}, nil, "monospace with ligatures, boxes and blocks; Latin, Greek, Cyrillic"},
		{"Noto Color Emoji", []int{400}, nil, "emoji in colour"},
	}
}

// FontSet is the fonts on disk, as a browser takes them.
type FontSet struct {
	Dir        string    // holds all, absolute
	ConfigFile string    // for FONTCONFIG_FILE
	Families   []string  // names for CSS
	Glyphs     [][2]rune // the characters that some font has, as ranges, sorted
}

// Env is what the browser's environment must say, so that it sees these fonts
// and no other of the machine.
func (f FontSet) Env() []string { return []string{"FONTCONFIG_FILE=" + f.ConfigFile} }

// Install is the argument of install in the run-time script, but for its kind.
func (f FontSet) Install() (json.RawMessage, error) {
	all, err := Styles()
	if err != nil {
		return nil, err
	}
	styles := map[string]Style{}
	for _, s := range all {
		styles[s.Name] = s
	}
	return json.Marshal(map[string]any{"families": f.Families, "glyphs": f.Glyphs, "styles": styles})
}

// Fonts unpacks the fonts into a folder below cacheDir that is named by their
// hash, unless it is there already. Several processes may do so at once.
func Fonts(cacheDir string) (FontSet, error) {
	cacheDir, err := filepath.Abs(cacheDir)
	if err != nil {
		return FontSet{}, fmt.Errorf("unpacking fonts: %w", err)
	}
	id, err := fontsID()
	if err != nil {
		return FontSet{}, err
	}
	dir := filepath.Join(cacheDir, "scene-fonts-"+id[:16])
	if set, err := readFonts(dir); err == nil {
		return set, nil
	}
	if err := os.MkdirAll(cacheDir, 0o755); err != nil { //nolint:gosec // fonts are public: a browser under another user reads them
		return FontSet{}, fmt.Errorf("unpacking fonts: %w", err)
	}
	tmp, err := os.MkdirTemp(cacheDir, "scene-fonts-new-")
	if err != nil {
		return FontSet{}, fmt.Errorf("unpacking fonts: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := writeFonts(tmp, dir); err != nil {
		return FontSet{}, fmt.Errorf("unpacking fonts: %w", err)
	}
	if err := install(tmp, dir); err != nil {
		return FontSet{}, fmt.Errorf("unpacking fonts: %w", err)
	}
	return readFonts(dir)
}

// install puts the new folder in place. Another process may have been first,
// and what is there may be damaged.
func install(tmp, dir string) error {
	if os.Rename(tmp, dir) == nil {
		return nil
	}
	if _, err := readFonts(dir); err == nil {
		return nil
	}
	if err := os.Rename(dir, tmp+"-old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp + "-old") }()
	return os.Rename(tmp, dir)
}

// fontManifest is fonts.json in the folder.
type fontManifest struct {
	Sizes  map[string]int64 `json:"sizes"`
	Glyphs [][2]rune        `json:"glyphs"`
}

func readFonts(dir string) (FontSet, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "fonts.json"))
	if err != nil {
		return FontSet{}, err
	}
	var m fontManifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return FontSet{}, err
	}
	for name, size := range m.Sizes {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return FontSet{}, err
		}
		if info.Size() != size {
			return FontSet{}, fmt.Errorf("%s has %d bytes, not %d", name, info.Size(), size)
		}
	}
	set := FontSet{Dir: dir, ConfigFile: filepath.Join(dir, "fonts.conf"), Glyphs: m.Glyphs}
	for _, f := range Families() {
		set.Families = append(set.Families, f.Name)
	}
	return set, nil
}

// writeFonts fills the folder tmp, which is going to be dir.
func writeFonts(tmp, dir string) error {
	if err := os.Mkdir(filepath.Join(tmp, "files"), 0o755); err != nil { //nolint:gosec // fonts are public: a browser under another user reads them
		return err
	}
	m := fontManifest{Sizes: map[string]int64{}}
	covered := map[rune]bool{}
	err := eachFont(func(name string, raw []byte) error {
		m.Sizes["files/"+name] = int64(len(raw))
		runes, err := typeset.Covers(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, r := range runes {
			covered[r] = true
		}
		return os.WriteFile(filepath.Join(tmp, "files", name), raw, 0o644) //nolint:gosec // fonts are public: a browser under another user reads them
	})
	if err != nil {
		return err
	}
	m.Glyphs = ranges(covered)
	conf := []byte(fontConfig(dir))
	m.Sizes["fonts.conf"] = int64(len(conf))
	if err := os.WriteFile(filepath.Join(tmp, "fonts.conf"), conf, 0o644); err != nil { //nolint:gosec // fonts are public: a browser under another user reads them
		return err
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "fonts.json"), raw, 0o644); err != nil { //nolint:gosec // fonts are public: a browser under another user reads them
		return err
	}
	return os.Chmod(tmp, 0o755) //nolint:gosec // fonts are public: a browser under another user reads them
}

func ranges(covered map[rune]bool) [][2]rune {
	var out [][2]rune
	for _, r := range slices.Sorted(maps.Keys(covered)) {
		if n := len(out); n > 0 && out[n-1][1] == r-1 {
			out[n-1][1] = r
			continue
		}
		out = append(out, [2]rune{r, r})
	}
	return out
}

// eachFont calls use with every font, unpacked, in a fixed order.
func eachFont(use func(name string, raw []byte) error) error {
	entries, err := fontFiles.ReadDir("fonts")
	if err != nil {
		return fmt.Errorf("the fonts in the binary: %w", err)
	}
	for _, e := range entries {
		packed, err := fontFiles.ReadFile("fonts/" + e.Name())
		if err != nil {
			return fmt.Errorf("the fonts in the binary: %w", err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return fmt.Errorf("font %s: %w", e.Name(), err)
		}
		raw, err := io.ReadAll(z)
		if err != nil {
			return fmt.Errorf("font %s: %w", e.Name(), err)
		}
		if err := use(strings.TrimSuffix(e.Name(), ".gz"), raw); err != nil {
			return err
		}
	}
	for _, name := range shared() {
		raw, err := typeset.File(name)
		if err != nil {
			return fmt.Errorf("font %s: %w", name, err)
		}
		if err := use(name, raw); err != nil {
			return err
		}
	}
	return nil
}

// shared lists the fonts of typeset that scenes see too: all but its emoji,
// which are small pictures.
func shared() []string {
	return slices.DeleteFunc(typeset.Files(), func(name string) bool { return name == "noto-emoji.ttf" })
}

// fontsID is a hash of the fonts and of how they are set up, hex.
func fontsID() (string, error) {
	h := sha256.New()
	entries, err := fontFiles.ReadDir("fonts")
	if err != nil {
		return "", fmt.Errorf("the fonts in the binary: %w", err)
	}
	for _, e := range entries {
		packed, err := fontFiles.ReadFile("fonts/" + e.Name())
		if err != nil {
			return "", fmt.Errorf("the fonts in the binary: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n", e.Name(), len(packed))
		h.Write(packed)
	}
	for _, name := range shared() {
		sum, err := typeset.Sum(name)
		if err != nil {
			return "", fmt.Errorf("font %s: %w", name, err)
		}
		fmt.Fprintf(h, "%s %s\n", name, sum)
	}
	h.Write([]byte(fontConfig("")))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// fontConfig is the fontconfig file: our folder and no other, shapes without
// hinting, grey edges, and what stands in for what.
func fontConfig(dir string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
`)
	fmt.Fprintf(&b, "<dir>%s</dir>\n<cachedir>%s</cachedir>\n", html.EscapeString(filepath.Join(dir, "files")), html.EscapeString(filepath.Join(dir, "cache")))
	b.WriteString(`<config><rescan><int>0</int></rescan></config>
<match target="font">
<edit name="antialias" mode="assign"><bool>true</bool></edit>
<edit name="hinting" mode="assign"><bool>false</bool></edit>
<edit name="autohint" mode="assign"><bool>false</bool></edit>
<edit name="hintstyle" mode="assign"><const>hintnone</const></edit>
<edit name="rgba" mode="assign"><const>none</const></edit>
<edit name="lcdfilter" mode="assign"><const>lcdnone</const></edit>
</match>
`)
	aliases := map[string]string{
		"sans-serif": "Inter", "system-ui": "Inter", "ui-sans-serif": "Inter", "serif": "Source Serif 4", "ui-serif": "Source Serif 4",
		"monospace": "JetBrains Mono", "ui-monospace": "JetBrains Mono", "ui-rounded": "Nunito", "cursive": "Caveat", "fantasy": "Anton",
		"emoji": "Noto Color Emoji", "math": "Noto Sans Math",
	}
	for _, n := range slices.Sorted(maps.Keys(aliases)) {
		fmt.Fprintf(&b, `<match target="pattern"><test name="family"><string>%s</string></test><edit name="family" mode="assign" binding="strong"><string>%s</string></edit></match>`+"\n", n, aliases[n])
	}
	b.WriteString("</fontconfig>\n")
	return b.String()
}
