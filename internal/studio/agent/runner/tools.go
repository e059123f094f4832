package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/proofreel/proofreel/internal/studio/agent"
)

// tool is something that the model can ask for.
type tool struct {
	name, about string
	properties  map[string]any // of its input, as JSON Schema has them
	required    []string
	phase       agent.Phase
	run         func(ctx context.Context, input json.RawMessage) result
}

// result is what the model gets for it.
type result struct {
	text     string
	pictures [][]byte // JPEG
	failed   bool
}

func failed(format string, args ...any) result {
	return result{text: fmt.Sprintf(format, args...), failed: true}
}

// output is how much of a tool's output the model gets, in bytes.
const output = 16 << 10

// schema is a property of a tool's input.
func schema(kind, about string) map[string]any {
	return map[string]any{"type": kind, "description": about}
}

// tools are those of a session.
func (s *session) tools() []tool {
	return []tool{
		{
			name: "bash", phase: agent.Writing, run: s.bash, required: []string{"command"},
			about: "Runs a command with bash in the work folder. There is no terminal, no input and no network, and nothing goes on in the background once it returns.",
			properties: map[string]any{
				"command": schema("string", "The command."),
				"timeout": schema("number", "Seconds after which it is ended; 60 unless given, at most 600."),
			},
		},
		{
			name: "edit", phase: agent.Writing, run: s.edit, required: []string{"action", "path"},
			about: "Reads and writes text files of the work folder.",
			properties: map[string]any{
				"action": map[string]any{"type": "string", "enum": []string{"view", "create", "replace", "insert"}, "description": "view shows a file with line numbers, or lists a folder; create writes a whole file; replace puts new in place of old, which must stand there exactly once; insert puts new behind a line."},
				"path":   schema("string", "Relative to the work folder."),
				"text":   schema("string", "Of create: the file's content."),
				"old":    schema("string", "Of replace: what stands there, exactly."),
				"new":    schema("string", "Of replace and insert."),
				"line":   schema("integer", "Of insert: the line behind which it goes; 0 is the file's beginning. Of view: the first line to show."),
				"lines":  schema("integer", "Of view: how many lines; 400 unless given."),
			},
		},
		{
			name: "still", phase: agent.Checking, run: s.still, required: []string{"at"},
			about:      "Shows frames of scene.js, exactly as they will be in the film.",
			properties: map[string]any{"at": map[string]any{"type": "array", "items": map[string]any{"type": "number"}, "minItems": 1, "maxItems": mostStills, "description": "The times, in seconds."}},
		},
		{
			name: "sheet", phase: agent.Checking, run: s.sheet,
			about:      "Shows a contact sheet of scene.js: twelve frames at even distances, with their times.",
			properties: map[string]any{},
		},
		{
			name: "check", phase: agent.Checking, run: s.checkScene,
			about:      "Checks scene.js: draws frames twice in another order, and tells what is wrong, with line and column: errors, impure frames, text that is small, cut off or faint.",
			properties: map[string]any{},
		},
		{
			name: "render", phase: agent.Rendering, run: s.renderTool,
			about:      "Renders scene.js to out/final.mp4 with its poster, and checks both against the order. It takes minutes: look at stills first.",
			properties: map[string]any{},
		},
	}
}

// bash runs a command of the model's.
func (s *session) bash(ctx context.Context, raw json.RawMessage) result {
	var in struct {
		Command string  `json:"command"`
		Timeout float64 `json:"timeout"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return failed("the input is not as it must be: %v", err)
	}
	if in.Command == "" {
		return failed("there is no command")
	}
	if !(in.Timeout > 0) {
		in.Timeout = 60
	}
	limit := time.Duration(min(in.Timeout, 600) * float64(time.Second))
	r, err := s.run(ctx, command{role: "bash", argv: []string{"/bin/bash", "-c", in.Command}, timeout: limit, keep: output})
	switch {
	case err != nil:
		return failed("%s\n%v", r.out, err)
	case r.timeout:
		return failed("%s\n[ended after %v]", r.out, limit)
	case r.flooded:
		return failed("%s\n[ended: it printed more than %d MB]", r.out, flood>>20)
	case r.code != 0:
		return failed("%s\n[exit status %d]", r.out, r.code)
	}
	return result{text: r.out}
}
