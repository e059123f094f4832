package policy

import "slices"

// Sizes of the tables.
const (
	longText  = 8 << 20 // a text block; the body's own cap comes first
	shortText = 64 << 10
	nameText  = 1 << 10
)

// body is the table of a request's top level.
func body() *shape {
	return obj("Top level",
		field{
			name: "model", action: Set, bind: bindModel, count: true,
			why: "pinned by the job's token; another model is refused",
		},
		field{
			name: "max_tokens", action: Allow, shape: whole(0, 1_000_000_000), must: true, bind: bindMaxTokens,
			why: "lowered to the cap and to what the budget affords: it is the worst case that is reserved",
		},
		field{name: "messages", action: Allow, shape: list(10_000, message()), must: true, count: true, why: "the conversation"},
		field{
			name: "system", action: Allow, count: true,
			shape: any1(str(longText), list(100, variants("System blocks", textBlock()))), why: "the instructions",
		},
		field{name: "stream", action: Allow, shape: yesNo(), bind: bindStream, why: "either way is metered"},
		field{name: "temperature", action: Allow, shape: decimal(0, 2), why: "costs nothing"},
		field{name: "top_p", action: Allow, shape: decimal(0, 1), why: "costs nothing"},
		field{name: "top_k", action: Allow, shape: whole(0, 100_000), why: "costs nothing"},
		field{name: "stop_sequences", action: Allow, shape: list(64, str(nameText)), why: "costs nothing"},
		field{
			name: "thinking", action: Allow, shape: thinking(), bind: bindThinking, count: true,
			why: "its tokens count inside max_tokens; budget_tokens is kept below max_tokens",
		},
		field{name: "tools", action: Allow, shape: list(256, tools()), count: true, why: "what the agent itself runs"},
		field{
			name: "tool_choice", action: Allow, shape: toolChoice(), bind: bindToolChoice, count: true,
			why: "a choice of a tool that was dropped, or is none, is refused",
		},
		field{name: "output_config", action: Allow, shape: outputConfig(), count: true, why: "steers, and costs output at most"},
		field{name: "cache_control", action: Allow, shape: cacheControl(), count: true, why: "the short cache is reserved for"},
		field{
			name: "context_management", action: Allow, shape: contextManagement(), count: true,
			why: "clearing makes the prompt smaller",
		},
		field{name: "metadata", action: Set, why: "user_id is the job's opaque id: text of the agent's would leave"},
		field{name: "service_tier", action: Set, why: "`standard_only`: other tiers have other prices"},
		field{name: "speed", action: Drop, why: "fast costs twice or more"},
		field{name: "inference_geo", action: Drop, why: "a place can cost more"},
		field{name: "diagnostics", action: Drop, why: "refers to another request"},
		field{name: "output_format", action: Drop, why: "an old form of output_config.format"},
		field{name: "betas", action: Drop, why: "betas are a header, and have a list of their own"},
		field{name: "compaction", action: Refuse, why: "samples a second time, and bills outside of the usage's totals"},
		field{name: "fallbacks", action: Refuse, why: "calls another model"},
		field{name: "fallback_credit_token", action: Refuse, why: "belongs to the account, and calls another model"},
		field{name: "mcp_servers", action: Refuse, why: "has the provider connect to any address: a way out"},
		field{name: "container", action: Refuse, why: "a computer at the provider, with files that outlive the job"},
	)
}

func message() *shape {
	return obj("Message",
		field{name: "role", action: Allow, shape: oneOf("user", "assistant", "system"), must: true, why: "clients send all three"},
		field{
			name: "content", action: Allow, must: true,
			shape: any1(str(longText), list(10_000, contentBlocks())), why: "the text",
		},
		field{name: "output_config", action: Allow, shape: obj("Message's output config",
			field{name: "effort", action: Allow, shape: effort(), why: "steers"}), why: "steers"},
		field{name: "clear_at", action: Drop, why: "not needed"},
	)
}

