package cli

import (
	"fmt"
	"strings"
)

// helpText puts the manifest into words for a terminal.
func helpText(b *lines, p palette, m Manifest) {
	b.add("%s %s", p.bold.Render(m.Name), m.Version)
	b.add("%s", m.Summary)
	heading(b, p, "Commands")
	for _, c := range m.Commands {
		fmt.Fprintf(b, "  %-15s %s\n", c.Name, c.Summary)
	}
	heading(b, p, "In order")
	for _, s := range m.Workflow {
		b.WriteString("  " + s.Command + "\n" + "      " + p.dim.Render(s.Why) + "\n")
	}
	heading(b, p, "Flags of every command")
	flagsText(b, p, m.GlobalFlags)
	heading(b, p, "Exit codes")
	for _, e := range m.ExitCodes {
		fmt.Fprintf(b, "  %-3d %s\n", e.Code, e.Meaning)
	}
	heading(b, p, "Environment")
	for _, e := range m.Environment {
		fmt.Fprintf(b, "  %-20s %s\n", e.Name, e.Meaning)
	}
	b.add("\nproofreel COMMAND --help says more. --output json gives all of this as JSON.")
}

// groupText puts the commands below one into words.
func groupText(b *lines, p palette, d Group) {
	heading(b, p, "Commands")
	for _, c := range d.Commands {
		b.WriteString("  " + c.Usage + "\n      " + p.dim.Render(c.Summary) + "\n")
	}
	heading(b, p, "Flags of every command")
	flagsText(b, p, d.GlobalFlags)
	b.add("\nproofreel COMMAND --help says more.")
}

// partText puts a command's part into words.
func partText(b *lines, p palette, d Part) {
	b.add("%s", p.bold.Render(d.Command.Usage))
	b.add("%s", d.Command.Summary)
	if len(d.Command.Arguments) > 0 {
		heading(b, p, "Arguments")
		flagsText(b, p, d.Command.Arguments)
	}
	if len(d.Command.Flags) > 0 {
		heading(b, p, "Flags")
		flagsText(b, p, d.Command.Flags)
	}
	heading(b, p, "Flags of every command")
	flagsText(b, p, d.GlobalFlags)
}

func heading(b *lines, p palette, s string) { b.WriteString("\n" + p.bold.Render(s) + "\n") }

func flagsText(b *lines, p palette, all []Parameter) {
	for _, f := range all {
		b.WriteString("  " + f.written() + "\n      " + f.Summary + "\n")
		if d := f.details(); d != "" {
			b.WriteString("      " + p.dim.Render(d) + "\n")
		}
	}
}

// written shows a parameter as it is typed.
func (f Parameter) written() string {
	s := f.Name
	if f.Short != "" {
		s = f.Short + ", " + s
	}
	if f.Placeholder != "" {
		return s + " " + f.Placeholder
	}
	if len(f.Allowed) > 0 && strings.HasPrefix(f.Name, "--") {
		return s + " " + strings.Join(f.Allowed, "|")
	}
	return s
}

// details says what a parameter's values may be.
func (f Parameter) details() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	if f.Required {
		parts = append(parts, "required")
	}
	add("default", f.Default)
	add("otherwise", f.DefaultText)
	switch {
	case f.Min != "":
		parts = append(parts, f.Min+" to "+f.Max)
	case f.Max != "":
		parts = append(parts, "at most "+f.Max+" characters")
	}
	add("environment", f.Environment)
	return strings.Join(parts, "; ")
}
