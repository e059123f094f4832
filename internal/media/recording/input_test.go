package recording

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func inputLog(t *testing.T) (*Dir, *InputLog) {
	t.Helper()
	d := &Dir{t.TempDir()}
	l := d.NewInputLog()
	t.Cleanup(func() { _ = l.Close() })
	return d, l
}

// Guards the round of every kind of entry, a place at 0 among them, and times
// below a millisecond, which are rounded down.
func TestInputRound(t *testing.T) {
	d, l := inputLog(t)
	sources := []InputSource{{At: 0, Text: "X RECORD", Keys: true}}
	inputs := []Input{
		{At: 5 * time.Millisecond, Kind: InputMove, X: 0, Y: 0},
		{At: 6 * time.Millisecond, Kind: InputMove, X: -3, Y: 700},
		{At: 7 * time.Millisecond, Kind: InputDown, X: 1, Y: 2, Button: 3},
		{At: 8 * time.Millisecond, Kind: InputUp, X: 1, Y: 2, Button: 3},
		{At: 9 * time.Millisecond, Kind: InputWheel, X: 1, Y: 2, DY: -1},
		{At: 10 * time.Millisecond, Kind: InputKey, Class: "text"},
		{At: 11 * time.Millisecond, Kind: InputKey, Class: "combo", Name: "S", Modifiers: []string{"Ctrl"}},
	}
	if err := l.Source(sources[0]); err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		in.At += 999 * time.Microsecond
		if err := l.Add(in); err != nil {
			t.Fatal(err)
		}
	}
	gotSources, got, err := d.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inputs, got) + cmp.Diff(sources, gotSources); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Guards what can lie on the disk: nothing, torn and foreign lines, another
// version.
func TestInputLines(t *testing.T) {
	const begin = `{"t":0,"k":"source","v":1,"source":"X RECORD"}` + "\n"
	tests := []struct {
		what, file string
		inputs     int
		fails      string
	}{
		{"empty", "", 0, ""},
		{"torn", begin + `{"t":1,"k":"move","x":1,"y":2}` + "\n" + `{"t":2,"k":"mo`, 1, ""},
		{"no place", begin + `{"t":1,"k":"down","b":1}` + "\n", 0, ""},
		{"no class", begin + `{"t":1,"k":"key"}` + "\n", 0, ""},
		{"a kind of later", begin + `{"t":1,"k":"touch","x":1,"y":2}` + "\n", 0, ""},
		{"a time that overflows", begin + `{"t":9223372036854775807,"k":"move","x":1,"y":2}` + "\n", 0, ""},
		{"before all time", begin + `{"t":-1,"k":"move","x":1,"y":2}` + "\n", 0, ""},
		{"another version", strings.Replace(begin, `"v":1`, `"v":2`, 1), 0, "version 2"},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			d, _ := inputLog(t)
			if err := os.WriteFile(d.InputPath(), []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, got, err := d.Inputs()
			if len(got) != tt.inputs {
				t.Errorf("%d entries: %+v", len(got), got)
			}
			if (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("error %v, want %q", err, tt.fails)
			}
		})
	}
	d, l := inputLog(t)
	if sources, got, err := d.Inputs(); sources != nil || got != nil || err != nil {
		t.Errorf("without a log: %v, %v, %v", sources, got, err)
	}
	if err := l.Add(Input{Kind: InputMove}); err == nil {
		t.Error("an entry without a source was taken")
	}
}

// Guards against a disk that is full: the caller hears of it.
func TestInputDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Fatalf("/dev/full is missing: %v", err)
	}
	l := &InputLog{path: "/dev/full"}
	if err := l.Source(InputSource{Text: "x"}); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("error %v", err)
	}
}

// Guards readers of a log that anyone may have written.
func FuzzInputs(f *testing.F) {
	f.Add([]byte(`{"t":0,"k":"source","v":1,"source":"X RECORD"}` + "\n" + `{"t":1,"k":"move","x":1,"y":2}`))
	f.Add([]byte(`{"t":1,"k":"key","c":"combo","n":"S","m":["Ctrl"]}`))
	f.Add([]byte(`{"t":1e99,"k":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, inputs, err := parseInputs(raw)
		if err != nil && inputs != nil {
			t.Fatal("entries and an error")
		}
		for _, in := range inputs {
			if in.At < 0 || in.Kind == InputKey && in.Class == "" {
				t.Fatalf("entry %+v", in)
			}
		}
	})
}