func effort() *shape { return oneOf("low", "medium", "high", "xhigh", "max") }

func cacheControl() *shape {
	ttl := oneOf("5m", "1h")
	ttl.rewrite = map[string]string{"1h": "5m"}
	return variants("Cache control", variant{names: []string{"ephemeral"}, action: Allow, why: "the only kind", fields: []field{
		{name: "ttl", action: Allow, shape: ttl, why: "an hour costs more than what is reserved"},
		{name: "scope", action: Drop, why: "shares a cache beyond the job"},
	}})
}

func cached() field {
	return field{name: "cache_control", action: Allow, shape: cacheControl(), why: "the short cache is reserved for"}
}

func textBlock() variant {
	return variant{names: []string{"text"}, action: Allow, why: "the text", fields: []field{
		{name: "text", action: Allow, shape: str(longText), must: true, why: "the text"},
		{name: "citations", action: Allow, shape: list(1000, citations()), why: "an answer's own, sent back"},
		cached(),
	}}
}

func citations() *shape {
	common := func(extra ...string) []field {
		f := []field{
			{name: "cited_text", action: Allow, shape: str(shortText), why: "a label"},
			{name: "document_title", action: Allow, shape: str(nameText), why: "a label"},
			{name: "document_index", action: Allow, shape: whole(0, 1e6), why: "a position"},
			{name: "file_id", action: Drop, why: "names a file at the provider"},
		}
		for _, name := range extra {
			f = append(f, field{name: name, action: Allow, shape: whole(0, 1e9), why: "a position"})
		}
		return f
	}
	return variants("Citations",
		variant{
			names: []string{"char_location"}, action: Allow, why: "points into the request",
			fields: common("start_char_index", "end_char_index"),
		},
		variant{
			names: []string{"content_block_location"}, action: Allow, why: "points into the request",
			fields: common("start_block_index", "end_block_index"),
		},
		variant{
			names: []string{"page_location"}, action: Allow, why: "points into the request",
			fields: common("start_page_number", "end_page_number"),
		},
		variant{
			names: []string{"search_result_location", "web_search_result_location"}, action: Refuse,
			why: "of blocks that are refused",
		},
	)
}

func imageBlock() variant {
	return variant{names: []string{"image"}, action: Allow, why: "the agent looks at its own frames", fields: []field{
		{name: "source", action: Allow, shape: imageSource(), must: true, why: "only what is in the request"},
		{name: "transformations", action: Drop, why: "sizes are capped here"},
		cached(),
	}}
}

func imageSource() *shape {
	return variants("Image source",
		variant{names: []string{"base64"}, action: Allow, why: "in the request itself", fields: []field{
			{
				name: "media_type", action: Allow, must: true, shape: oneOf("image/jpeg", "image/png", "image/gif", "image/webp"),
				why: "what the API reads",
			},
			{
				name: "data", action: Allow, must: true, shape: &shape{kind: pixels},
				why: "number, bytes and sides are capped; its tokens are counted by the longest sides that its canvas and its frame have",
			},
		}},
		variant{names: []string{"url"}, action: Refuse, why: "has the provider fetch any address: a way out"},
		variant{names: []string{"file"}, action: Refuse, why: "a file at the provider, perhaps of somebody else's"},
	)
}

