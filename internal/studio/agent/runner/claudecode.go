package runner

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
	"time"

	"github.com/proofreel/proofreel/internal/studio/agent"
)

// runClaudeCode starts Claude Code and waits for its end. It finds the gateway
// by base, and nothing of any user's settings.
func (s *session) runClaudeCode(ctx context.Context, base string) agent.End {
	turns := &claudeStream{seen: map[string]bool{}, turn: func(n int) {
		s.report.set(func(r *agent.Report) { r.Phase, r.Turn = agent.Writing, n })
	}}
	left := s.wall()
	if end, ok := ctx.Deadline(); ok {
		left = time.Until(end)
	}
	s.report.set(func(r *agent.Report) { r.Phase = agent.Writing })
	r, err := s.run(ctx, command{
		role: "claude", timeout: left, keep: output, errs: s.c.Output,
		argv: []string{
			filepath.Join(s.c.Foreign, "claude"), "--print", "Read " + agent.BriefName + " and make the film.",
			"--output-format", "stream-json", "--verbose", "--model", s.order.Model, "--max-turns", strconv.Itoa(s.order.Turns),
			"--append-system-prompt", rules + foreign, "--dangerously-skip-permissions", "--strict-mcp-config", "--setting-sources", "",
		},
		env: claudeEnv(s.order, base),
		tee: &lines{most: 8 << 20, take: turns.line}, // an event holds a picture at most
	})
	s.log.Info("Claude Code has ended", "status", r.code, "turns", turns.turns, "result", turns.result)
	switch {
	case err != nil || r.timeout:
		return agent.TimeOut
	case turns.result == "success":
		return agent.Finished
	case turns.result == "error_max_turns":
		return agent.TurnsOut
	case turns.turns > 0:
		return agent.Upstream
	default:
		s.log.Error("Claude Code did not work", "output", clip(r.out, 2000))
		return agent.Broken
	}
}

// claudeEnv has it call the gateway and nobody else. Every model that it may
// name is the job's: the gateway knows no other.
func claudeEnv(o agent.Order, base string) []string {
	return []string{
		"ANTHROPIC_BASE_URL=" + base, "ANTHROPIC_AUTH_TOKEN=" + o.Token,
		"ANTHROPIC_MODEL=" + o.Model, "ANTHROPIC_SMALL_FAST_MODEL=" + o.Model, "ANTHROPIC_DEFAULT_HAIKU_MODEL=" + o.Model,
		"ANTHROPIC_DEFAULT_SONNET_MODEL=" + o.Model, "ANTHROPIC_DEFAULT_OPUS_MODEL=" + o.Model, "CLAUDE_CODE_SUBAGENT_MODEL=" + o.Model,
		"CLAUDE_CODE_MAX_OUTPUT_TOKENS=" + strconv.FormatInt(o.MaxTokens, 10),
		"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "DISABLE_BUG_COMMAND=1", "IS_SANDBOX=1",
	}
}

// claudeStream takes in the events that Claude Code prints.
type claudeStream struct {
	turn   func(n int)
	seen   map[string]bool // ids of messages
	turns  int
	result string
}

func (c *claudeStream) line(text []byte) {
	var e struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		IsError bool   `json:"is_error"`
		Message struct {
			ID string `json:"id"`
		} `json:"message"`
	}
	if json.Unmarshal(text, &e) != nil {
		return
	}
	switch {
	case e.Type == "assistant" && !c.seen[e.Message.ID] && len(c.seen) < agent.MaxTurns:
		c.seen[e.Message.ID] = true
		c.turns++
		c.turn(c.turns)
	case e.Type == "result":
		if c.result = e.Subtype; e.IsError && c.result == "success" {
			c.result = "error"
		}
	}
}
