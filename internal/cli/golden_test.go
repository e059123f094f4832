package cli

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/record/doctor"
	"github.com/proofreel/proofreel/internal/record/supervisor"
	"github.com/proofreel/proofreel/internal/studio/renderer"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

var update = flag.Bool("update", false, "write the golden files and the generated docs anew")

// golden compares with a file of testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	compareFile(t, filepath.Join("testdata", "golden", name), got)
}

func compareFile(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; make it with: go test ./internal/cli -update", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got), renew with: go test ./internal/cli -update\n%s", path, d)
	}
}

// answers are command lines whose whole output is held by golden files.
func answers() map[string]struct {
	args  []string
	setup func(*bench)
} {
	type c = struct {
		args  []string
		setup func(*bench)
	}
	failing := func(err error) func(*bench) { return func(b *bench) { b.err = err } }
	return map[string]c{
		"start":     {args: []string{"start", "--size", "1921x1080", "--name", "login"}},
		"step":      {args: []string{"step", "Open <the> & page ▶"}},
		"result":    {args: []string{"result", "fail", "It is closed"}},
		"status":    {args: []string{"status"}},
		"stop":      {args: []string{"stop"}},
		"clip":      {args: []string{"clip", testID, "--max-size", "200kB", "--format", "mp4"}},
		"stop-clip": {args: []string{"stop", "--clip"}},
		"stop-clip-failed": {args: []string{"stop"}, setup: func(b *bench) {
			b.there, b.unclip = true, fault.New(fault.OutUnwritable, "Name a folder that you can write with --out or PROOFREEL_OUT.", "the folder recordings can't be written")
		}},
		"clip-too-large": {args: []string{"clip", "--max-size", "10kB"}, setup: failing(
			fault.New(fault.SizeUnreachable, "Allow a larger --max-size.", "the clip can't be made as small as 10000 bytes"))},
		"render": {args: []string{"render", "title/scene.js", "-o", "/out/title.mp4", "--poster", "/out/title.jpg"}},
		"render-interrupted": {args: []string{"render", "title/scene.js"}, setup: failing(
			fault.New(fault.RenderInterrupted, "Run the same command again: it goes on where this one was.", "the render of title/scene.js was interrupted"))},
		"still":       {args: []string{"still", "title/scene.js", "--at", "1.5,3"}},
		"sheet":       {args: []string{"sheet", "title/scene.js"}},
		"scene-check": {args: []string{"scene", "check", "scene.js"}},
		"scene-check-failed": {args: []string{"scene", "check", "scene.js"}, setup: func(b *bench) {
			r := checkResult()
			r.OK = false
			r.Errors = []renderer.Finding{
				{Code: "scene_threw", Text: "frame 37: TypeError: x is <null>", Frame: 37, Place: scene.Place{File: "scene.js", Line: 12, Column: 3}, Hint: "Look at line 12."},
				{Code: "scene_impure", Text: "frame 44 differs when it is drawn alone", Frame: 44, Hint: "Compute everything from t."},
			}
			b.check = &r
		}},
		"generate": {args: []string{"generate", "A launch film"}},
		"generate-refused": {args: []string{"generate", "A launch film"}, setup: failing(
			fault.New(fault.PromptRefused, "Order another film.", "this film is not allowed"))},
		"setup":         {args: []string{"setup"}},
		"scene-preview": {args: []string{"scene", "preview", "scene.js"}},
		"scene-new":     {args: []string{"scene", "new", "launch", "--kind", "webgl"}},
		"help-scene":    {args: []string{"scene", "--help"}},
		"help-check":    {args: []string{"help", "scene", "check"}},
		"usage-scene":   {args: []string{"scene"}},
		"recover":       {args: []string{"recover", testID}},
		"list":          {args: []string{"list"}},
		"discard":       {args: []string{"discard", testID}},
		"prune":         {args: []string{"prune", "--older-than", "7d"}},
		"doctor":        {args: []string{"doctor"}},
		"version":       {args: []string{"version"}},
		"watch": {args: []string{"watch"}, setup: func(b *bench) {
			done := runningStatus()
			done.Phase, done.SupervisorAlive, done.SecondsLeft = recording.PhaseDone, false, 0
			b.status = []supervisor.StatusResult{runningStatus(), done}
		}},
		"status-dead-supervisor": {args: []string{"status", testID}, setup: func(b *bench) {
			s := runningStatus()
			s.SupervisorAlive = false
			b.status = []supervisor.StatusResult{s}
		}},
		"start-failed": {args: []string{"start"}, setup: failing(
			fault.New(fault.DisplayFailed, "Install Xvfb: apt-get install xvfb", "Xvfb is not there"))},
		"start-uncertain": {args: []string{"start"}, setup: func(b *bench) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			b.ctx, b.err = ctx, fmt.Errorf("wait for the first frame: %w", ctx.Err())
		}},
		"stop-publish-failed": {args: []string{"stop"}, setup: failing(
			fault.New(fault.PublishFailed, "Stop again publishes it again.", "uploads.sh said no").
				WithArtifact("/state/x/film.mp4").WithEffect(fault.EffectProofSaved))},
		"stop-interrupted": {args: []string{"stop"}, setup: func(b *bench) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			b.ctx, b.err = ctx, ctx.Err()
		}},
		"status-not-found": {args: []string{"status", otherID}, setup: failing(
			fault.New(fault.NotFound, "proofreel list names those that are here.", "there is no recording "+otherID))},
		"step-ambiguous": {args: []string{"step", "x"}, setup: failing(
			fault.New(fault.Ambiguous, "Name one with --id.", "two recordings run"))},
		"result-no-step": {args: []string{"result", "pass", "x"}, setup: failing(
			fault.New(fault.NoStep, "Begin with a step.", "there is no step yet"))},
		"doctor-failed": {args: []string{"doctor"}, setup: func(b *bench) {
			b.doctor.OK = false
			b.doctor.Checks = append(b.doctor.Checks, doctor.Check{Name: "Xvfb", Level: "error", Detail: "not found", Fix: "apt-get install xvfb"},
				doctor.Check{Name: "openbox", Level: "error", Detail: "not found", Fix: "apt-get install openbox"})
		}},
		"unexpected": {args: []string{"list"}, setup: failing(fmt.Errorf("read: %w", os.ErrPermission))},
		"usage":      {args: []string{"strat"}},
		"help":       {args: []string{"--help"}},
		"help-stop":  {args: []string{"stop", "--help"}},
	}
}

