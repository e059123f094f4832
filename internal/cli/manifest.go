package cli

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/fault"
)

// Manifest is what --help tells a program: all that it needs to use this one.
// Commands and parameters come from the command tree, errors from the fault
// table.
type Manifest struct {
	Name          string        `json:"name"`
	Version       string        `json:"version"`
	SchemaVersion int           `json:"schemaVersion"`
	Summary       string        `json:"summary"`
	Workflow      []Step        `json:"workflow"`
	Prerequisites []string      `json:"prerequisites"`
	Rules         []string      `json:"rules"`
	Commands      []Command     `json:"commands"`
	GlobalFlags   []Parameter   `json:"globalFlags"`
	Environment   []Environment `json:"environment"`
	ExitCodes     []ExitCode    `json:"exitCodes"`
	Errors        []fault.Row   `json:"errors"`
}

// Part is what COMMAND --help tells a program.
type Part struct {
	Name          string      `json:"name"`
	Version       string      `json:"version"`
	SchemaVersion int         `json:"schemaVersion"`
	Command       Command     `json:"command"`
	GlobalFlags   []Parameter `json:"globalFlags"`
	ExitCodes     []ExitCode  `json:"exitCodes"`
}

// Step is one step of the workflow.
type Step struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// Command is a command and its parameters.
type Command struct {
	Name      string      `json:"name"`
	Usage     string      `json:"usage"`
	Summary   string      `json:"summary"`
	Arguments []Parameter `json:"arguments"` // in their order
	Flags     []Parameter `json:"flags"`
	Effects   []string    `json:"effects"`        // that a success may have
	Failures  []string    `json:"failureEffects"` // that a failure may have
}

// Parameter is a flag or an argument. Min and Max bound numbers, durations and
// sizes, and the length of texts in characters.
type Parameter struct {
	Name        string   `json:"name"` // with the dashes of a flag
	Short       string   `json:"short,omitempty"`
	Type        string   `json:"type"`
	Required    bool     `json:"required"`
	Default     string   `json:"default,omitempty"`
	DefaultText string   `json:"defaultText,omitempty"` // what happens without it, where that depends
	Allowed     []string `json:"allowed,omitempty"`
	Min         string   `json:"min,omitempty"`
	Max         string   `json:"max,omitempty"`
	Environment string   `json:"environment,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Summary     string   `json:"summary"`
}

// Environment is an environment variable that counts.
type Environment struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// ExitCode is what an exit code means.
type ExitCode struct {
	Code    int    `json:"code"`
	Meaning string `json:"meaning"`
}

// NewManifest makes the manifest from the command tree.
func NewManifest(version string) (Manifest, error) {
	var root tree
	k, err := newParser(&root, func(string) string { return "" })
	if err != nil {
		return Manifest{}, err
	}
	m := prose()
	m.Name, m.Version, m.SchemaVersion = "proofreel", version, contract.SchemaVersion
	m.GlobalFlags = parametersOf(k.Model.Flags)
	m.Errors = fault.Table()
	for _, n := range k.Model.Leaves(true) {
		m.Commands = append(m.Commands, commandOf(n))
	}
	return m, nil
}

// Group is what COMMAND --help tells a program of a command that has several.
type Group struct {
	Name          string      `json:"name"`
	Version       string      `json:"version"`
	SchemaVersion int         `json:"schemaVersion"`
	Commands      []Command   `json:"commands"`
	GlobalFlags   []Parameter `json:"globalFlags"`
	ExitCodes     []ExitCode  `json:"exitCodes"`
}

// group gives the part of the manifest that is about the commands below one.
func (m Manifest) group(command string) (Group, bool) {
	g := Group{m.Name, m.Version, m.SchemaVersion, nil, m.GlobalFlags, m.ExitCodes}
	for _, c := range m.Commands {
		if strings.HasPrefix(c.Name, command+" ") {
			g.Commands = append(g.Commands, c)
		}
	}
	return g, len(g.Commands) > 0
}

// part gives one command's part of the manifest.
func (m Manifest) part(command string) (Part, bool) {
	for _, c := range m.Commands {
		if c.Name == command {
			return Part{m.Name, m.Version, m.SchemaVersion, c, m.GlobalFlags, m.ExitCodes}, true
		}
	}
	return Part{}, false
}

func commandOf(n *kong.Node) Command {
	c := Command{
		Name: nameOf(n), Usage: usageOf(n), Summary: n.Help,
		Arguments: []Parameter{}, Flags: parametersOf(n.Flags),
		Effects:  strings.Split(n.Tag.Get("effects"), ","),
		Failures: strings.Split(n.Tag.Get("failures"), ","),
	}
	for _, v := range n.Positional {
		c.Arguments = append(c.Arguments, parameterOf(v))
	}
	return c
}

func parametersOf(flags []*kong.Flag) []Parameter {
	all := []Parameter{}
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		p := parameterOf(f.Value)
		if f.Short != 0 {
			p.Short = "-" + string(f.Short)
		}
		p.Placeholder = f.PlaceHolder
		all = append(all, p)
	}
	return all
}

func parameterOf(v *kong.Value) Parameter {
	p := Parameter{
		Name: where(v), Required: v.Required, Default: v.Default, DefaultText: v.Tag.Get("otherwise"),
		Min: v.Tag.Get("min"), Max: v.Tag.Get("max"),
		Environment: v.Tag.Get("fromenv"), Summary: v.Help,
	}
	if k, ok := v.Target.Interface().(kinder); ok {
		p.Type = k.kind()
	}
	if a := v.Tag.Get("allowed"); a != "" {
		p.Allowed = strings.Split(a, ",")
	}
	if several, ok := v.Target.Interface().(interface{ values() []string }); ok {
		p.Allowed = several.values()
	}
	return p
}

// usageOf shows how a command is written.
func usageOf(n *kong.Node) string {
	words := []string{"proofreel", nameOf(n)}
	for _, v := range n.Positional {
		word := where(v)
		if a := v.Tag.Get("allowed"); a != "" && len(a) < 12 {
			word = strings.ReplaceAll(a, ",", "|")
		}
		if !v.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	optional := false
	for _, f := range n.Flags {
		if f.Required {
			words = append(words, where(f.Value)+" "+f.PlaceHolder)
			continue
		}
		optional = true
	}
	if optional {
		words = append(words, "[flags]")
	}
	return strings.Join(words, " ")
}