func documentBlock() variant {
	inner := variants("Document content", textBlock(), imageBlock())
	return variant{names: []string{"document"}, action: Allow, why: "text that can be cited", fields: []field{
		{name: "source", action: Allow, must: true, why: "only what is in the request", shape: variants("Document source",
			variant{names: []string{"text"}, action: Allow, why: "in the request itself", fields: []field{
				{name: "media_type", action: Allow, shape: oneOf("text/plain"), must: true, why: "the only one"},
				{name: "data", action: Allow, shape: str(longText), must: true, why: "the text"},
			}},
			variant{names: []string{"content"}, action: Allow, why: "in the request itself", fields: []field{
				{name: "content", action: Allow, shape: any1(str(longText), list(1000, inner)), must: true, why: "text and pictures"},
			}},
			variant{names: []string{"base64"}, action: Refuse, why: "a PDF's pages decide its tokens, and no agent of ours reads one"},
			variant{names: []string{"url"}, action: Refuse, why: "has the provider fetch any address: a way out"},
			variant{names: []string{"file"}, action: Refuse, why: "a file at the provider, perhaps of somebody else's"},
		)},
		{name: "title", action: Allow, shape: str(nameText), why: "a label"},
		{name: "context", action: Allow, shape: str(shortText), why: "text"},
		{name: "citations", action: Allow, shape: obj("Citations switch",
			field{name: "enabled", action: Allow, shape: yesNo(), why: "steers"}), why: "steers"},
		cached(),
	}}
}

func id() *shape { return words(128) }

func direct() *shape {
	return variants("Caller", variant{names: []string{"direct"}, action: Allow, why: "the model itself; others run at the provider"})
}

// contentBlocks is the table of what a message may hold.
func contentBlocks() *shape {
	inner := variants("Tool result content", textBlock(), imageBlock(), documentBlock(),
		variant{names: []string{"tool_reference"}, action: Allow, why: "names a tool of the request", fields: []field{
			{name: "tool_name", action: Allow, shape: id(), must: true, why: "a name"}, cached(),
		}},
		variant{names: []string{"search_result"}, action: Refuse, why: "not needed"},
		variant{names: []string{"browser_state"}, action: Refuse, why: "of tools that are refused"},
	)
	refused := func(why string, names ...string) variant { return variant{names: names, action: Refuse, why: why} }
	return variants("Content blocks", textBlock(), imageBlock(), documentBlock(),
		variant{names: []string{"thinking"}, action: Allow, why: "must go back unchanged", fields: []field{
			{name: "thinking", action: Allow, shape: str(longText), must: true, why: "opaque"},
			{name: "signature", action: Allow, shape: str(longText), must: true, why: "opaque"},
		}},
		variant{names: []string{"redacted_thinking"}, action: Allow, why: "must go back unchanged", fields: []field{
			{name: "data", action: Allow, shape: str(longText), must: true, why: "opaque"},
		}},
		variant{names: []string{"tool_use"}, action: Allow, why: "what the model asked the agent to do", fields: []field{
			{name: "id", action: Allow, shape: id(), must: true, why: "a label"},
			{name: "name", action: Allow, shape: id(), must: true, why: "a name"},
			{name: "input", action: Allow, shape: free(longText), must: true, why: "the agent's own data, as text to the model"},
			{name: "caller", action: Allow, shape: direct(), why: "the model itself; others run at the provider"},
			cached(),
		}},
		variant{names: []string{"tool_result"}, action: Allow, why: "what the agent answers", fields: []field{
			{name: "tool_use_id", action: Allow, shape: id(), must: true, why: "a label"},
			{name: "content", action: Allow, shape: any1(str(longText), list(1000, inner)), why: "text and pictures"},
			{name: "is_error", action: Allow, shape: yesNo(), why: "a label"},
			cached(),
		}},
		refused("can only come from tools at the provider", "server_tool_use", "web_search_tool_result",
			"web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
			"text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result", "mcp_tool_use",
			"mcp_tool_result", "mcp_tool_listing"),
		refused("a file at the provider", "container_upload"),
		refused("defines a tool inside of a message: a second way to tools at the provider", "tool_addition", "tool_removal"),
		refused("samples a second time, and bills outside of the usage's totals", "compaction"),
		refused("of another model", "fallback"),
		refused("not needed", "search_result"),
	)
}

