//go:build claudecode

// Claude Code's binary has 400 MB: "make test-claude-code" installs it and runs
// this, CI does not.
package runner

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
)

// claudeVar names the program.
const claudeVar = "PROOFREEL_CLAUDE_CODE"

// A real foreign client makes a film in a real box behind the gateway: it
// streams, writes, runs our commands and looks at a picture; and what the
// provider saw is free of what must not pass.
func TestClaudeCode(t *testing.T) {
	a, err := agent.ClaudeCode(os.Getenv(claudeVar))
	if err != nil {
		t.Fatalf("%v: make test-claude-code", err)
	}
	steps := []step{
		says(text("I write it."), call("toolu_1", "Write", fmt.Sprintf(`{"file_path":"/work/scene.js","content":%s}`, quote(smallScene)))),
		says(call("toolu_2", "Bash", `{"command":"proofreel still scene.js --at 0.5 -o still.png","description":"look"}`)),
		says(call("toolu_3", "Read", `{"file_path":"/work/still.png"}`)),
		says(call("toolu_4", "Bash", `{"command":"mkdir -p out && proofreel render scene.js -o out/final.mp4 --poster out/poster.jpg","description":"render","timeout":300000}`)),
		done(),
	}
	play := func(q gatewaytest.Request) gatewaytest.Reply {
		if !strings.Contains(q.Body, `"name":"Bash"`) { // a title, or another call beside the work
			if !q.Streaming() {
				return gatewaytest.Message("A film", gatewaytest.Usage(10, 10))
			}
			return says(text("A film"))(q)
		}
		return steps[min(strings.Count(q.Body, `"type":"tool_result"`), len(steps)-1)](q)
	}
	r := newRig(t, 0, play, func(j *agent.Job) { j.Wall, j.Turns = 10*time.Minute, 20 })
	log := inBox(t, r, a, 10*time.Minute)
	if got := r.last(); got.Phase != agent.Done || got.End != agent.Finished || got.Turn < 5 {
		t.Errorf("reported %+v\n%.4000s", got, log)
	}
	pictures, streamed := 0, 0
	for _, q := range r.up.Seen() {
		pictures += strings.Count(q.Body, `"type":"image"`)
		if q.Streaming() {
			streamed++
		}
		for _, never := range []string{r.job.Token, modelKey, "web_search_20", "web_fetch_20", "code_execution_20", "mcp_toolset", "tool_addition", `"type":"url"`, "file_id", "fallbacks"} {
			if strings.Contains(q.Body, never) {
				t.Errorf("the provider saw %q", never)
			}
		}
		for _, name := range []string{"Authorization", "Cookie", "X-Forwarded-For", "X-Stainless-Os", "X-App"} {
			if v := q.Header.Get(name); v != "" {
				t.Errorf("the provider saw %s: %s", name, v)
			}
		}
		if !strings.Contains(q.Body, `"model":"good"`) || q.Header.Get("X-Api-Key") != modelKey {
			t.Errorf("another model or key: %.300s", q.Body)
		}
	}
	s := r.door.Summary()
	t.Logf("%d calls, %d streamed, %d pictures; denied %v, dropped %v, alarms %v", r.up.Messages(), streamed, pictures, s.Denied, s.Dropped, s.Alarms)
	if pictures == 0 || streamed < 5 || len(s.Denied) > 0 || len(s.Alarms) > 0 {
		t.Errorf("the log: %.4000s", log)
	}
}
