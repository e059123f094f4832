// Command hostile is what a hijacked agent brings into its box: the attacks
// that no shell can make. The tests of e2e/attacks lay it into a box, and play
// the model that tells the runner to start it. It is never built into the
// product.
//
// It prints one line for each attack, "= ID RESULT", and believes nothing: what
// counts is what the outside saw.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Println("hostile ROLE [ARGUMENT]")
		os.Exit(2)
	}
	arg := ""
	if len(os.Args) > 2 {
		arg = os.Args[2]
	}
	roles := map[string]func(string) error{
		"requests": requests, "probe": probe, "reach": reach, "search": search, "report": reports,
		"film": film, "poster": poster, "do": do, "runner": runner,
	}
	role, ok := roles[os.Args[1]]
	if !ok {
		fmt.Println("no role", os.Args[1])
		os.Exit(2)
	}
	if err := role(arg); err != nil {
		fmt.Println("!", err)
		os.Exit(1)
	}
}

// runner stands in the runner's place: what no tool call can do, since there
// the real one holds the report's connection.
func runner(string) error {
	if err := os.MkdirAll("/work/out", 0o755); err != nil { //nolint:gosec // the box has one user
		return fmt.Errorf("make the film's folder: %w", err)
	}
	return errors.Join(reports(""), film("good"))
}

// say prints a result. Names are words there.
func say(id, format string, args ...any) {
	text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	if len(text) > 60 {
		text = text[:60]
	}
	fmt.Println("=", strings.ReplaceAll(id, " ", "_"), text)
}

func load(path string, v any) error {
	raw, err := os.ReadFile(path) //nolint:gosec // the test names it
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// probe runs the product's own conformance probe from here, beside the runner,
// and tells of each case whether it is open.
func probe(targets string) error {
	cmd := exec.Command(sandbox.Program, "box", "probe", targets) //nolint:noctx,gosec // the box has a clock, and the test names the file
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	seen, err := sandbox.ReadProbe(string(out))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	for _, o := range seen {
		state := 0
		if o.Open {
			state = 1
		}
		fmt.Fprintf(w, "~%s %d\n", o.ID, state)
	}
	return w.Flush()
}