// tools is the table of what may stand in "tools".
func tools() *shape {
	common := []field{
		cached(),
		{name: "strict", action: Allow, shape: yesNo(), why: "steers"},
		{name: "defer_loading", action: Allow, shape: yesNo(), why: "steers"},
		{name: "input_examples", action: Allow, shape: list(64, free(shortText)), why: "text to the model"},
		{name: "allowed_callers", action: Allow, shape: list(1, oneOf("direct")), why: "others run at the provider"},
	}
	named := func(names ...string) []field {
		return append([]field{{name: "name", action: Allow, shape: oneOf(names...), must: true, why: "fixed"}}, common...)
	}
	away := func(why string, names ...string) variant { return variant{names: names, action: Drop, why: why} }
	s := variants("Tools",
		variant{names: []string{"custom"}, action: Allow, why: "the agent runs it, in its box", fields: append([]field{
			{name: "name", action: Allow, shape: id(), must: true, why: "a name"},
			{name: "description", action: Allow, shape: str(1 << 20), why: "text to the model"},
			{name: "input_schema", action: Allow, shape: free(1 << 20), must: true, why: "text to the model"},
			{name: "eager_input_streaming", action: Allow, shape: yesNo(), why: "steers"},
		}, common...)},
		variant{
			names: []string{"bash_20241022", "bash_20250124"}, action: Allow, why: "the agent runs it, in its box",
			fields: named("bash"),
		},
		variant{
			names: []string{"text_editor_20250124", "text_editor_20250429", "text_editor_20250728"}, action: Allow,
			why: "the agent runs it, in its box", fields: append(named("str_replace_editor", "str_replace_based_edit_tool"),
				field{name: "max_characters", action: Allow, shape: whole(1, 10_000_000), why: "a limit"}),
		},
		away("the internet", "web_search_20250305", "web_search_20260209", "web_search_20260318", "web_fetch_20250910",
			"web_fetch_20260209", "web_fetch_20260309", "web_fetch_20260318"),
		away("another computer, with files", "code_execution_20250522", "code_execution_20250825", "code_execution_20260120",
			"code_execution_20260521"),
		away("another model", "advisor_20260301"),
		away("servers at any address", "mcp_toolset"),
		away("runs at the provider", "tool_search_tool_bm25_20251119", "tool_search_tool_regex_20251119",
			"tool_search_tool_bm25", "tool_search_tool_regex"),
		variant{names: []string{
			"memory_20250818", "computer_20241022", "computer_20250124", "computer_20251124",
			"computer_toolset_20260801", "browser_toolset_20260801",
		}, action: Refuse, why: "no agent of ours runs it"},
	)
	s.untyped = "custom"
	s.onElem = noteTool
	return s
}

func toolChoice() *shape {
	parallel := field{name: "disable_parallel_tool_use", action: Allow, shape: yesNo(), why: "steers"}
	return variants("Tool choice",
		variant{names: []string{"auto", "any"}, action: Allow, why: "among the tools that are left", fields: []field{parallel}},
		variant{names: []string{"none"}, action: Allow, why: "no tool"},
		variant{names: []string{"tool"}, action: Allow, why: "one of the tools that are left", fields: []field{
			{name: "name", action: Allow, shape: id(), must: true, why: "must be among them"}, parallel,
		}},
	)
}

func thinking() *shape {
	display := field{name: "display", action: Allow, shape: oneOf("summarized", "omitted", "updates"), why: "what is shown"}
	budget := field{name: "budget_tokens", action: Allow, shape: whole(1024, 1e9), why: "kept below max_tokens"}
	return variants("Thinking",
		variant{names: []string{"enabled"}, action: Allow, why: "counts inside max_tokens", fields: []field{budget, display}},
		variant{names: []string{"adaptive", "between_tools"}, action: Allow, why: "counts inside max_tokens", fields: []field{display}},
		variant{names: []string{"disabled"}, action: Allow, why: "no thinking"},
	)
}

