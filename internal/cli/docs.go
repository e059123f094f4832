package cli

import (
	"fmt"
	"strings"
)

// Docs gives the pages of docs/ that are made from the command tree and the
// fault table, by their names.
func Docs() (map[string]string, error) {
	m, err := NewManifest("")
	if err != nil {
		return nil, err
	}
	return map[string]string{"cli.md": commandPage(m), "errors.md": errorPage(m)}, nil
}

const generated = "<!-- Made by `go run ./internal/cli/gendocs docs`. Change the command tree instead. -->\n\n"

func commandPage(m Manifest) string {
	var b strings.Builder
	b.WriteString(generated + "# The command line\n\n" + m.Summary + "\n\n")
	b.WriteString("## In order\n\n")
	for i, s := range m.Workflow {
		fmt.Fprintf(&b, "%d. `%s`  \n   %s\n", i+1, s.Command, s.Why)
	}
	list(&b, "What it needs", m.Prerequisites)
	list(&b, "What holds always", m.Rules)
	b.WriteString("\n## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for _, e := range m.ExitCodes {
		fmt.Fprintf(&b, "| %d | %s |\n", e.Code, cell(e.Meaning))
	}
	b.WriteString("\n## Environment\n\n| variable | meaning |\n|---|---|\n")
	for _, e := range m.Environment {
		fmt.Fprintf(&b, "| `%s` | %s |\n", e.Name, cell(e.Meaning))
	}
	b.WriteString("\n## Flags of every command\n\n")
	parameterTable(&b, m.GlobalFlags)
	b.WriteString("## Commands\n")
	for _, c := range m.Commands {
		fmt.Fprintf(&b, "\n### %s\n\n    %s\n\n%s\n\n", c.Name, c.Usage, c.Summary)
		parameterTable(&b, append(c.Arguments, c.Flags...))
		fmt.Fprintf(&b, "Effect: %s. When it fails: %s.\n", strings.Join(c.Effects, " or "), strings.Join(c.Failures, " or "))
	}
	return b.String()
}

func list(b *strings.Builder, title string, items []string) {
	b.WriteString("\n## " + title + "\n\n")
	for _, s := range items {
		b.WriteString("- " + s + "\n")
	}
}

func parameterTable(b *strings.Builder, all []Parameter) {
	if len(all) == 0 {
		return
	}
	b.WriteString("| parameter | type | values | meaning |\n|---|---|---|---|\n")
	for _, p := range all {
		values := p.details()
		if len(p.Allowed) > 0 {
			values = strings.TrimSuffix(strings.Join(p.Allowed, ", ")+"; "+values, "; ")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Name, p.Type, cell(values), cell(p.Summary))
	}
	b.WriteString("\n")
}

func errorPage(m Manifest) string {
	var b strings.Builder
	b.WriteString(generated + "# Errors\n\nEvery error has a stable code, a message that says what is wrong and a hint that says how to go on.\n")
	b.WriteString("`retryable` says whether the same call may succeed later without anything being changed.\n\n")
	b.WriteString("| code | exit code | HTTP status | retryable | meaning |\n|---|---|---|---|---|\n")
	for _, r := range m.Errors {
		retry := "no"
		if r.Retryable {
			retry = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %s | %s |\n", r.Code, r.Exit, r.HTTP, retry, cell(r.Meaning))
	}
	return b.String()
}

// cell keeps a text from ending its table cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