// Holds the wire format: an envelope that changes by accident breaks every
// program that reads it.
func TestGolden(t *testing.T) {
	for name, c := range answers() {
		for _, mode := range []string{"json", "text", "terminal"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				b := newBench()
				if c.setup != nil {
					c.setup(b)
				}
				args := c.args
				if mode == "terminal" {
					b.tty = true
				} else {
					args = append(append([]string{}, c.args...), "--output", mode)
				}
				o := b.run(args...)
				if mode == "json" {
					checkStreams(t, o)
				}
				golden(t, name+"."+mode+".txt", fmt.Sprintf("exit %d\n--- stdout\n%s--- stderr\n%s", o.code, o.out, strings.ReplaceAll(o.err, "\r", "␍")))
			})
		}
	}
}

// checkStreams holds the contract of the two streams.
func checkStreams(t *testing.T, o outcome) {
	t.Helper()
	lines := strings.SplitAfter(strings.TrimSuffix(o.err, "\n"), "\n")
	last := lines[len(lines)-1]
	rest := lines[:len(lines)-1]
	if o.code == fault.ExitOK {
		oneObject(t, o.out)
		if rest = lines; o.err == "" {
			rest = nil
		}
	} else {
		if o.out != "" {
			t.Errorf("a failure wrote %q to stdout", o.out)
		}
		e := oneObject(t, last+"\n")
		if e["ok"] != false || e["error"] == nil || e["data"] != nil {
			t.Errorf("the last line of stderr is no error: %s", last)
		}
	}
	for _, l := range rest {
		if e := oneObject(t, strings.TrimSuffix(l, "\n")+"\n"); e["event"] != "progress" {
			t.Errorf("stderr holds %q, which is no progress", l)
		}
	}
}

// The docs are made from the tree: they must not be older than it.
func TestDocsAreFresh(t *testing.T) {
	pages, err := Docs()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range pages {
		compareFile(t, filepath.Join("..", "..", "docs", name), text)
	}
}
