// Package mcpserver serves recordings to a Model Context Protocol client over
// a pair of streams: the tool box_record, its strict arguments, its answers,
// and the end of what a client started when that client goes away. How a film
// is made lies in the products and how values are read in the command line;
// nothing here films, and nothing here prints. The protocol's library is
// imported here and nowhere else.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// drain is how long calls in flight may take to end. A start that is broken off
// takes the longest: it cleans up what it has started.
const drain = 20 * time.Second

// Recorder does what the tool asks for. Every id is given, never empty.
type Recorder interface {
	Start(ctx context.Context, o supervisor.StartOptions) (supervisor.StartResult, error)
	Step(ctx context.Context, id, text string) (supervisor.EventResult, error)
	Result(ctx context.Context, id string, pass bool, text string) (supervisor.EventResult, error)
	Status(ctx context.Context, id string) (supervisor.StatusResult, error)
	Stop(ctx context.Context, id string, o supervisor.StopOptions) (supervisor.Stopped, error)
	List(ctx context.Context) (supervisor.ListResult, error)
}

// Clipper makes the clip of a recording that has ended, with the options that
// its start was given. Making it again replaces it.
type Clipper interface {
	Clip(ctx context.Context, recordingID string) (Clip, error)
}

// Clip is what a person and a model are shown of a recording.
type Clip struct {
	Markdown string // one line that shows the clip in a Markdown thread
	Files    []File // the clip first
	Sheet    []byte // contact sheet, PNG; empty: there is none
	Notes    []string
}

// File is a file on this machine that an answer links to.
type File struct {
	Path  string // absolute
	Title string
	MIME  string
	Bytes int64 // 0: not known
}

// Flag is what the command line says of a flag or an argument that the tool
// takes as well, so that the two can't drift apart.
type Flag struct {
	Name      string // max-duration
	Summary   string
	Default   string
	Otherwise string   // the default in words, where it depends on something
	Allowed   []string // the values of a choice
	Min, Max  string   // as the command line writes them
}

// Options is what a server works with.
type Options struct {
	Version  string
	Recorder Recorder
	// Flags are start's flags and step's text, of which the tool takes its own.
	Flags []Flag
	// ParseStart reads start's flags, each --name=value, as the command line
	// does. It has no effect.
	ParseStart func(flags []string) (supervisor.StartOptions, error)
	// Clipper is nil where no clips are made: then the tool promises none.
	Clipper Clipper
	Log     *slog.Logger
	// EndWithin is for how long the films of a client that went away are
	// waited for; 0: a minute. A film that takes longer is finished by its own
	// supervisor.
	EndWithin time.Duration
}

// Serve serves one client that talks to us by in and out. It returns when the
// client has gone, or ctx has ended, and the recordings which that client
// started have ended as well; an error then says which of them is not known to
// have. Nothing but the protocol is written to out. in is closed at the end.
func Serve(ctx context.Context, in io.ReadCloser, out io.Writer, o Options) error {
	return serve(ctx, &mcp.IOTransport{Reader: in, Writer: output{out}}, o)
}

func serve(ctx context.Context, transport mcp.Transport, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.EndWithin == 0 {
		o.EndWithin = time.Minute
	}
	args, err := arguments(o.Flags)
	if err != nil {
		return err
	}
	s := &session{Options: o, args: args, ctx: ctx}
	conn, err := s.server().Connect(ctx, &watched{transport, cancel}, nil)
	if err != nil {
		return fmt.Errorf("meet the client: %w", err)
	}
	o.Log.Info("serving a client", "version", o.Version)

	gone := make(chan error, 1)
	go func() { gone <- conn.Wait() }() // returns when no call is in flight any more
	select {
	case err = <-gone:
	case <-ctx.Done():
	}
	return s.leave(conn, gone, err)
}

// leave ends what was started here, now, and once more after the calls in
// flight: one of them may have started another.
func (s *session) leave(conn *mcp.ServerSession, gone <-chan error, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.EndWithin)
	defer cancel()
	if s.ctx.Err() != nil {
		go func() { _ = conn.Close() }() // it waits for the calls in flight, which were told to end
		_ = s.end(ctx)                   // what fails stays open, and is tried again below
		select {
		case err = <-gone:
		case <-time.After(drain): // nobody reads its answer
			err = errors.New("a call did not end")
		}
	}
	if err != nil { // the client is gone all the same
		s.Log.Warn("the connection broke", "err", err)
	}
	return s.end(ctx)
}

// server makes the library's server, for this session alone.
func (s *session) server() *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "proofreel", Title: "Proofreel", Version: s.Version},
		&mcp.ServerOptions{
			Instructions: instructions,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // the tools never change
		})
	server.AddTool(s.tool(), s.call)
	return server
}
