package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/author"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/bwrap"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/gateway"
	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/job"
	"github.com/proofreel/proofreel/internal/studio/ledger"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
	"github.com/proofreel/proofreel/internal/studio/screen"
	"github.com/proofreel/proofreel/internal/studio/workflow"
	"github.com/proofreel/proofreel/internal/studio/workflow/inproc"
)

// The tests run in real boxes, and boxes need the real program: it is built
// once. programVar names it for the process that is going to be killed.
const (
	programVar = "WORKFLOWTEST_PROGRAM"
	serverVar  = "WORKFLOWTEST_SERVER" // the state directory of that process
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(serverVar); dir != "" {
		serve(dir)
	}
	os.Exit(withProgram(m))
}

func withProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", "workflow-test-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		program := filepath.Join(dir, "proofreel")
		build := exec.Command("go", "build", "-trimpath", "-o", program, "../../../cmd/proofreel")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, fail := build.CombinedOutput(); fail != nil {
			err = fmt.Errorf("%w: %s", fail, out)
		}
		err = errors.Join(err, os.Chmod(dir, 0o755), os.Setenv(programVar, program)) // boxes have users of their own
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// bench is a workflow with what it needs, in directories of its own.
type bench struct {
	*workflow.Workflow
	dir    string
	box    executor.Executor
	events []workflow.Event
	mu     sync.Mutex
}

func openBox(dir string) (executor.Executor, error) {
	return bwrap.Open(context.Background(), cell.Config{Dir: filepath.Join(dir, "boxes"), Exe: os.Getenv(programVar)}, "")
}

// newBench opens a workflow; a nil executor is bubblewrap.
func newBench(t *testing.T, up gateway.Upstream, box executor.Executor) *bench {
	t.Helper()
	dir, err := os.MkdirTemp("", "wf-") // short: sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if box == nil {
		if box, err = openBox(dir); err != nil {
			t.Fatalf("%v: apt-get install bubblewrap", err)
		}
	}
	return openBench(t, dir, up, box)
}

func openBench(t *testing.T, dir string, up gateway.Upstream, box executor.Executor) *bench {
	t.Helper()
	b := &bench{dir: dir, box: box}
	var err error
	if b.Workflow, err = workflow.Open(config(t.Output(), dir, up, box)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Close()
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

const paidModel = "claude-haiku-5-5"

func config(log interface{ Write([]byte) (int, error) }, dir string, up gateway.Upstream, box executor.Executor) workflow.Config {
	prices, err := price.Default()
	if err == nil {
		prices, err = prices.With(price.Model{Name: author.Model, MaxOutput: 32_000})
	}
	if err != nil {
		panic(err)
	}
	return workflow.Config{
		Executor: box, Upstream: up, Prices: &prices, Dir: filepath.Join(dir, "jobs"),
		BoxLog: func(_ string, p []byte) { _, _ = log.Write(p) },
	}
}

// order is a small film, which takes seconds.
func order(out string) workflow.Order {
	return workflow.Order{
		ID: "test-1", Prompt: "A launch film for Lumen, a database that answers before you ask. Fast, small.",
		Seconds: 1, Width: 320, Height: 180, Style: "swiss", Film: filepath.Join(out, "film.mp4"), Poster: filepath.Join(out, "film.jpg"),
		Tier: workflow.Tier{
			Name: "test", Model: author.Model, ScreenModel: author.Model, Budget: ledger.Dollar, ScreenBudget: ledger.Dollar,
			Turns: 20, Wall: 3 * time.Minute,
		},
	}
}

func (b *bench) run(ctx context.Context, o workflow.Order, tell func(workflow.Event)) (workflow.Result, error) {
	return b.Run(ctx, o, func(e workflow.Event) {
		b.mu.Lock()
		b.events = append(b.events, e)
		b.mu.Unlock()
		if tell != nil {
			tell(e)
		}
	})
}

// phases lists the phases in their order, each once in a row.
func (b *bench) phases() []job.Phase {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []job.Phase
	for _, e := range b.events {
		if len(all) == 0 || all[len(all)-1] != e.Phase {
			all = append(all, e.Phase)
		}
	}
	return all
}

// checkGone finds what a job should not have left: files, sockets, journals,
// boxes, or a process with one of them in its name.
func (b *bench) checkGone(t *testing.T) {
	t.Helper()
	for _, d := range []string{"jobs/jobs", "jobs/journals", "boxes/boxes"} {
		entries, err := os.ReadDir(filepath.Join(b.dir, d))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		for _, e := range entries {
			t.Errorf("%s/%s is left", d, e.Name())
		}
	}
	left, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), b.dir+"/boxes/boxes") {
			t.Errorf("%s is left: %s", path, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
}

// template is the template author as an upstream.
func template(t *testing.T) gateway.Upstream {
	t.Helper()
	l := inproc.Listen()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := author.New(author.Options{}).Serve(ctx, l); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return gateway.Upstream{BaseURL: "http://template.invalid", Dial: l.Dial}
}

// scripted is an upstream that passes the screen, and then does as it is told.
func scripted(t *testing.T, play func(gatewaytest.Request) gatewaytest.Reply) (gateway.Upstream, *gatewaytest.Upstream) {
	t.Helper()
	pass := string(screen.Answer{Brief: true, Category: screen.None}.JSON())
	up := gatewaytest.New(func(r gatewaytest.Request) gatewaytest.Reply {
		if !r.Streaming() {
			return gatewaytest.Message(pass, gatewaytest.Usage(10, 10))
		}
		return play(r)
	})
	t.Cleanup(up.Close)
	return gateway.Upstream{BaseURL: up.URL}, up
}

// noBox is an executor that notes what it is to start, and starts nothing.
type noBox struct {
	mu    sync.Mutex
	specs []sandbox.Spec
}

func (*noBox) Name() string                                  { return "none" }
func (*noBox) Probe(context.Context) (sandbox.Report, error) { return sandbox.Report{}, nil }
func (*noBox) Reap(context.Context) (int, error)             { return 0, nil }
func (*noBox) Close() error                                  { return nil }
func (n *noBox) Start(_ context.Context, s sandbox.Spec) (executor.Box, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.specs = append(n.specs, s)
	for _, d := range s.Doors { // whoever is let in can connect
		c, err := net.Dial("unix", d.Socket)
		if err != nil {
			return nil, err
		}
		_ = c.Close()
	}
	return nil, fmt.Errorf("%w: there is none", executor.ErrStart)
}
