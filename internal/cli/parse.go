package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// command is one command of the tree with its values.
type command interface {
	run(ctx context.Context, c *call) (answer, error)
}

// call is a command line that has been understood.
type call struct {
	Deps
	name     string // of the command
	command  command
	given    map[string]bool // flags on the command line itself
	progress progressFunc
	watching func(supervisor.StatusResult)
	working  func(contract.Progress) // of work that is counted: frames
	making   func(contract.Progress) // of a job of generate
}

// newParser builds kong's parser of a tree.
func newParser(root *tree, getenv func(string) string) (*kong.Kong, error) {
	env := kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
		name := f.Tag.Get("fromenv")
		if name == "" || getenv(name) == "" {
			return nil, nil //nolint:nilnil // kong's way to say: not set
		}
		return fromEnv{name, getenv(name)}, nil
	})
	k, err := kong.New(root,
		kong.Name("proofreel"), kong.NoDefaultHelp(), kong.Resolvers(env),
		kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		return nil, fmt.Errorf("build the command tree: %w", err)
	}
	return k, nil
}

// parse understands a command line, or says why not. The call's name is right
// as far as it is known, also with an error.
func parse(args []string, deps Deps) (*call, error) {
	c := &call{Deps: deps, name: "proofreel", given: map[string]bool{}}
	if err := checkArguments(args); err != nil {
		return c, err
	}
	var root tree
	k, err := newParser(&root, deps.Getenv)
	if err != nil {
		return c, err
	}
	traced, err := kong.Trace(k, args)
	if err != nil {
		return c, parseFault(err)
	}
	node := traced.Selected()
	if node != nil {
		c.name = nameOf(node)
	}
	if traced.Error != nil {
		return c, parseFault(traced.Error)
	}
	if err := c.collect(traced); err != nil {
		return c, err
	}
	if c.given["help"] || c.given["version"] {
		return c, c.askedFor(node)
	}
	if node == nil {
		return c, fault.New(fault.Usage, "proofreel --help lists the commands.", "no command is given")
	}
	if err := checkComplete(traced, node); err != nil {
		return c, err
	}
	if _, err := k.Parse(args); err != nil {
		return c, parseFault(err)
	}
	cmd, ok := node.Target.Addr().Interface().(command)
	if !ok {
		return c, fmt.Errorf("%s can't run", node.Name)
	}
	c.command = cmd
	return c, c.recordingFromEnv(node)
}

// askedFor makes the call one of --help or --version.
func (c *call) askedFor(node *kong.Node) error {
	if c.given["help"] && c.given["version"] {
		return fault.New(fault.Usage, "Use one of them.", "--help and --version can't be used together")
	}
	if c.given["version"] {
		c.name, c.command = "version", &versionCmd{}
		return nil
	}
	help := &helpCmd{}
	if node != nil && !node.Hidden {
		command, sub, _ := strings.Cut(nameOf(node), " ")
		help.Command, help.Sub = choice(command), choice(sub)
	}
	c.name, c.command = "help", help
	return nil
}

// collect notes the flags that are given and refuses repeated ones, of which
// kong would take the last.
func (c *call) collect(traced *kong.Context) error {
	for _, p := range traced.Path {
		if p.Flag == nil {
			continue
		}
		if c.given[p.Flag.Name] {
			return fault.New(fault.Usage, "Give it once.", "--%s is given more than once", p.Flag.Name)
		}
		c.given[p.Flag.Name] = true
	}
	return nil
}

// nameOf is a command's whole name: scene check.
func nameOf(n *kong.Node) string {
	if n.Parent == nil || n.Parent.Type == kong.ApplicationNode {
		return n.Name
	}
	return nameOf(n.Parent) + " " + n.Name
}

// checkComplete says which argument or flag is missing.
func checkComplete(traced *kong.Context, node *kong.Node) error {
	seen := map[*kong.Value]bool{}
	for _, p := range traced.Path {
		if p.Positional != nil {
			seen[p.Positional] = true
		}
		if p.Flag != nil {
			seen[p.Flag.Value] = true
		}
	}
	required := slices.Clone(node.Positional)
	for _, f := range node.Flags {
		required = append(required, f.Value)
	}
	for _, v := range required {
		if v.Required && !seen[v] {
			return fault.New(fault.Usage, "Write: "+usageOf(node)+".", "%s needs %s", nameOf(node), where(v))
		}
	}
	return nil
}

// recordingFromEnv fills an absent positional ID from the environment, which
// kong does for flags only.
func (c *call) recordingFromEnv(node *kong.Node) error {
	for _, v := range node.Positional {
		name := v.Tag.Get("fromenv")
		if name == "" || !v.Target.IsZero() || c.Getenv(name) == "" {
			continue
		}
		token := kong.Token{Type: kong.FlagValueToken, Value: fromEnv{name, c.Getenv(name)}}
		if err := v.Parse(kong.ScanFromTokens(token), v.Target); err != nil {
			return parseFault(err)
		}
	}
	return nil
}

// parseFault makes a user's error of kong's: the values' own errors are inside
// it; of all others the text is kept, and its guess becomes the hint.
func parseFault(err error) error {
	var own *fault.Error
	if errors.As(err, &own) {
		return own
	}
	message, guess, found := strings.Cut(redact(err.Error()), ", did you mean ")
	hint := "proofreel --help lists the commands and their flags."
	switch {
	case strings.HasPrefix(message, "unknown flag -") && !strings.HasPrefix(message, "unknown flag --"):
		hint = "Flags have two dashes, as in --fps; texts that begin with a dash go after --."
	case found:
		hint = "Did you mean " + strings.TrimSuffix(guess, "?") + "?"
	case strings.HasPrefix(message, "unexpected argument"):
		hint = "Put a text with blanks in quotes; proofreel --help lists the commands and their arguments."
	}
	if r := []rune(message); len(r) > 200 {
		message = string(r[:199]) + "…"
	}
	return fault.Wrap(errors.New(message), fault.Usage, hint, "the command line can't be understood")
}
