package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/proofreel/proofreel/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"proofreel": func() { os.Exit(cli.Main("1.2.3")) },
	})
}

// The contract of the real program, as scripts: the streams, the exit codes,
// the environment. Whatever goes wrong there once gets a line.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"answer": answer,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("PROOFREEL_HOME", e.WorkDir+"/state")
			return nil
		},
	})
}

// exits CODE PROGRAM ARGS... runs a program that must exit with that code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v: %v", args[1:], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v exits with %d, want %d", args[1:], got, want)
	}
}

// answer STREAM PATH=VALUE... says that a stream holds exactly one JSON object
// with these values; an empty VALUE says that there is none. The other stream
// is empty.
func answer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: answer stdout|stderr PATH=VALUE...")
	}
	other := map[string]string{"stdout": "stderr", "stderr": "stdout"}[args[0]]
	if s := ts.ReadFile(other); s != "" {
		ts.Fatalf("%s holds %q, want nothing", other, s)
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		ts.Fatalf("%s does not hold one JSON object: %v", args[0], err)
	}
	for _, a := range args[1:] {
		path, want, _ := strings.Cut(a, "=")
		if got := at(v, path); got != want {
			ts.Fatalf("%s is %q, want %q", path, got, want)
		}
	}
}

// at reads a value by its path, such as data.commands.0.name.
func at(v any, path string) string {
	for _, key := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				return ""
			}
			v = x[i]
		default:
			return ""
		}
	}
	switch x := v.(type) {
	case nil:
		return ""
	case []any:
		return fmt.Sprintf("%d items", len(x))
	default:
		return fmt.Sprint(x)
	}
}
