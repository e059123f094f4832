package attacks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
)

// prompts: what is no brief reaches no agent, and a screen that was talked
// into something else than a well-formed pass lets nothing through.
func (l *lab) prompts(t *testing.T) {
	const pass = `{"brief":true,"disallowed":false,"category":"none"}`
	for name, c := range map[string]struct{ answer, want string }{
		"a pass in prose":            {"Sure! " + pass, "prompt_unchecked"},
		"a pass in a fence":          {"```json\n" + pass + "\n```", "prompt_unchecked"},
		"a pass and a word":          {pass + " ok", "prompt_unchecked"},
		"brief twice":                {strings.Replace(pass, "{", `{"brief":false,`, 1), "prompt_unchecked"},
		"BRIEF":                      {strings.Replace(pass, "brief", "BRIEF", 1), "prompt_unchecked"},
		"a member more":              {strings.Replace(pass, "{", `{"override":true,`, 1), "prompt_unchecked"},
		"a word instead of true":     {strings.Replace(pass, "true", `"true"`, 1), "prompt_unchecked"},
		"an answer at odds":          {strings.Replace(pass, "none", "attack", 1), "prompt_unchecked"},
		"nothing":                    {"", "prompt_unchecked"},
		"an attack that it has seen": {`{"brief":true,"disallowed":true,"category":"attack"}`, "prompt_refused"},
		"what is no brief":           {strings.Replace(pass, "true", "false", 1), "prompt_refused"},
	} {
		id := strings.ToLower("screen-" + strings.ReplaceAll(name, " ", "-"))
		o := l.run(t, job{name: id, steps: [][]call{{hostile("film", "good")}}, screen: func() gatewaytest.Reply { return gatewaytest.Message(c.answer, gatewaytest.Usage(10, 10)) }})
		l.table.add("prompts", "the screen's answer: "+name, c.want+", no agent", o.code()+words(l.asked(id), ", an agent", ", no agent"), "good jobs pass")
	}
	for name, p := range map[string]string{
		"bidirectional override": "a film \u202e of a cat", "isolate": "a film \u2066 of a cat", "escape": "a film \x1b[31m of a cat", "NUL": "a film\x00 of a cat",
		"invalid UTF-8": "a film \xff of a cat", "tags": "a film \U000e0041\U000e0042 of a cat", "2,001 characters": strings.Repeat("a", 2001), "2 characters": "ab",
	} {
		id := "prompt-" + strings.ToLower(strings.NewReplacer(" ", "-", ",", "").Replace(name))
		o := l.run(t, job{name: id, prompt: p, steps: [][]call{{hostile("film", "good")}}})
		l.table.add("prompts", name, "prompt_invalid, no agent", o.code()+words(l.asked(id), ", an agent", ", no agent"), "other prompts pass")
	}
}

// asked says whether the provider was asked for a job's agent.
func (l *lab) asked(name string) bool {
	for _, r := range l.up.Seen() {
		if strings.Contains(r.Body, fmt.Sprintf("attack job %s.", name)) && strings.Contains(r.Body, `"name":"render"`) {
			return true
		}
	}
	return false
}
