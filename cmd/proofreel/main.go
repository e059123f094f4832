// Command proofreel records what an agent does on a screen. All of it lies in
// internal/cli.
package main

import (
	"os"

	"github.com/proofreel/proofreel/internal/cli"
)

// version is set when a release is built: -ldflags "-X main.version=1.2.3".
var version string

func main() { os.Exit(cli.Main(version)) }
