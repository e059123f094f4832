package display

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Other people's Xauthority files hold entries of other hosts, displays and
// kinds: only the one that fits counts.
func TestFindCookie(t *testing.T) {
	a, b := bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 16)
	tests := []struct {
		name    string
		entries []authEntry
		want    []byte
	}{
		{"none", nil, nil},
		{"other host", []authEntry{{familyLocal, "there", "7", cookieName, a}}, nil},
		{"other display", []authEntry{{familyLocal, "here", "8", cookieName, a}}, nil},
		{"internet family", []authEntry{{0, "here", "7", cookieName, a}}, nil},
		{"other kind first", []authEntry{{familyLocal, "here", "7", "XDM-AUTHORIZATION-1", a}, {familyLocal, "here", "7", cookieName, b}}, b},
		{"short cookie", []authEntry{{familyLocal, "here", "7", cookieName, a[:3]}}, nil},
		{"any display", []authEntry{{familyLocal, "here", "", cookieName, a}}, a},
		{"wild", []authEntry{{familyWild, "", "7", cookieName, a}, {familyLocal, "here", "7", cookieName, b}}, a},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			if err := writeAuthority(path, tt.entries...); err != nil {
				t.Fatal(err)
			}
			got, err := findCookie(path, "7", "here")
			if err != nil || !bytes.Equal(got, tt.want) {
				t.Errorf("findCookie = %x, %v; want %x", got, err, tt.want)
			}
		})
	}
	if got, err := findCookie(filepath.Join(t.TempDir(), "none"), "7", "here"); got != nil || err != nil {
		t.Errorf("missing file: %x, %v", got, err)
	}
}

// The file is another program's: whatever it holds, reading it must not panic.
func FuzzParseAuthority(f *testing.F) {
	path := filepath.Join(f.TempDir(), "x")
	if err := writeClientCookie(path, 7, newCookie()); err != nil {
		f.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:len(raw)-1])
	f.Add([]byte{1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		entries, err := parseAuthority(raw)
		if err == nil && len(raw) > 0 && len(entries) == 0 {
			t.Error("bytes without an entry and without an error")
		}
	})
}
