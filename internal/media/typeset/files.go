package typeset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/go-text/typesetting/font"
)

// Files lists the fonts in the binary by their names, sorted: for those who
// need them as files.
func Files() []string {
	entries, err := fontFiles.ReadDir("fonts")
	if err != nil {
		panic(err) // the folder is in the binary
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".gz"); ok {
			names = append(names, name)
		}
	}
	return names
}

// File unpacks a font that Files lists: OpenType.
func File(name string) ([]byte, error) {
	packed, err := fontFiles.ReadFile("fonts/" + name + ".gz")
	if err != nil {
		return nil, fmt.Errorf("there is no font %q: %w", name, err)
	}
	unpacker, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking font %s: %w", name, err)
	}
	raw, err := io.ReadAll(unpacker)
	if err != nil {
		return nil, fmt.Errorf("unpacking font %s: %w", name, err)
	}
	return raw, nil
}

// Sum is the SHA-256 of a font as it lies in the binary, hex, without unpacking
// it.
func Sum(name string) (string, error) {
	packed, err := fontFiles.ReadFile("fonts/" + name + ".gz")
	if err != nil {
		return "", fmt.Errorf("there is no font %q: %w", name, err)
	}
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:]), nil
}

// Covers lists the characters for which an OpenType font has a glyph, in no
// order.
func Covers(raw []byte) ([]rune, error) {
	face, err := font.ParseTTF(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("reading a font: %w", err)
	}
	var all []rune
	for it := face.Cmap.Iter(); it.Next(); {
		if r, glyph := it.Char(); glyph != 0 {
			all = append(all, r)
		}
	}
	return all, nil
}
