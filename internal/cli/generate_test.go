package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/executor/machine"
	"github.com/proofreel/proofreel/internal/studio/job"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
	"github.com/proofreel/proofreel/internal/studio/workflow"
)

// generate answers as the real one would.
func (f *fake) generate(_ context.Context, o GenerateOptions) (GenerateResult, error) {
	for _, e := range []workflow.Event{
		{Phase: job.Queued},
		{Phase: job.Screening},
		{Phase: job.Starting},
		{Phase: job.Writing, Turn: 1},
		{Phase: job.Writing, Turn: 2},
		{Phase: job.Checking, Turn: 2},
		{Phase: job.Rendering, Turn: 3},
		{Phase: job.Rendering, Percent: 41, Turn: 3},
		{Phase: job.Rendering, Percent: 44, Turn: 3},
		{Phase: job.Rendering, Percent: 100, Turn: 3},
		{Phase: job.Validating, Turn: 3},
	} {
		o.Progress(e)
	}
	o.Progress = nil
	f.note("generate", "")
	f.scene = o
	return GenerateResult{
		Author: "template", Model: "proofreel-template", Path: "/out/film.mp4", Poster: "/out/film.jpg", Width: 1920, Height: 1080, FPS: 30,
		Frames: 450, Seconds: 15, Bytes: 9_876_543, SHA256: strings.Repeat("ab", 32), PosterBytes: 123_456, PosterFrame: 77,
		Box: "bwrap", Exit: "reencode", Turns: 6, SpentUSD: "0.25", Took: 48.25, Notes: []string{"No model made this."},
	}, f.err
}

func (f *fake) setup(_ context.Context, want string) (SetupResult, error) {
	f.note("setup", want)
	return SetupResult{
		Box:  machine.Choice{Backend: "bwrap", Path: "/usr/bin/bwrap", At: at(testDate), Why: "its conformance probe passed"},
		Path: "/state/proofreel-box.json",
		Tried: []machine.Tried{
			{Backend: "gvisor", Error: "runsc is not there"},
			{Backend: "bwrap", Report: sandbox.Report{Backend: "bwrap", Limits: "cgroup v2", Results: []sandbox.Result{}}},
		},
	}, f.err
}

// What the flags say must reach the workflow, and what they leave open must
// stay open.
func TestGenerateOptions(t *testing.T) {
	plain := GenerateOptions{
		Order: job.Order{Prompt: "A film", Seconds: 15, Aspect: job.Wide}, Out: "film.mp4", Poster: "film.jpg",
		Tier: "standard", Budget: -1, Exit: "reencode",
	}
	with := func(change func(*GenerateOptions)) GenerateOptions {
		o := plain
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		args []string
		in   string
		want GenerateOptions
	}{
		"plain": {[]string{"A film"}, "", plain},
		"everything": {
			strings.Fields("x1x --seconds 5 --style swiss --aspect 9:16 -o d/f.MP4 --tier pro --model m --upstream https://h/v --key-file k --budget 0.75 --box bwrap --exit remux"), "",
			GenerateOptions{
				Order: job.Order{Prompt: "x1x", Seconds: 5, Style: "swiss", Aspect: job.Tall}, Out: "d/f.MP4", Poster: "d/f.jpg", Tier: "pro",
				Model: "m", Upstream: "https://h/v", KeyFile: "k", Budget: 750_000, Box: "bwrap", Exit: "remux",
			},
		},
		"a server that costs nothing": {strings.Fields("abc --upstream http://localhost:1 --model m --budget 0"), "", with(func(o *GenerateOptions) {
			o.Order.Prompt, o.Upstream, o.Model, o.Budget = "abc", "http://localhost:1", "m", 0
		})},
		"no box":              {strings.Fields("abc --insecure-dev"), "", with(func(o *GenerateOptions) { o.Order.Prompt, o.Insecure = "abc", true })},
		"from standard input": {[]string{"-"}, "Two\nlines\n", with(func(o *GenerateOptions) { o.Order.Prompt = "Two\nlines" })},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			b.stdin = c.in
			if o := b.run(append([]string{"generate"}, c.args...)...); o.code != 0 {
				t.Fatal(o.err)
			}
			if d := cmp.Diff(c.want, b.scene); d != "" {
				t.Error(d)
			}
		})
	}
}

