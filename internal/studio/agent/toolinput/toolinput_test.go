package toolinput

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// What is behind the object is not done silently without: the model meant
// something by it.
func TestParseTakesOneObject(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1}`: `{"a":1}`, `{"a":1}x`: "", `{"a":1}]`: "", `{"a":1}}`: "", `{"a":1}{}`: "", `[]`: "", `null`: "", ``: "",
	} {
		got, err := Parse([]byte(in))
		if (err == nil) != (want != "") || want != "" && string(got) != want {
			t.Errorf("%s becomes %s, %v", in, got, err)
		}
	}
}

// Whatever stands for a call's input, what is sent back is an object of valid
// text that is not deep, and the same again when it is read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1e999,"\ud800"]}`, `[]`, `null`, `{"a":1}x`, strings.Repeat(`{"a":`, 40), "{\"\xff\":1}", `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Parse(raw)
		if err != nil && string(got) != "{}" {
			t.Fatalf("%q beside an error", got)
		}
		again, err := Parse(got)
		if err != nil || string(again) != string(got) || !utf8.Valid(got) {
			t.Fatalf("%q becomes %q, %v", got, again, err)
		}
	})
}
