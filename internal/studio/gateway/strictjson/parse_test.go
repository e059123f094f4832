package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func limits() Limits { return Limits{Depth: 8, Values: 100} }

// What two readers can read in two ways gets past one of them.
func TestParseRefuses(t *testing.T) {
	cases := []struct {
		name, in string
		rule     Rule
		place    string
	}{
		{"twice", `{"a":1,"a":2}`, DuplicateName, "a"},
		{"twice, one escaped", `{"model":1,"\u006dodel":2}`, DuplicateName, "model"},
		{"twice, deep inside", `{"a":[{},{"b":{"c":1,"c":2}}]}`, DuplicateName, "a[1].b.c"},
		{"twice among many", `{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1,"11":1,"12":1,"13":1,"14":1,"15":1,"16":1,"17":1,"18":1,"19":1,"18":1}`, DuplicateName, "18"},
		{"bad utf-8", "{\"a\":\"\xff\"}", BadUTF8, "a"},
		{"bad utf-8 beside an escape", "{\"a\":\"\\n\xc3\"}", BadUTF8, "a"},
		{"overlong utf-8", "\"\xc0\xaf\"", BadUTF8, ""},
		{"surrogate in utf-8", "\"\xed\xa0\x80\"", BadUTF8, ""},
		{"bad utf-8 in a name", "{\"\xff\":1}", BadUTF8, ""},
		{"high surrogate alone", `"\ud800"`, LoneSurrogate, ""},
		{"high surrogate and text", `"\ud800x"`, LoneSurrogate, ""},
		{"two high surrogates", `"\ud800\ud800"`, LoneSurrogate, ""},
		{"low surrogate alone", `"\udc00"`, LoneSurrogate, ""},
		{"half a pair at the end", `"\ud800\u"`, LoneSurrogate, ""},
		{"second value", `{} {}`, SecondValue, ""},
		{"second value, a word", `1 x`, SecondValue, ""},
		{"nul behind", "{}\x00", SecondValue, ""},
		{"too deep", strings.Repeat("[", 9) + strings.Repeat("]", 9), TooDeep, "[0][0][0][0][0][0][0][0]"},
		{"far too deep", strings.Repeat("[", 10_001), TooDeep, "[0][0][0][0][0][0][0][0]"},
		{"too many", "[" + strings.Repeat("1,", 100) + "1]", TooMany, "[99]"},
		{"huge number", `1e999`, NumberRange, ""},
		{"long number", strings.Repeat("1", 65), NumberRange, ""},
		{"nothing", ``, Syntax, ""},
		{"space only", ` `, Syntax, ""},
		{"byte order mark", "\xef\xbb\xbf{}", Syntax, ""},
		{"comment", `{/**/}`, Syntax, ""},
		{"trailing comma", `[1,]`, Syntax, "[1]"},
		{"trailing comma in an object", `{"a":1,}`, Syntax, ""},
		{"single quotes", `{'a':1}`, Syntax, ""},
		{"bare name", `{a:1}`, Syntax, ""},
		{"no colon", `{"a" 1}`, Syntax, ""},
		{"control character", "\"a\nb\"", Syntax, ""},
		{"control character late", "\"0123456789abcdef\x01\"", Syntax, ""},
		{"unknown escape", `"\x41"`, Syntax, ""},
		{"short escape", `"\u12"`, Syntax, ""},
		{"escape with a sign", `"\u+123"`, Syntax, ""},
		{"string without end", `"abc`, Syntax, ""},
		{"string that ends in a backslash", `"abc\`, Syntax, ""},
		{"escaped quote at the end", `"abc\"`, Syntax, ""},
		{"leading zero", `01`, SecondValue, ""},
		{"plus", `+1`, Syntax, ""},
		{"point without digits", `1.`, Syntax, ""},
		{"exponent without digits", `1e`, Syntax, ""},
		{"minus alone", `-`, Syntax, ""},
		{"NaN", `NaN`, Syntax, ""},
		{"Infinity", `-Infinity`, Syntax, ""},
		{"hex", `0x10`, SecondValue, ""},
		{"word's beginning", `tru`, Syntax, ""},
		{"wrong end", `[1}`, Syntax, ""},
		{"array without end", `[1`, Syntax, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.in), limits())
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Rule != c.rule || e.Place != c.place {
				t.Errorf("%s at %q, want %s at %q", e.Rule, e.Place, c.rule, c.place)
			}
		})
	}
}

