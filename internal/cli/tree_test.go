package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/record/supervisor"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// Every value of the tree must name its type, its range must be readable, and
// every command must be one that can run: the parser relies on it.
func TestTreeIsWhole(t *testing.T) {
	var root tree
	k, err := newParser(&root, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	effects := []string{
		string(fault.EffectNone), string(fault.EffectRecordingStarted), string(fault.EffectEventRecorded), string(fault.EffectProofSaved),
		string(fault.EffectProofPublished), string(fault.EffectStartUncertain), string(fault.EffectFinalizePartial), string(fault.EffectClipMade),
		string(fault.EffectFilmRendered), string(fault.EffectPicturesMade), string(fault.EffectSceneMade), string(fault.EffectBoxChosen),
	}
	for _, n := range k.Model.Leaves(false) {
		if _, ok := n.Target.Addr().Interface().(command); !ok {
			t.Errorf("%s can't run", n.Name)
		}
		for _, e := range strings.Split(n.Tag.Get("effects")+","+n.Tag.Get("failures"), ",") {
			if !slices.Contains(effects, e) {
				t.Errorf("%s: %q is no effect", n.Name, e)
			}
		}
		for _, v := range n.Values() {
			checkValue(t, n.Name, v)
		}
	}
	for _, f := range k.Model.Flags {
		checkValue(t, "proofreel", f.Value)
	}
}

func checkValue(t *testing.T, command string, v *kong.Value) {
	t.Helper()
	kinded, ok := v.Target.Interface().(kinder)
	if !ok {
		t.Errorf("%s %s has a type that does not name itself", command, v.Name)
		return
	}
	low, high := v.Tag.Get("min"), v.Tag.Get("max")
	read := map[string]func(string) bool{
		"seconds":         func(s string) bool { return regexp.MustCompile(`^\d+$`).MatchString(s) },
		"integer":         func(s string) bool { return regexp.MustCompile(`^\d+$`).MatchString(s) },
		"integer or auto": func(s string) bool { return regexp.MustCompile(`^\d+$`).MatchString(s) },
		"dollars":         func(s string) bool { _, ok := parseDollars(s); return ok },
		"duration":        func(s string) bool { _, ok := parseDuration(s); return ok },
		"size":            func(s string) bool { _, ok := parseSize(s); return ok },
		"WIDTHxHEIGHT":    func(s string) bool { _, ok := parseGeometry(s); return ok },
	}
	switch kind := kinded.kind(); kind {
	case "choice":
		if v.Tag.Get("allowed") == "" {
			t.Errorf("%s %s allows nothing", command, v.Name)
		}
	case "text", "url", "publish target":
		if !read["integer"](high) {
			t.Errorf("%s %s: its longest length %q is no number", command, v.Name, high)
		}
	case "boolean", "recording id", "display":
	case "style":
		if len(scene.StyleNames()) == 0 {
			t.Errorf("%s %s allows nothing", command, v.Name)
		}
	default:
		if !read[kind](low) || !read[kind](high) {
			t.Errorf("%s %s: can't read its range %q to %q", command, v.Name, low, high)
		}
	}
	if v.Flag != nil && kinded.kind() != "boolean" && kinded.kind() != "choice" && v.Flag.PlaceHolder == "" {
		t.Errorf("%s --%s has no placeholder", command, v.Name)
	}
	if !v.Required && kinded.kind() != "boolean" && v.Default == "" && v.Tag.Get("otherwise") == "" && command != "help" {
		t.Errorf("%s %s does not say what happens without it", command, v.Name)
	}
}

// help must know every command that the manifest has.
func TestHelpKnowsEveryCommand(t *testing.T) {
	m, err := NewManifest("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Commands {
		if o := newBench().run(append([]string{"help"}, strings.Fields(c.Name)...)...); o.code != 0 {
			t.Errorf("help %s: %s", c.Name, o.err)
		}
	}
}

// The skill is what agents learn from: every command in it must parse, and it
// must stay short.
func TestSkill(t *testing.T) {
	b, err := os.ReadFile("../../skills/proofreel/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	s := string(b)
	if n := strings.Count(s, "\n"); n >= 60 {
		t.Errorf("the skill has %d lines, want under 60", n)
	}
	if !regexp.MustCompile(`(?s)^---\nname: proofreel\ndescription: [^\n]{40,1000}\n---\n`).MatchString(s) {
		t.Error("the skill does not begin with its name and description")
	}
	n := checkCommandsIn(t, s)
	if n < 8 {
		t.Errorf("the skill shows %d commands, want at least 8", n)
	}
	scenes, err := os.ReadFile("../../skills/proofreel/scenes.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := checkCommandsIn(t, string(scenes)); n < 6 {
		t.Errorf("the skill's page about scenes shows %d commands, want at least 6", n)
	}
}

// The README's commands must parse too.
func TestReadmeCommands(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := checkCommandsIn(t, string(b)); n < 4 {
		t.Errorf("the README shows %d commands, want at least 4", n)
	}
}

// checkCommandsIn parses every proofreel command of a page's code and counts
// them.
func checkCommandsIn(t *testing.T, page string) int {
	t.Helper()
	n := 0
	code := regexp.MustCompile("(?m)^ {4,}proofreel .*$|^proofreel .*$|`proofreel [^`]*`")
	for _, line := range code.FindAllString(page, -1) {
		line = strings.Trim(strings.TrimSpace(line), "`")
		line, _, _ = strings.Cut(line, " #")
		args := words(strings.NewReplacer("RECORDING-ID", testID, "URL", "http://localhost:3000", "COMMAND", "start").Replace(line))[1:]
		c, err := parse(args, Deps{Getenv: func(string) string { return "" }})
		if err != nil || c.command == nil {
			t.Errorf("%s: %v", line, err)
		}
		n++
	}
	return n
}

// words splits a line as a shell would, with double quotes only.
func words(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`"[^"]*"|[^\s"]+`).FindAllString(line, -1) {
		out = append(out, strings.Trim(m, `"`))
	}
	return out
}

// Whatever the arguments: no panic, an exit code of the table, one object on
// stdout or none, and an error exactly when it fails.
func TestAnyArguments(t *testing.T) {
	var vocabulary []string
	m, err := NewManifest("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Commands {
		vocabulary = append(vocabulary, strings.Fields(c.Name)...)
		for _, p := range c.Flags {
			vocabulary = append(vocabulary, p.Name, p.Name+"=", p.Name+"="+p.Default)
			vocabulary = append(vocabulary, p.Allowed...)
		}
	}
	vocabulary = append(vocabulary, "--", "-", "", "-h", "--help", "--output", "json", "auto", "7d", "640x360", ":0", testID, "a text", "pass", "-5s", "supervise", "scene.js", "-o", "0.5,2", "out.mp4")
	word := rapid.OneOf(rapid.SampledFrom(vocabulary), rapid.SampledFrom(vocabulary), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(rt *rapid.T) {
		checkAnyRun(rt, rapid.SliceOfN(word, 0, 7).Draw(rt, "args"))
	})
}

// failer is testing.T and rapid.T.
type failer interface {
	Fatalf(format string, args ...any)
}

func checkAnyRun(t failer, args []string) {
	b := newBench()
	done := runningStatus()
	done.Phase = recording.PhaseDone // else watch would watch for ever
	b.status = []supervisor.StatusResult{done}
	o := b.run(append(args, "--output", "json")...)
	if slices.Contains(args, "--") || strings.Contains(strings.Join(args, " "), "--output") {
		o = b.run(args...)
	}
	if strings.Contains(o.err, "goroutine ") {
		t.Fatalf("%q panics: %s", args, o.err)
	}
	switch o.code {
	case fault.ExitOK:
		if strings.Count(o.out, `"schemaVersion"`) < 1 && strings.HasPrefix(o.out, "{") || strings.Contains(o.err, `"error"`) {
			t.Fatalf("%q: stdout %q, stderr %q", args, o.out, o.err)
		}
	case fault.ExitUsage:
		if o.out != "" || len(b.calls) != 0 || o.err == "" {
			t.Fatalf("%q: stdout %q, stderr %q, calls %v", args, o.out, o.err, b.calls)
		}
	case fault.ExitFailed, fault.ExitNotFound:
		t.Fatalf("%q fails where nothing can: %s", args, o.err)
	default:
		t.Fatalf("%q: exit %d", args, o.code)
	}
}

func FuzzRun(f *testing.F) {
	for _, s := range []string{
		"start\x00--fps\x0030", "step\x00--\x00-x y", "result\x00pass\x00ok", "stop\x00--timeout=", "--help", "start\x00--url\x00http://[::1", "prune\x00--older-than\x009d",
		"start\x00--size\x0019\xff20x", "start\x00--min-free\x001e9MB", "\x00\x00", "start\x00-\x00--",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "doctor") {
			return // its answer is the bench's
		}
		checkAnyRun(t, strings.Split(s, "\x00"))
	})
}
