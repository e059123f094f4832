package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declared lists the codes as the source declares them.
func declared(t *testing.T) []Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "fault.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []Code
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		typ, ok := v.Type.(*ast.Ident)
		lit, isLit := v.Values[0].(*ast.BasicLit)
		if ok && isLit && typ.Name == "Code" {
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, Code(s))
		}
		return true
	})
	return out
}

// A code without a row would be shown as a fault of our own, with the wrong
// exit code.
func TestEveryCodeHasOneRow(t *testing.T) {
	var rows []Code
	for _, r := range Table() {
		rows = append(rows, r.Code)
	}
	codes := declared(t)
	if len(codes) < 20 {
		t.Fatalf("only %d codes were found in the source", len(codes))
	}
	if !slices.Equal(codes, rows) {
		t.Errorf("codes and rows differ, or stand in another order:\n%v\n%v", codes, rows)
	}
	slices.Sort(rows)
	if n := len(slices.Compact(slices.Clone(rows))); n != len(rows) {
		t.Errorf("%d rows for %d codes", len(rows), n)
	}
}

// What a row says must fit together, or a caller retries what can't be mended.
func TestRowsAreSound(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for _, r := range Table() {
		t.Run(string(r.Code), func(t *testing.T) {
			if !name.MatchString(string(r.Code)) {
				t.Error("codes are lower case words joined by _")
			}
			if !strings.HasSuffix(r.Meaning, ".") {
				t.Errorf("meaning %q is no sentence", r.Meaning)
			}
			if http.StatusText(r.HTTP) == "" {
				t.Errorf("HTTP status %d does not exist", r.HTTP)
			}
			ours := r.HTTP >= 500
			switch r.Exit {
			case ExitUsage, ExitNotFound:
				if ours || r.Retryable {
					t.Errorf("exit %d is the caller's mistake, status %d and retryable %v are not", r.Exit, r.HTTP, r.Retryable)
				}
			case ExitFailed:
				if !ours {
					t.Errorf("exit %d with status %d", r.Exit, r.HTTP)
				}
			default:
				t.Errorf("exit code %d is not in the contract", r.Exit)
			}
		})
	}
}

// A code that nobody knows must not pass for success or for the user's mistake.
func TestUnknownCodeIsInternal(t *testing.T) {
	if got := Lookup("no_such_code"); got.Code != Internal {
		t.Errorf("%+v", got)
	}
	if got := Lookup(NotFound); got.Code != NotFound || got.Exit != ExitNotFound {
		t.Errorf("%+v", got)
	}
}

// An error that was wrapped on its way up must keep its code; any other is a
// fault of our own and never shown bare.
func TestAs(t *testing.T) {
	own := New(DiskFull, "Free some space.", "%d MB are free", 3)
	cases := []struct {
		name string
		err  error
		code Code
		text string
	}{
		{"own", own, DiskFull, "disk_full: 3 MB are free"},
		{"wrapped", fmt.Errorf("start: %w", own), DiskFull, "disk_full: 3 MB are free"},
		{"joined", errors.Join(fs.ErrClosed, own), DiskFull, "disk_full: 3 MB are free"},
		{"foreign", fs.ErrClosed, Internal, "internal: unexpected: file already closed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := As(c.err)
			if e.Code != c.code || e.Error() != c.text || e.Hint == "" {
				t.Errorf("%+v", e)
			}
		})
	}
}

// The cause is for errors.Is and for the message, and never for the wire,
// where it could hold anything.
func TestWrapKeepsItsCause(t *testing.T) {
	e := Wrap(fs.ErrPermission, StateUnwritable, "Choose another directory.", "write %s", "x")
	if !errors.Is(e, fs.ErrPermission) || e.Message != "write x: permission denied" {
		t.Errorf("%+v", e)
	}
	raw, err := json.Marshal(e)
	if err != nil || strings.Contains(string(raw), `"Err"`) {
		t.Errorf("%s, %v", raw, err)
	}
}

// Errors are shared: an effect that is added for one caller must not show at
// another's.
func TestWithGivesACopy(t *testing.T) {
	e := New(PublishFailed, "Stop again.", "no network")
	got := e.WithEffect(EffectFinalizePartial).WithArtifact("/film.mp4")
	if got.Effect != EffectFinalizePartial || got.Artifact != "/film.mp4" || got.Code != PublishFailed {
		t.Errorf("%+v", got)
	}
	if e.Effect != "" || e.Artifact != "" {
		t.Errorf("the original changed: %+v", e)
	}
}
