package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/proofreel/proofreel/internal/fault"
)

// What a call says must reach the recorder, and without an id the recording
// that this client started is meant.
func TestWorkflow(t *testing.T) {
	c := connect(t, nil)
	res := c.must(`{"action":"start","url":"http://localhost:3000","fps":10,"maxDuration":"90s","box":"local"}`)
	if want := "--url=http://localhost:3000 --fps=10 --max-duration=90s"; c.rec.options.Name != want {
		t.Errorf("start was given %q, want %q", c.rec.options.Name, want)
	}
	if c.rec.options.UntilPID != os.Getpid() {
		t.Error("the recording would outlive a server that is killed")
	}
	if !strings.Contains(words(res), "rec-1") || !strings.Contains(words(res), "agent-browser --session pr-1") {
		t.Errorf("the text of start lacks what the next call needs: %s", words(res))
	}
	c.must(`{"action":"step","text":"--verbose is on"}`)
	c.must(`{"action":"result","pass":false,"text":"it is not"}`)
	c.must(`{"action":"status"}`)
	c.must(`{"action":"stop"}`)
	c.must(`{"action":"stop"}`)
	if want := "start rec-1; step rec-1 --verbose is on; result rec-1 false it is not; stop rec-1; stop rec-1"; c.rec.noted() != want {
		t.Errorf("got %s\nwant %s", c.rec.noted(), want)
	}
	if text := words(c.must(`{"action":"list"}`)); !strings.Contains(text, "and 5 older ones") {
		t.Errorf("the text of a long list is not cut: %s", text)
	}
}

// The data must be the command line's, and the rest of the answer must let a
// person and a thread show the film.
func TestStopAnswer(t *testing.T) {
	c := connect(t, nil)
	c.must(`{"action":"start"}`)
	res := c.must(`{"action":"stop"}`)
	var got, want any
	data(t, res, &got)
	if err := json.Unmarshal([]byte(strings.Replace(stopData, "ID", "rec-1", 1)), &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("structured content (-command line +tool):\n%s", d)
	}
	text := words(res)
	for _, part := range []string{"complete", "✗ 1 at 1.2 s: <Open> & look — shut", `![log\[in\] (1), 12.3 s, complete](/films/a%20b.mp4)`} {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q:\n%s", part, text)
		}
	}
	size := int64(1234567)
	links := []mcp.Content{&mcp.ResourceLink{URI: "file:///films/a%20b.mp4", Name: "a b.mp4", Title: "The whole film", MIMEType: "video/mp4", Size: &size}}
	if d := cmp.Diff(links, res.Content[2:]); d != "" {
		t.Errorf("after the texts (-want +got):\n%s", d)
	}
}

// clipper makes clips, or fails.
type clipper struct{ err error }

func (c clipper) Clip(context.Context, string) (Clip, error) {
	return Clip{
		Markdown: "![clip](clip.mp4)", Sheet: []byte("png"), Notes: []string{"18 s were cut."},
		Files: []File{{Path: "/clips/clip.mp4", Title: "The clip", MIME: "video/mp4"}},
	}, c.err
}

// A clip must replace the film's line and add its files and its sheet; one that
// fails must not take the film away.
func TestStopWithClip(t *testing.T) {
	c := connect(t, func(o *Options, _ *fake) { o.Clipper = clipper{} })
	c.must(`{"action":"start"}`)
	res := c.must(`{"action":"stop"}`)
	if text := words(res); !strings.Contains(text, "![clip](clip.mp4)") || !strings.Contains(text, "18 s were cut.") || strings.Contains(text, "![log") {
		t.Errorf("the clip is not shown: %s", text)
	}
	var kinds []string
	for _, b := range res.Content {
		switch b := b.(type) {
		case *mcp.ResourceLink:
			kinds = append(kinds, b.URI)
		case *mcp.ImageContent:
			kinds = append(kinds, b.MIMEType+" "+string(b.Data))
		}
	}
	if d := cmp.Diff([]string{"file:///clips/clip.mp4", "file:///films/a%20b.mp4", "image/png png"}, kinds); d != "" {
		t.Errorf("links and sheet (-want +got):\n%s", d)
	}

	c = connect(t, func(o *Options, _ *fake) { o.Clipper = clipper{errors.New("no fonts")} })
	c.must(`{"action":"start"}`)
	if text := words(c.must(`{"action":"stop"}`)); !strings.Contains(text, "no fonts") || !strings.Contains(text, "![log") {
		t.Errorf("the film is not shown without its clip: %s", text)
	}
}

// The description must promise a sheet only where there is one.
func TestDescriptionPromisesWhatIsThere(t *testing.T) {
	for _, clips := range []Clipper{nil, clipper{}} {
		c := connect(t, func(o *Options, _ *fake) { o.Clipper = clips })
		res, err := c.ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(res.Tools[0].Description, "contact sheet"); got != (clips != nil) {
			t.Errorf("clips are made: %v, a sheet is promised: %v", clips != nil, got)
		}
	}
}

