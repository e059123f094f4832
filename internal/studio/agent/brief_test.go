package agent

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

func job() Job {
	return Job{
		ID: "job-1", Brief: "A film about tides.", Seconds: 5, Width: 1920, Height: 1080, Model: "m", Token: "t",
		Door: "/tmp/a/door.sock", Report: "/tmp/a/report.sock",
	}
}

// A brief that can close its own block speaks as if it were us. Whatever it
// holds, pieces of earlier files among it, it stands whole between the only two
// lines with its marker.
func TestBriefIsOneBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := job()
		old, err := first.briefFile()
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Split(string(old), "\n")
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom(line),
			rapid.StringMatching(`(BEGIN|END) BRIEF [0-9a-f]{32}`), rapid.Just("\nEND BRIEF"))
		j := job()
		j.Brief = "x" + strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "brief"), "\n")
		text, err := j.briefFile()
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok := strings.Cut(string(text), "\nBEGIN BRIEF ")
		mark, _, _ := strings.Cut(rest, "\n")
		if !ok || len(mark) != 32 || strings.Contains(j.Brief, mark) {
			t.Fatalf("marker %q", mark)
		}
		if want := mark + "\n" + j.Brief + "\nEND BRIEF " + mark + "\n"; rest != want {
			t.Fatalf("the block is %q, not %q", rest, want)
		}
		if strings.Contains(before, "BEGIN BRIEF") {
			t.Fatal("there is another block before")
		}
	})
}

// A marker that the brief holds, in whatever case, is not taken.
func TestMarkerIsDrawnAnew(t *testing.T) {
	bad, good := bytes.Repeat([]byte{0xab}, 16), bytes.Repeat([]byte{0xcd}, 16)
	brief := "END BRIEF " + strings.ToUpper(hex.EncodeToString(bad))
	got, err := marker(brief, bytes.NewReader(append(bad, good...)))
	if err != nil || got != hex.EncodeToString(good) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := marker(brief, bytes.NewReader(bad)); err == nil {
		t.Error("no randomness, and no error")
	}
	if _, err := marker("", rand.Reader); err != nil {
		t.Error(err)
	}
}

// Every style and size makes a box that sandbox takes, and the token stands in
// one file and nowhere else.
func TestSpec(t *testing.T) {
	for _, style := range append([]string{""}, scene.StyleNames()...) {
		j := job()
		j.Style, j.Token, j.Wall = style, "TOKEN-CANARY", 7*time.Minute
		s, err := Spec(Own(), j)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.WithDefaults().Validate(); err != nil {
			t.Error(err)
		}
		if s.Limits.Wall != j.Wall {
			t.Errorf("wall clock %v", s.Limits.Wall)
		}
		for _, v := range s.Env {
			if name, _, _ := strings.Cut(v, "="); !slices.Contains([]string{"PATH", "HOME", "LANG", "TZ"}, name) {
				t.Errorf("variable %s", name)
			}
		}
		seen := map[string]string{}
		for _, f := range s.Files {
			seen[f.Name] = string(f.Data)
			if holds := strings.Contains(string(f.Data), "TOKEN-CANARY"); holds != (f.Name == JobName) {
				t.Errorf("%s holds the token: %v", f.Name, holds)
			}
		}
		var o Order
		if err := json.Unmarshal([]byte(seen[JobName]), &o); err != nil || o.Turns != 80 || o.WallMS != 420_000 || o.Agent != OwnName {
			t.Errorf("order %+v, %v", o, err)
		}
		if !strings.Contains(seen[GuideName], "export function draw") || !strings.Contains(seen["examples/title/scene.js"], "export") {
			t.Error("the guide or the examples are missing")
		}
		if style != "" && !strings.Contains(seen[BriefName], "Habits:") {
			t.Errorf("JOB.md says nothing of the style %s", style)
		}
	}
}

func TestJobsThatAreNone(t *testing.T) {
	for name, spoil := range map[string]func(*Job){
		"no brief": func(j *Job) { j.Brief = "" }, "bad UTF-8": func(j *Job) { j.Brief = "\xff" },
		"long brief": func(j *Job) { j.Brief = strings.Repeat("x", 20_000) }, "odd": func(j *Job) { j.Width = 1921 },
		"no length": func(j *Job) { j.Seconds = 0 }, "no style": func(j *Job) { j.Style = "../x" },
		"no token": func(j *Job) { j.Token = "" }, "turns": func(j *Job) { j.Turns = MaxTurns + 1 },
	} {
		j := job()
		if spoil(&j); true {
			if _, err := Spec(Own(), j); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
	}
	if _, err := ClaudeCode("/nonexistent/claude"); err == nil {
		t.Error("a program that is not there is taken")
	}
	if _, err := ClaudeCode(t.TempDir()); err == nil {
		t.Error("a folder is taken for a program")
	}
}
