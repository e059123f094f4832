package mcpserver

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The tool's actions, in the order of their use.
func actions() []string { return []string{"start", "step", "result", "status", "stop", "list"} }

// argument is one argument of the tool.
type argument struct {
	name    string
	kind    string   // string, integer or boolean, as JSON Schema names them
	actions []string // that take it
	needed  bool     // by all of these
	flag    string   // of start, which reads the value; empty: none
	summary string
	allowed []string
	least   int // of an integer; 0: no limit
	most    int // of an integer, or a string's length in characters; 0: no limit
}

// arguments gives the tool's arguments, in their order. Those that start's
// flags read are described by these flags.
func arguments(flags []Flag) ([]argument, error) {
	one := func(s string) []string { return []string{s} }
	all := []argument{
		{name: "action", kind: "string", actions: actions(), needed: true, allowed: actions(), summary: "What to do."},
		{name: "box", kind: "string", actions: actions(), allowed: one("local"), summary: "The machine that is filmed. This version serves local only, the machine that the server runs on."},
		{name: "recordingId", kind: "string", actions: []string{"step", "result", "status", "stop"}, most: 64, summary: "The recording. Left out: the one that you started and that still runs."},
		{name: "text", kind: "string", actions: []string{"step", "result"}, needed: true, flag: "text"},
		{name: "pass", kind: "boolean", actions: one("result"), needed: true, summary: "Whether the step before it went well."},
	}
	for _, name := range []string{"url", "display", "size", "browser", "fps", "max-duration", "name", "stills", "speed", "position"} {
		kind := "string"
		if name == "fps" || name == "speed" {
			kind = "integer"
		}
		all = append(all, argument{name: camel(name), kind: kind, actions: one("start"), flag: name})
	}
	for i := range all {
		if err := all[i].describe(flags); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// describe completes an argument from the flag that reads it.
func (a *argument) describe(flags []Flag) error {
	if a.flag == "" {
		return nil
	}
	i := slices.IndexFunc(flags, func(f Flag) bool { return f.Name == a.flag })
	if i < 0 {
		return fmt.Errorf("the command line has no %s", a.flag)
	}
	f := flags[i]
	a.allowed, a.summary = f.Allowed, terms(f.Summary)
	low, lowErr := strconv.Atoi(f.Min)
	high, highErr := strconv.Atoi(f.Max)
	switch {
	case a.kind == "integer" && lowErr == nil:
		a.least, a.most = low, high
	case f.Min != "":
		a.summary += " " + forms(a.flag) + ", " + f.Min + " to " + f.Max + "."
	case highErr == nil:
		a.most = high
	}
	if left := terms(cmp.Or(f.Otherwise, f.Default)); left != "" {
		a.summary += " Left out: " + left + "."
	}
	if a.flag == "text" {
		a.summary = "What is about to be done (step), or what was seen (result)."
	}
	return nil
}

// forms says how a value is written that JSON has no type for.
func forms(flag string) string {
	if flag == "size" {
		return "WIDTHxHEIGHT"
	}
	return "A number with its unit, such as 90s or 30m"
}

// camel makes maxDuration of max-duration.
func camel(flag string) string {
	words := strings.Split(flag, "-")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}
