package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/supervisor"
	"github.com/proofreel/proofreel/internal/serve/mcpserver"
)

func (*mcpCmd) run(ctx context.Context, c *call) (answer, error) {
	r, err := c.Open()
	if err != nil {
		return answer{}, err
	}
	flags, err := mcpFlags()
	if err != nil {
		return answer{}, err
	}
	clips, err := c.Clips()
	if err != nil {
		return answer{}, err
	}
	return answer{effect: fault.EffectNone}, c.ServeMCP(ctx, mcpserver.Options{
		Version: c.Version, Recorder: r, Flags: flags, Clipper: shownClips{clips},
		ParseStart: func(flags []string) (supervisor.StartOptions, error) { return parseStart(flags, c.Deps) },
	})
}

// shownClips makes the clips that the tool's stop shows.
type shownClips struct{ clips Clipper }

// Clip implements mcpserver.Clipper.
func (s shownClips) Clip(ctx context.Context, id string) (mcpserver.Clip, error) {
	raw, err := s.clips.AfterStop(ctx, id, true)
	if err != nil {
		return mcpserver.Clip{}, err //nolint:wrapcheck // it is the user's error already
	}
	var res clip.Result
	if err := json.Unmarshal(raw, &res); err != nil {
		return mcpserver.Clip{}, fmt.Errorf("read the answer of the clip: %w", err)
	}
	shown := mcpserver.Clip{Markdown: res.Markdown, Notes: res.Notes, Files: []mcpserver.File{
		{Path: res.Path, Title: "The clip", MIME: "video/mp4", Bytes: res.Bytes},
		{Path: res.Page, Title: "Its page", MIME: "text/html"},
		{Path: res.Transcript, Title: "Its transcript", MIME: "application/json"},
	}}
	if res.Sheet == "" {
		return shown, nil
	}
	if shown.Sheet, err = os.ReadFile(res.Sheet); err != nil {
		shown.Notes = append(shown.Notes, "The contact sheet can't be read: "+err.Error())
	}
	return shown, nil
}

// serveMCP serves the client that has started us. A client that was killed
// leaves pipes that nobody reads: a log line there must not kill us in turn,
// before its recordings have ended.
func serveMCP(ctx context.Context, o mcpserver.Options) error {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // not ignored: children would inherit that
	defer signal.Stop(broken)
	o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	return mcpserver.Serve(ctx, os.Stdin, os.Stdout, o) //nolint:wrapcheck // it says what it was doing
}

// mcpFlags are the flags and arguments that the tool of mcp takes as well.
func mcpFlags() ([]mcpserver.Flag, error) {
	m, err := NewManifest("")
	if err != nil {
		return nil, err
	}
	start, ok := m.part("start")
	step, found := m.part("step")
	if !ok || !found {
		return nil, fmt.Errorf("the manifest lacks start or step")
	}
	var all []mcpserver.Flag
	for _, p := range append(start.Command.Flags, step.Command.Arguments...) {
		all = append(all, mcpserver.Flag{
			Name: strings.ToLower(strings.TrimPrefix(p.Name, "--")), Summary: p.Summary,
			Default: p.Default, Otherwise: p.DefaultText, Allowed: p.Allowed, Min: p.Min, Max: p.Max,
		})
	}
	return all, nil
}

// parseStart reads the flags of start as the command line does, without any
// effect.
func parseStart(flags []string, deps Deps) (supervisor.StartOptions, error) {
	c, err := parse(append([]string{"start"}, flags...), deps)
	if err != nil {
		return supervisor.StartOptions{}, err
	}
	s, ok := c.command.(*startCmd)
	if !ok {
		return supervisor.StartOptions{}, fmt.Errorf("start was understood as %s", c.name)
	}
	if err := s.check(c); err != nil {
		return supervisor.StartOptions{}, err
	}
	return s.options(), nil
}
