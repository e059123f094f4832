package display

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// startXvfb starts the server and learns its number from -displayfd: the
// server picks a free one itself, so two starts can't race for it.
func (d *Own) startXvfb(ctx context.Context, spawn *proc.Spawner) error {
	const hint = "Install Xvfb: the package is xvfb (Debian, Ubuntu, Alpine), xorg-x11-server-Xvfb (Fedora) or xorg-server-xvfb (Arch)."
	path, err := exec.LookPath("Xvfb")
	if err != nil {
		return &StartError{Part: PartXvfb, Hint: hint, Err: err}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return &StartError{Part: PartXvfb, Err: fmt.Errorf("make a pipe: %w", err)}
	}
	defer func() { _ = r.Close() }()
	tail := &proc.Tail{}
	d.Xvfb, err = spawn.Start(proc.Command{
		Role: RoleXvfb, Path: path, Env: d.env, Dir: d.dir, Stderr: tail, Files: []*os.File{w},
		Args: []string{
			"-displayfd", "3", "-auth", d.serverCookie(), "-nolisten", "tcp", "-noreset", "-dpi", "96",
			"-screen", "0", fmt.Sprintf("%dx%dx24", d.Width, d.Height),
		},
	})
	_ = w.Close() // the server's end is its own: its death ends our read
	if err != nil {
		return &StartError{Part: PartXvfb, Err: err}
	}
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err == nil {
		d.Number, err = strconv.Atoi(strings.TrimSpace(line))
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &StartError{Part: PartXvfb, Err: context.Cause(ctx), Tail: tail.String()}
	default:
		d.Xvfb.Kill() // it has closed its pipe: it is ending, and its last words are due
		return &StartError{Part: PartXvfb, Err: ended(d.Xvfb, "it gave no display number"), Tail: tail.String()}
	}
}

func (d *Own) startOpenbox(ctx context.Context, spawn *proc.Spawner, c *client) error {
	path, err := exec.LookPath("openbox")
	if err != nil {
		return &StartError{Part: PartOpenbox, Hint: "Install openbox: the package is openbox in every distribution.", Err: err}
	}
	if err := os.WriteFile(d.settings(), openboxSettings, 0o600); err != nil {
		return &StartError{Part: PartFiles, Err: fmt.Errorf("write the window manager's settings: %w", err)}
	}
	if err := os.MkdirAll(d.home(), 0o700); err != nil {
		return &StartError{Part: PartFiles, Err: fmt.Errorf("make the window manager's directory: %w", err)}
	}
	// Its own directories: the user's settings, sessions and log stay untouched.
	env := append(d.Env(), "XDG_CONFIG_HOME="+d.home(), "XDG_CACHE_HOME="+d.home(), "XDG_DATA_HOME="+d.home())
	tail := &proc.Tail{}
	d.Openbox, err = spawn.Start(proc.Command{
		Role: RoleOpenbox, Path: path, Env: env, Dir: d.dir, Stderr: tail,
		Args: []string{"--config-file", d.settings(), "--sm-disable"},
	})
	if err != nil {
		return &StartError{Part: PartOpenbox, Err: err}
	}
	return d.awaitOpenbox(ctx, c, tail)
}

func (d *Own) awaitOpenbox(ctx context.Context, c *client, tail *proc.Tail) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		ready, err := c.hasWM()
		if err != nil {
			return &StartError{Part: PartConnect, Err: err}
		}
		if ready {
			return nil
		}
		select {
		case <-ctx.Done():
			return &StartError{Part: PartOpenbox, Err: context.Cause(ctx), Tail: tail.String()}
		case <-d.Openbox.Done():
			return &StartError{Part: PartOpenbox, Err: ended(d.Openbox, "it ended"), Tail: tail.String()}
		case <-tick.C:
		}
	}
}

func ended(c *proc.Child, what string) error {
	if err := c.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return errors.New(what)
}
