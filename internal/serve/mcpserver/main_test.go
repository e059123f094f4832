package mcpserver

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// bin is the product, as it is shipped.
var bin string

// asClient makes this test binary a client that starts the server and one
// recording, and then waits for its own end: to be killed.
const asClient = "MCPSERVER_TEST_CLIENT"

func TestMain(m *testing.M) {
	if os.Getenv(asClient) != "" {
		if err := beClient(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	for _, tool := range []string{"ffmpeg", "ffprobe", "Xvfb", "openbox"} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Fprintf(os.Stderr, "%s is not installed: run make install-deps\n", tool)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "proofreel-mcp-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin = filepath.Join(dir, "proofreel")
	build := exec.Command("go", "build", "-ldflags", "-X main.version=1.2.3", "-o", bin, "../../../cmd/proofreel")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the product:", err)
		return 1
	}
	return m.Run()
}

// beClient starts the server that the environment names, and a recording, and
// says which. The server's logs go into a pipe that nobody reads any more, as
// that of a dead client is; it is closed here, for in a process that dies it
// may be closed later than the server's input.
func beClient() error {
	cmd := exec.Command(os.Getenv(asClient), "mcp")
	logs, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	ctx := context.Background()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "killed"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: toolName, Arguments: json.RawMessage(small)})
	if err != nil || res.IsError {
		return fmt.Errorf("start: %w: %+v", err, res)
	}
	if err := logs.Close(); err != nil {
		return fmt.Errorf("close the pipe: %w", err)
	}
	say := map[string]any{"pid": cmd.Process.Pid, "start": res.StructuredContent}
	if err := json.NewEncoder(os.Stdout).Encode(say); err != nil {
		return fmt.Errorf("say it: %w", err)
	}
	return s.Wait()
}
