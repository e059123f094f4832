// Package cli is the command line: the command tree, its strict parser, the
// manifest and the docs that are made from it, and the printing of answers,
// as JSON for programs or as words for people. What the commands do lies in
// the products; nothing here records, and nothing else prints.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// Stdio is where a command prints.
type Stdio struct {
	Out, Err       io.Writer
	OutTTY, ErrTTY bool // whether a person looks at it
	Width          int  // of the terminal, in columns
	Colour         bool // wanted, where a person looks
}

// Main runs the program's command line and gives its exit code. version may be
// empty: then the one that the Go tool noted in the binary counts.
func Main(version string) int {
	if code, handled := runBox(os.Args[1:], os.Stdout, os.Stderr); handled {
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if code, handled := runAgent(ctx, os.Args[1:], os.Stdout, os.Stderr); handled {
		return code
	}
	return Run(ctx, os.Args[1:], realDeps(buildVersion(version)), realStdio())
}

// buildVersion gives the version of a binary that was built without one: its
// module's, or its commit's.
func buildVersion(version string) string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case version != "":
		return version
	case ok && info.Main.Version != "" && info.Main.Version != "(devel)":
		return strings.TrimPrefix(info.Main.Version, "v")
	default:
		return "0.0.0-dev"
	}
}

func realStdio() Stdio {
	s := Stdio{
		Out: os.Stdout, Err: os.Stderr,
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())), ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Width:  80,
		Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
	if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && w > 0 {
		s.Width = w
	}
	return s
}

// sleep waits for d, or gives the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait: %w", ctx.Err())
	case <-t.C:
		return nil
	}
}

// printer shows what a command says. There is one for programs and one for
// people.
type printer interface {
	progress(p contract.Progress)
	watching(s supervisor.StatusResult)
	working(p contract.Progress)
	making(p contract.Progress)
	success(command string, a answer) error
	failure(command string, a answer, err error)
}

// Run runs one command line and gives its exit code. It prints at most one
// answer to stdio.Out, and none when it fails.
func Run(ctx context.Context, args []string, deps Deps, stdio Stdio) (code int) {
	var p printer = &jsonPrinter{stdio: stdio, version: deps.Version}
	if wantsText(args, deps.Getenv, stdio.OutTTY) {
		p = newTextPrinter(stdio)
	}
	name := "proofreel"
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stdio.Err, "%s\n", debug.Stack())
			code = fail(p, name, answer{}, fmt.Errorf("panic: %v", r))
		}
	}()

	c, err := parse(args, deps)
	name = c.name
	if err != nil {
		return fail(p, name, answer{}, err)
	}
	c.progress, c.watching, c.working, c.making = p.progress, p.watching, p.working, p.making
	a, err := c.command.run(ctx, c)
	if err != nil {
		return fail(p, name, a, interrupted(ctx, name, err))
	}
	if name == "supervise" || name == "finish" || name == "mcp" {
		return fault.ExitOK // what they do shows elsewhere
	}
	if err := p.success(name, a); err != nil {
		e := fault.Wrap(err, fault.Internal, "The command itself has succeeded; make room for its answer, and ask with status or list.", "the answer could not be printed")
		return fail(p, name, answer{}, e.WithEffect(a.effect))
	}
	return fault.ExitOK
}

func fail(p printer, name string, a answer, err error) int {
	p.failure(name, a, err)
	return fault.Lookup(fault.As(err).Code).Exit
}

// interrupted makes a clear error of a command that a signal broke off. What
// the command itself says of it is kept.
func interrupted(ctx context.Context, name string, err error) error {
	var own *fault.Error
	if ctx.Err() == nil || errors.As(err, &own) && own.Code != fault.Internal {
		return err
	}
	switch name {
	case "start":
		return fault.Wrap(err, fault.Interrupted, "See with list whether it runs; if so, discard or stop it.",
			"start was interrupted").WithEffect(fault.EffectStartUncertain)
	case "stop", "recover":
		return fault.Wrap(err, fault.Interrupted, "The recording goes on to its end by itself; run the same command again for the answer.",
			"%s was interrupted", name)
	case "render", "still", "sheet", "scene check", "scene preview":
		return fault.Wrap(err, fault.Interrupted, "Run the command again.", "%s was interrupted", name)
	case "generate", "setup", "doctor":
		return fault.Wrap(err, fault.Interrupted, "Nothing was changed; run it again.", "%s was interrupted", name)
	default:
		return fault.Wrap(err, fault.Interrupted, "The recording goes on; run the command again.", "%s was interrupted", name)
	}
}

// wantsText says whether answers are for people, from a command line that may
// be wrong: what can't be understood is answered for programs.
func wantsText(args []string, getenv func(string) string, tty bool) bool {
	mode, given := getenv("PROOFREEL_OUTPUT"), 0
	for i, a := range args {
		if a == "--" {
			break
		}
		if v, ok := strings.CutPrefix(a, "--output="); ok {
			mode = v
			given++
		} else if a == "--output" && i+1 < len(args) {
			mode = args[i+1]
			given++
		}
	}
	return given < 2 && (mode == "text" || (mode == "auto" || mode == "") && tty)
}
