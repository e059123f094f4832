package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	doc := `{"ok":true,"data":{"id":"a b","n":1.50,"cmd":["x","--y","z w"],"steps":[{"text":"one"}]}}`
	for _, c := range []struct{ path, want, fails string }{
		{path: "ok", want: "true\n"},
		{path: "data.id", want: "a b\n"},
		{path: "data.n", want: "1.50\n"},
		{path: "data.cmd", want: "x\n--y\nz w\n"},
		{path: "data.steps.0.text", want: "one\n"},
		{path: "data.steps.1.text", fails: `no "1"`},
		{path: "data.no", fails: `no "no"`},
		{path: "ok.deep", fails: `no "deep"`},
	} {
		var out strings.Builder
		err := run(c.path, strings.NewReader(doc), &out)
		if out.String() != c.want {
			t.Errorf("%s: got %q, want %q (%v)", c.path, out.String(), c.want, err)
		}
		if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: error %v, want %q", c.path, err, c.fails)
		}
	}
	if err := run("a", strings.NewReader("{"), &strings.Builder{}); err == nil {
		t.Error("half a document is no error")
	}
}