// What is well formed must come out as it went in, or calls are changed.
func TestParseAndAppend(t *testing.T) {
	cases := []struct{ in, out string }{
		{` { "a" : [ 1 , -2.50 , 1e5 , true , false , null , "x" ] , "" : { } } `, `{"a":[1,-2.50,1e5,true,false,null,"x"],"":{}}`},
		{`"\u0041\/\b\f\n\r\t\"\\"`, `"A/\u0008\u000c\n\r\t\"\\"`},
		{`"\ud83d\ude00\u2028"`, "\"😀\u2028\""},
		{"\"grüße, 世界\"", "\"grüße, 世界\""},
		{`"\u0000"`, `"\u0000"`},
		{"\"\x7f\"", "\"\x7f\""},
		{`[[[[[[[[]]]]]]]]`, `[[[[[[[[]]]]]]]]`},
		{`"` + strings.Repeat("a", 1000) + `"`, `"` + strings.Repeat("a", 1000) + `"`},
	}
	for _, c := range cases {
		v, err := Parse([]byte(c.in), limits())
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := string(v.Append(nil)); got != c.out {
			t.Errorf("%s became %s, want %s", c.in, got, c.out)
		}
	}
}

// A number with a fraction or an exponent is no integer, however whole.
func TestInt(t *testing.T) {
	for in, want := range map[string]bool{
		"5": true, "-1": true, "0": true, "9223372036854775807": true,
		"9223372036854775808": false, "1e3": false, "5.0": false, `"5"`: false, "true": false,
	} {
		v, err := Parse([]byte(in), limits())
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := v.Int(); ok != want {
			t.Errorf("%s: %v", in, ok)
		}
	}
}

// The search by eight bytes must find what a search by one finds, at every
// place.
func TestScan(t *testing.T) {
	for c := range 256 {
		for at := range 40 {
			s := bytes.Repeat([]byte("z"), 40)
			s[at] = byte(c)
			plain, ascii := scan(s)
			wantPlain := c >= 0x20 && c != '\\'
			if plain != wantPlain || (plain && ascii != (c < 0x80)) {
				t.Fatalf("byte %#x at %d: plain %v, ascii %v", c, at, plain, ascii)
			}
		}
	}
}

// The search by eight bytes must find what a search by one finds, at every
// place.
func TestIsBase64(t *testing.T) {
	for c := range 256 {
		for at := range 35 {
			s := []byte("abcdefghABCDEFGH0+/9zzzzzzzzzzzzzzzz")
			s[at] = byte(c)
			want := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", byte(c)) >= 0
			if IsBase64(s) != want {
				t.Fatalf("byte %#x at %d: %v", c, at, !want)
			}
		}
	}
	for in, want := range map[string]bool{"": false, "a": false, "abc=": true, "ab==": true, "a===": false, "====": false, "ab=c": false, "abcd": true} {
		if IsBase64([]byte(in)) != want {
			t.Errorf("%q: %v", in, !want)
		}
	}
}

// A long string of base64 is looked at once, and must be told from one that
// only begins so.
func TestLongBase64(t *testing.T) {
	good := strings.Repeat("QUJD", 2000)
	for in, want := range map[string]bool{good: true, good + "QQ==": true, good + "Q": false, good + "Q Q=": false, good + "\u00e4\u00e4": false} {
		v, err := Parse([]byte(`"`+in+`"`), limits())
		if err != nil || string(v.Text) != in || v.Base64 != want {
			t.Errorf("%d bytes: %v, %v", len(in), v.Base64, err)
		}
	}
	for _, bad := range []string{good + "\x01AAA", good + "\xff\xff\xff\xff", good + `\x`} {
		if _, err := Parse([]byte(`"`+bad+`"`), limits()); err == nil {
			t.Errorf("%q passed", bad[len(good):])
		}
	}
}

// Whatever passes is valid for the standard library too, means the same there,
// and is written in a form that passes again and stays.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5e-3,true,null,"\ud83d\ude00\n"]}`, `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `[[[]]]`, `1e999`, ` {} `, `{"\u0061":1,"a":2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := Parse(in, Limits{Depth: 50, Values: 10_000})
		if err != nil {
			return
		}
		if !utf8.Valid(in) {
			t.Fatal("broken UTF-8 passed")
		}
		out := v.Append(nil)
		var std, ours any
		if err := json.Unmarshal(in, &std); err != nil {
			t.Fatalf("passed, but: %v", err)
		}
		if err := json.Unmarshal(out, &ours); err != nil {
			t.Fatalf("%s was written: %v", out, err)
		}
		if !reflect.DeepEqual(std, ours) {
			t.Fatalf("%s became %s", in, out)
		}
		again, err := Parse(out, Limits{Depth: 50, Values: 10_000})
		if err != nil {
			t.Fatalf("%s does not pass again: %v", out, err)
		}
		if !bytes.Equal(again.Append(nil), out) {
			t.Fatal("the form does not stay")
		}
	})
}

func BenchmarkParseImage(b *testing.B) {
	in := []byte(`{"data":"` + strings.Repeat("QUJD", 350_000) + `"}`)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := Parse(in, limits()); err != nil {
			b.Fatal(err)
		}
	}
}
