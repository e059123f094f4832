package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// errPanic marks a fault of our own.
var errPanic = errors.New("panic")

// reply is what an action found or did.
type reply struct {
	data   any    // the command line's data
	text   string // the same for people, short
	blocks []mcp.Content
}

// call answers one call of the tool. Whatever goes wrong is the tool's answer,
// so that the model can read it and mend it.
func (s *session) call(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, _ error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() // told to end, we don't wait for long calls
	defer func() {
		if r := recover(); r != nil {
			s.Log.Error("panic", "value", r, "stack", string(debug.Stack()))
			res = s.failure("", fmt.Errorf("%w: %v", errPanic, r))
		}
	}()
	r, err := parse(req.Params.Arguments, s.args)
	if err != nil {
		return s.failure("", err), nil
	}
	rep, err := s.run(ctx, r, progressTo(ctx, req))
	if err != nil {
		return s.failure(r.action, err), nil
	}
	return &mcp.CallToolResult{
		Content:           append([]mcp.Content{&mcp.TextContent{Text: rep.text}}, rep.blocks...),
		StructuredContent: rep.data,
	}, nil
}

// run does what a request asks for.
func (s *session) run(ctx context.Context, r request, progress func(contract.Progress)) (reply, error) {
	switch r.action {
	case "start":
		return s.start(ctx, r)
	case "list":
		res, err := s.Recorder.List(ctx)
		return reply{data: res, text: listText(res)}, err //nolint:wrapcheck // it is the user's error already
	}
	id, err := s.find(r.action, r.recordingID)
	if err != nil {
		return reply{}, err
	}
	switch r.action {
	case "step", "result":
		return s.event(ctx, r, id)
	case "status":
		res, err := s.Recorder.Status(ctx, id)
		return reply{data: res, text: statusText(res)}, err //nolint:wrapcheck // it is the user's error already
	default:
		return s.deliver(ctx, id, progress)
	}
}

// start starts a recording that ends with this process, however it ends.
func (s *session) start(ctx context.Context, r request) (reply, error) {
	o, err := s.ParseStart(r.flags)
	if err != nil {
		return reply{}, err
	}
	o.UntilPID = os.Getpid()
	res, err := s.Recorder.Start(ctx, o)
	if err != nil {
		return reply{}, err //nolint:wrapcheck // it is the user's error already
	}
	s.own(res.RecordingID)
	if ctx.Err() == nil {
		return reply{data: res, text: startText(res)}, nil
	}
	// The client has taken the call back and will not read the answer: it would
	// not know what to stop.
	_, err = s.stop(context.WithoutCancel(ctx), res.RecordingID, supervisor.StopOptions{})
	return reply{}, errors.Join(fault.New(fault.StartFailed, "Start again.", "the start was interrupted"), err)
}

func (s *session) event(ctx context.Context, r request, id string) (reply, error) {
	if r.action == "step" {
		res, err := s.Recorder.Step(ctx, id, r.text)
		return reply{data: res, text: eventText(res)}, err //nolint:wrapcheck // it is the user's error already
	}
	res, err := s.Recorder.Result(ctx, id, r.pass, r.text)
	return reply{data: res, text: eventText(res)}, err //nolint:wrapcheck // it is the user's error already
}

// deliver ends a recording and shows its film. A clip that fails takes nothing
// from the film.
func (s *session) deliver(ctx context.Context, id string, progress func(contract.Progress)) (reply, error) {
	res, err := s.stop(ctx, id, supervisor.StopOptions{Progress: progress})
	if err != nil {
		return reply{}, err
	}
	var clip Clip
	if s.Clipper != nil {
		if clip, err = s.Clipper.Clip(ctx, res.Result.RecordingID); err != nil {
			s.Log.Warn("no clip", "recordingId", id, "err", err)
			clip = Clip{Notes: []string{"There is no clip: " + terms(fault.As(err).Message)}}
		}
	}
	return reply{data: res.Data, text: stopText(res.Result, clip), blocks: stopBlocks(res.Result, clip)}, nil
}

// failure is an error as the tool's answer: in words, and as the command line
// gives it.
func (s *session) failure(action string, err error) *mcp.CallToolResult {
	e := explain(err)
	text := e.Message + "."
	if e.Hint != "" {
		text += " " + e.Hint
	}
	if e.Artifact != "" {
		text += " Safe in spite of it: " + e.Artifact
	}
	envelope := contract.Failure(s.Version, action, e)
	return &mcp.CallToolResult{
		IsError:           true,
		Content:           []mcp.Content{&mcp.TextContent{Text: text}},
		StructuredContent: encode(map[string]any{"error": envelope.Error}),
	}
}

// progressTo reports progress to a client that asked for it.
func progressTo(ctx context.Context, req *mcp.CallToolRequest) func(contract.Progress) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(p contract.Progress) { // progress that is lost is worth no failure
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Message: p.Phase, Progress: float64(p.Step), Total: float64(p.TotalSteps),
		})
	}
}
