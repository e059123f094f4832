// Command gendocs writes the generated pages into the directory that it is
// given: go run ./internal/cli/gendocs docs.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/proofreel/proofreel/internal/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one argument, the directory; got %d", len(args))
	}
	pages, err := cli.Docs()
	if err != nil {
		return fmt.Errorf("make the pages: %w", err)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644); err != nil { //nolint:gosec // docs are for everybody
			return fmt.Errorf("write a page: %w", err)
		}
	}
	return nil
}