// Of several recordings one must be named, and nobody's is guessed.
func TestWhichRecording(t *testing.T) {
	c := connect(t, nil)
	code := func(arguments string) fault.Code {
		t.Helper()
		var e struct{ Error struct{ Code fault.Code } }
		data(t, c.do(arguments), &e)
		return e.Error.Code
	}
	if got := code(`{"action":"stop"}`); got != fault.NotFound {
		t.Errorf("stop before any start: %s", got)
	}
	c.must(`{"action":"start"}`)
	c.must(`{"action":"start"}`)
	if got := code(`{"action":"step","text":"x"}`); got != fault.Ambiguous {
		t.Errorf("step with two recordings: %s", got)
	}
	c.must(`{"action":"stop","recordingId":"rec-1"}`)
	c.must(`{"action":"step","text":"x"}`)
	c.must(`{"action":"step","text":"y","recordingId":"another"}`)
	c.must(`{"action":"stop"}`)
	if got := code(`{"action":"step","text":"x"}`); got != fault.NotFound {
		t.Errorf("step after the last stop: %s", got)
	}
	if want := "start rec-1; start rec-2; stop rec-1; step rec-2 x; step another y; stop rec-2"; c.rec.noted() != want {
		t.Errorf("got %s\nwant %s", c.rec.noted(), want)
	}
}

// A client that goes away, and a server that is told to end, must end what the
// client started and has not ended itself: that, and nothing else.
func TestEndsWithItsClient(t *testing.T) {
	for name, leave := range map[string]func(*client){
		"the client closes": func(c *client) { _ = c.Close() },
		"told to end":       func(c *client) { c.tell() },
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, nil)
			for range 3 {
				c.must(`{"action":"start"}`)
			}
			c.must(`{"action":"stop","recordingId":"rec-2"}`)
			c.must(`{"action":"step","text":"x","recordingId":"another"}`)
			before := len(c.rec.calls)
			leave(c)
			if err := c.end(); err != nil {
				t.Error(err)
			}
			after := slices.Sorted(slices.Values(c.rec.calls[before:]))
			if d := cmp.Diff([]string{"stop rec-1", "stop rec-3"}, after); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A start that is on its way when the client leaves, or takes it back, must
// leave no recording that runs on.
func TestStartInFlight(t *testing.T) {
	for _, name := range []string{"client closes", "call is taken back", "told to end"} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, func(_ *Options, f *fake) { f.starting, f.hold = make(chan struct{}), make(chan struct{}) })
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() {
				_, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: toolName, Arguments: json.RawMessage(`{"action":"start"}`)})
			}()
			<-c.rec.starting
			switch name {
			case "client closes":
				cancel() // else the client waits for its own call
				go func() { _ = c.Close() }()
			case "call is taken back":
				cancel()
			default:
				c.tell()
			}
			time.Sleep(50 * time.Millisecond) // the start is held until the word has come, or it is ended at the session's end
			close(c.rec.hold)
			if name == "call is taken back" {
				_ = c.Close()
			}
			if err := c.end(); err != nil {
				t.Error(err)
			}
			if want := "start rec-1; stop rec-1"; c.rec.noted() != want {
				t.Errorf("got %s, want %s", c.rec.noted(), want)
			}
		})
	}
}

// The wait for films must be bounded, and one that is not done must be said.
func TestEndIsBounded(t *testing.T) {
	c := connect(t, func(o *Options, f *fake) { f.hang, o.EndWithin = true, 50*time.Millisecond })
	c.must(`{"action":"start"}`)
	_ = c.Close()
	if err := c.end(); fault.As(err).Code != fault.StopTimeout {
		t.Errorf("got %v", err)
	}
}

// A stop that failed for now can be repeated without its id; one that failed
// for good is not tried again.
func TestStopFails(t *testing.T) {
	for code, again := range map[fault.Code]bool{fault.PublishFailed: true, fault.NoFrames: false} {
		c := connect(t, func(_ *Options, f *fake) { f.stopErr = fault.New(code, "Run: proofreel stop", "no") })
		c.must(`{"action":"start"}`)
		res := c.do(`{"action":"stop"}`)
		if !res.IsError || !strings.Contains(words(res), "action stop") {
			t.Errorf("%s: %s", code, words(res))
		}
		_ = c.Close()
		if err := c.end(); (err != nil) != again {
			t.Errorf("%s at the end: %v", code, err)
		}
	}
}

// A fault of our own must be an answer, not the end of the server and of every
// recording.
func TestPanic(t *testing.T) {
	c := connect(t, nil)
	var e struct{ Error struct{ Code fault.Code } }
	if data(t, c.do(`{"action":"status","recordingId":"panic"}`), &e); e.Error.Code != fault.Internal {
		t.Errorf("got %s", e.Error.Code)
	}
	c.must(`{"action":"list"}`)
}

// A client that asks for progress gets it.
func TestProgress(t *testing.T) {
	got := make(chan *mcp.ProgressNotificationParams, 1)
	c := connect(t, nil)
	here, there := mcp.NewInMemoryTransports()
	go func() {
		c.served <- serve(context.Background(), there, Options{Recorder: c.rec, Flags: testFlags(), Log: connectLog()})
	}()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { got <- r.Params },
	}).Connect(context.Background(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	p := &mcp.CallToolParams{Name: toolName, Arguments: json.RawMessage(`{"action":"stop","recordingId":"x"}`)}
	p.SetProgressToken("token")
	if _, err := s.CallTool(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	select {
	case n := <-got:
		if n.Message != "finalizing" || n.Progress != 1 || n.Total != 2 {
			t.Errorf("got %+v", n)
		}
	case <-time.After(time.Minute):
		t.Error("no progress came")
	}
}
