package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// fake answers as a recorder would, and notes every call that changes
// something.
type fake struct {
	mu      sync.Mutex
	calls   []string
	started int
	options supervisor.StartOptions

	starting chan struct{} // closed when a start has begun; nil: not of interest
	hold     chan struct{} // a start that began goes on when it is closed
	stopErr  error
	hang     bool // stop waits for its context's end
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
}

func (f *fake) noted() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.calls, "; ")
}

func (f *fake) Start(_ context.Context, o supervisor.StartOptions) (supervisor.StartResult, error) {
	if f.starting != nil {
		close(f.starting)
		<-f.hold
	}
	f.mu.Lock()
	f.started++
	id := fmt.Sprintf("rec-%d", f.started)
	f.options = o
	f.mu.Unlock()
	f.note("start %s", id)
	return supervisor.StartResult{RecordingID: id, Display: ":7", Size: "320x240", FPS: 10, AgentBrowserCommand: []string{"agent-browser", "--session", "pr-1"}}, nil
}

func (f *fake) Step(_ context.Context, id, text string) (supervisor.EventResult, error) {
	f.note("step %s %s", id, text)
	return supervisor.EventResult{RecordingID: id, Step: 1, Second: 1.25, Text: text}, nil
}

func (f *fake) Result(_ context.Context, id string, pass bool, text string) (supervisor.EventResult, error) {
	f.note("result %s %v %s", id, pass, text)
	return supervisor.EventResult{RecordingID: id, Step: 1, Second: 2.5, Result: map[bool]string{true: "pass", false: "fail"}[pass], Text: text}, nil
}

func (f *fake) Status(_ context.Context, id string) (supervisor.StatusResult, error) {
	if id == "panic" {
		panic("a fault of our own")
	}
	if id == "none" {
		return supervisor.StatusResult{}, fault.New(fault.NotFound, "See the recordings of this machine with: proofreel list", "there is no recording %s here", id)
	}
	return supervisor.StatusResult{RecordingID: id, Phase: "recording", SupervisorAlive: true}, nil
}

// stopData has the command line's own order and spacing, which must be kept.
const stopData = `{"recordingId":"ID","name":"log[in] (1)","path":"/films/a b.mp4","verdict":"complete","durationSeconds":12.34,"steps":[{"step":1,"text":"<Open> & look","second":1.2,"result":"fail","comment":"shut"}],"size":"320x240","bytes":1234567}`

func (f *fake) Stop(ctx context.Context, id string, o supervisor.StopOptions) (supervisor.Stopped, error) {
	f.note("stop %s", id)
	if f.hang {
		<-ctx.Done()
		return supervisor.Stopped{}, fault.New(fault.StopTimeout, "Ask again.", "the wait was interrupted")
	}
	if f.stopErr != nil {
		return supervisor.Stopped{}, f.stopErr
	}
	if o.Progress != nil {
		o.Progress(contract.Progress{Phase: "finalizing", Step: 1, TotalSteps: 2})
	}
	s := supervisor.Stopped{Data: json.RawMessage(strings.Replace(stopData, "ID", id, 1)), Effect: fault.EffectProofSaved}
	if err := json.Unmarshal(s.Data, &s.Result); err != nil {
		return s, err
	}
	return s, nil
}

func (f *fake) List(context.Context) (supervisor.ListResult, error) {
	rows := make([]supervisor.ListRow, 25)
	for i := range rows {
		rows[i] = supervisor.ListRow{RecordingID: fmt.Sprintf("rec-%d", i), Phase: "done"}
	}
	return supervisor.ListResult{Recordings: rows}, nil
}

// client is a client with a server of its own, in memory.
type client struct {
	*mcp.ClientSession
	t      *testing.T
	rec    *fake
	log    *strings.Builder
	tell   context.CancelFunc // tells the server to end
	served chan error
}

// testFlags are some of the command line's own.
func testFlags() []Flag {
	all := []Flag{{Name: "text", Max: "20", Summary: "Text."}, {Name: "fps", Min: "1", Max: "60", Default: "auto", Summary: "Frames a second of --max-duration."}}
	for _, name := range []string{"url", "display", "size", "browser", "max-duration", "name", "stills", "position"} {
		all = append(all, Flag{Name: name, Max: "100", Summary: name})
	}
	return append(all, Flag{Name: "speed", Allowed: []string{"1", "2", "4"}, Default: "1", Summary: "How fast."})
}

// connect connects a client of the SDK to a server with a fake recorder.
func connect(t *testing.T, change func(*Options, *fake)) *client {
	t.Helper()
	c := &client{t: t, rec: &fake{}, log: &strings.Builder{}, served: make(chan error, 1)}
	o := Options{
		Version: "1.2.3", Recorder: c.rec, Flags: testFlags(), EndWithin: time.Minute,
		Log: slog.New(slog.NewTextHandler(&locked{w: c.log}, nil)),
		ParseStart: func(flags []string) (supervisor.StartOptions, error) {
			if strings.Contains(strings.Join(flags, " "), "--fps=99") {
				return supervisor.StartOptions{}, fault.New(fault.InvalidValue, "Use 1 to 60, or leave out --max-duration.", `--fps: "99" is out of range`)
			}
			return supervisor.StartOptions{Name: strings.Join(flags, " ")}, nil
		},
	}
	if change != nil {
		change(&o, c.rec)
	}
	here, there := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	c.tell = cancel
	go func() { c.served <- serve(ctx, there, o) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.ClientSession = session
	t.Cleanup(func() { cancel(); _ = session.Close() })
	return c
}

// do calls the tool with arguments written in JSON.
func (c *client) do(arguments string) *mcp.CallToolResult {
	c.t.Helper()
	res, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: toolName, Arguments: json.RawMessage(arguments)})
	if err != nil {
		c.t.Fatalf("%s: %v", arguments, err)
	}
	return res
}

// must is do for what has to succeed.
func (c *client) must(arguments string) *mcp.CallToolResult {
	c.t.Helper()
	res := c.do(arguments)
	if res.IsError {
		c.t.Fatalf("%s: %s", arguments, words(res))
	}
	return res
}

// end waits for the server's end.
func (c *client) end() error {
	c.t.Helper()
	select {
	case err := <-c.served:
		return err
	case <-time.After(time.Minute):
		c.t.Fatal("the server does not end")
		return nil
	}
}

// words is the text of an answer.
func words(res *mcp.CallToolResult) string {
	var all []string
	for _, b := range res.Content {
		if t, ok := b.(*mcp.TextContent); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n")
}

// data is an answer's structured content.
func data(t *testing.T, res *mcp.CallToolResult, v any) {
	t.Helper()
	raw, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		t.Fatalf("structured content: %v", err)
	}
}

// locked lets several goroutines write.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