func outputConfig() *shape {
	return obj("Output config",
		field{name: "effort", action: Allow, shape: effort(), why: "steers"},
		field{name: "format", action: Allow, why: "the answer's form", shape: variants("Output format",
			variant{names: []string{"json_schema"}, action: Allow, why: "the answer's form", fields: []field{
				{name: "schema", action: Allow, shape: free(256 << 10), must: true, why: "text to the model"},
			}})},
		field{name: "task_budget", action: Drop, why: "not needed"},
	)
}

func contextManagement() *shape {
	amount := func(title string, kinds ...string) *shape {
		return obj(title,
			field{name: "type", action: Allow, shape: oneOf(kinds...), must: true, why: "the unit"},
			field{name: "value", action: Allow, shape: whole(0, 1e9), must: true, why: "a limit"})
	}
	return obj("Context management", field{
		name: "edits", action: Allow, why: "in this order",
		shape: list(16, variants("Context edits",
			variant{names: []string{"clear_tool_uses_20250919"}, action: Allow, why: "makes the prompt smaller", fields: []field{
				{name: "trigger", action: Allow, shape: amount("Trigger", "input_tokens", "tool_uses"), why: "a limit"},
				{name: "keep", action: Allow, shape: amount("Keep", "tool_uses"), why: "a limit"},
				{name: "clear_at_least", action: Allow, shape: amount("At least", "input_tokens"), why: "a limit"},
				{name: "clear_tool_inputs", action: Allow, shape: any1(yesNo(), list(256, id())), why: "which"},
				{name: "exclude_tools", action: Allow, shape: list(256, id()), why: "which"},
			}},
			variant{names: []string{"clear_thinking_20251015"}, action: Allow, why: "makes the prompt smaller", fields: []field{
				{name: "keep", action: Allow, why: "a limit", shape: any1(oneOf("all"), variants("Keep thinking",
					variant{names: []string{"all"}, action: Allow, why: "everything"},
					variant{names: []string{"thinking_turns"}, action: Allow, why: "a limit", fields: []field{
						{name: "value", action: Allow, shape: whole(0, 1e9), must: true, why: "a limit"},
					}}))},
			}},
			variant{
				names: []string{"compact_20260112"}, action: Refuse,
				why: "samples a second time, and bills outside of the usage's totals",
			},
		)),
	})
}

// Beta is a row of the table of betas.
type Beta struct {
	Name   string
	Action Action
	Why    string
}

// betas is the table of anthropic-beta; a name that is not in it is dropped.
func betas() []Beta {
	return []Beta{
		{"claude-code-20250219", Allow, "says which client it is"},
		{"interleaved-thinking-2025-05-14", Allow, "thinking counts inside max_tokens"},
		{"context-management-2025-06-27", Allow, "clearing; compaction is refused in the body"},
		{"per-turn-control-2026-07-01", Allow, "effort of one message"},
		{"thinking-token-count-2026-05-13", Allow, "tells more of the usage"},
		{"effort-2025-11-24", Allow, "steers"},
		{"fine-grained-tool-streaming-2025-05-14", Allow, "changes how the answer is cut into events"},
		{"mid-conversation-tool-changes-2026-07-01", Drop, "tools inside of messages"},
		{"advanced-tool-use-2025-11-20", Drop, "tools that run at the provider"},
		{"context-1m-2025-08-07", Drop, "long prompts at another price"},
		{"extended-cache-ttl-2025-04-11", Drop, "an hour's cache at another price"},
	}
}

// Betas gives those of the agent's betas that are sent on, each once, in the
// table's order, and how many were dropped.
func Betas(asked []string) (kept []string, dropped int) {
	left := map[string]bool{}
	for _, name := range asked {
		left[name] = true
	}
	for _, b := range betas() {
		if b.Action == Allow && left[b.Name] {
			kept = append(kept, b.Name)
			delete(left, b.Name)
		}
	}
	return slices.Clip(kept), len(left)
}