// A wrong order must end before anything is done, also one that is wrong only
// together with others.
func TestGenerateRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		in   string
		code fault.Code
	}{
		"short prompt":             {"ab", "", fault.PromptInvalid},
		"controls on stdin":        {"-", "abc\x1b[2J", fault.PromptInvalid},
		"nothing on stdin":         {"-", "", fault.PromptInvalid},
		"a direction on stdin":     {"-", "abc\u202edef", fault.PromptInvalid},
		"no mp4":                   {"abc -o film.mov", "", fault.InvalidValue},
		"upstream without model":   {"abc --upstream https://h", "", fault.InvalidValue},
		"upstream of another kind": {"abc --upstream file:///etc/passwd --model m", "", fault.InvalidValue},
		"upstream with a user":     {"abc --upstream https://me:secret@h --model m", "", fault.InvalidValue},
		"upstream with a query":    {"abc --upstream https://h/?key=secret --model m", "", fault.InvalidValue},
		"upstream with an end":     {"abc --upstream https://h/? --model m", "", fault.InvalidValue},
		"upstream with a fragment": {"abc --upstream https://h/#secret --model m", "", fault.InvalidValue},
		"upstream by ftp":          {"abc --upstream ftp://h --model m", "", fault.InvalidValue},
		"upstream without a host":  {"abc --upstream https:///v1 --model m", "", fault.InvalidValue},
		"nothing to pay with":      {"abc --budget 0", "", fault.InvalidValue},
		"money":                    {"abc --budget 1e9", "", fault.InvalidValue},
		"too much money":           {"abc --budget 1000.000001", "", fault.InvalidValue},
		"two boxes":                {"abc --box bwrap --insecure-dev", "", fault.Usage},
		"seconds":                  {"abc --seconds 4", "", fault.InvalidValue},
		"aspect":                   {"abc --aspect 4:3", "", fault.InvalidValue},
		"style":                    {"abc --style none", "", fault.InvalidValue},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			b.stdin = c.in
			o := b.run(append([]string{"generate"}, strings.Fields(c.args)...)...)
			if strings.Contains(o.err, "secret") || strings.Contains(o.err, "file:///srv") {
				t.Errorf("%s", o.err)
			}
			if o.code != fault.ExitUsage || !strings.Contains(o.err, `"`+string(c.code)+`"`) || len(b.calls) > 0 {
				t.Errorf("exit %d, %v, %s", o.code, b.calls, o.err)
			}
		})
	}
}

// A key must not go to a place that was not named for it, nor in the open.
func TestWhoWrites(t *testing.T) {
	cache := t.TempDir()
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o         GenerateOptions
		env       string
		name, key string
		base      string
		code      fault.Code
	}{
		"no key":                   {GenerateOptions{Budget: -1}, "", "template", "", "http://template.invalid", ""},
		"key of the environment":   {GenerateOptions{Budget: -1}, "from-env", "model", "from-env", provider, ""},
		"key of a file":            {GenerateOptions{Budget: -1, KeyFile: keyFile}, "from-env", "model", "from-file", provider, ""},
		"no file":                  {GenerateOptions{Budget: -1, KeyFile: keyFile + "x"}, "from-env", "", "", "", fault.InvalidValue},
		"a server":                 {GenerateOptions{Budget: 0, Model: "m", Upstream: "http://10.0.0.1"}, "", "model", "", "http://10.0.0.1", ""},
		"a server of this machine": {GenerateOptions{Budget: 0, Model: "m", Upstream: "http://127.0.0.1:8"}, "k", "model", "its-k", "http://127.0.0.1:8", ""},
		"a key in the open":        {GenerateOptions{Budget: 0, Model: "m", Upstream: "http://10.0.0.1"}, "k", "", "", "", fault.InvalidValue},
		"a key, encrypted":         {GenerateOptions{Budget: 0, Model: "m", Upstream: "https://10.0.0.1"}, "k", "model", "its-k", "https://10.0.0.1", ""},
		"a server, key of a file":  {GenerateOptions{Budget: 0, Model: "m", Upstream: "https://10.0.0.1", KeyFile: keyFile}, "k", "model", "from-file", "https://10.0.0.1", ""},
		"a model and no key":       {GenerateOptions{Budget: -1, Model: "m"}, "", "", "", "", fault.InvalidValue},
		"money and no key":         {GenerateOptions{Budget: 5}, "", "", "", "", fault.InvalidValue},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Tier = "standard"
			by, err := authorOf(t.Context(), c.o, func(name string) string {
				switch {
				case name == "XDG_CACHE_HOME":
					return cache
				case name == "ANTHROPIC_API_KEY":
					return c.env
				case name == "PROOFREEL_UPSTREAM_KEY" && c.env != "":
					return "its-" + c.env
				}
				return ""
			})
			if c.code != "" {
				if err == nil || fault.As(err).Code != c.code || strings.Contains(err.Error(), "from-") {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			by.stop()
			if by.name != c.name || by.upstream.Key.Reveal() != c.key || by.upstream.BaseURL != c.base {
				t.Errorf("%s, %q, %s", by.name, by.upstream.Key.Reveal(), by.upstream.BaseURL)
			}
		})
	}
}

// Without setup nothing runs: there is no box that is taken by itself.
func TestNoBoxWithoutSetup(t *testing.T) {
	t.Setenv("PROOFREEL_HOME", filepath.Join(t.TempDir(), "home"))
	_, _, err := openBox(t.Context(), GenerateOptions{}, nil)
	if err == nil || fault.As(err).Code != fault.BoxUnavailable {
		t.Errorf("%v", err)
	}
	if c := boxCheck(t.Context()); c.OK || c.Level != "warning" || !strings.Contains(c.Fix, "setup") {
		t.Errorf("%+v", c)
	}
}

// Money is never rounded on its way in.
func TestParseDollars(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "1": 1_000_000, "0.000001": 1, "2.50": 2_500_000, "999999999": 999_999_999_000_000} {
		if got, ok := parseDollars(s); !ok || got != want {
			t.Errorf("%s: %d", s, got)
		}
	}
	for _, s := range []string{"", "-1", "1.", ".5", "1.0000001", "1e3", "0x1", "1,5", "$1", " 1", "1 "} {
		if got, ok := parseDollars(s); ok {
			t.Errorf("%q is %d", s, got)
		}
	}
}
