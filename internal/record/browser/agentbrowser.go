package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// closePatience is how long a browser that is asked to end may do nothing.
const closePatience = 3 * time.Second

// startAgentBrowser starts agent-browser's daemon with a headed browser and
// opens the page; `open` does all of it and waits for the load event. It is
// given on stdin: a page's address may hold a password, and every user of the
// machine can read command lines.
//
// The browser starts with an empty data: page. With none it would open its
// "New Tab" page, beside which agent-browser opens a second tab; with
// about:blank the keyboard's focus would be in the address bar. In headed mode
// agent-browser sets no viewport: the page has the window's.
func (b *Browser) startAgentBrowser(ctx context.Context, o Options) error {
	name := randomName()
	b.command = []string{"agent-browser", "--namespace", name, "--session", name}
	b.left.Command = b.command
	run := namespaceDir(b.env, name)
	if err := os.WriteFile(runFile(o.Dir), []byte(run), 0o600); err != nil {
		return &StartError{Kind: b.kind, Err: fmt.Errorf("remember where agent-browser keeps its sockets: %w", err)}
	}
	args := append([]string{"data:,"}, flags(o)...)
	cli := slices.Concat(b.command[1:], []string{
		"--json", "--headed", "--idle-timeout", "0", "--profile", b.Profile(), "--args", strings.Join(args, "\n"),
	})
	if o.Resolved.Browser != "" && variable(b.env, "AGENT_BROWSER_EXECUTABLE_PATH") == "" {
		cli = append(cli, "--executable-path", o.Resolved.Browser)
	}
	if strings.HasPrefix(o.URL, "file:") {
		cli = append(cli, "--allow-file-access")
	}
	commands, err := json.Marshal([][]string{{"open", o.URL}})
	if err != nil {
		return &StartError{Kind: b.kind, Err: fmt.Errorf("write the command to open the page: %w", err)}
	}
	out, err := b.runCLI(ctx, append(cli, "batch", "--bail"), commands)
	if err != nil {
		return &StartError{Kind: b.kind, Err: err, Tail: withoutPage(explain(out), o.URL), Hint: agentBrowserHint(out)}
	}
	return b.findRoots(run, name)
}

// findRoots names the daemon and the browser that it started.
func (b *Browser) findRoots(run, name string) error {
	daemon, err := daemonOf(run, name)
	if err != nil {
		return &StartError{Kind: b.kind, Err: err}
	}
	b.left.Roots = []proc.Identity{daemon}
	for _, id := range proc.Descendants(daemon) {
		if st, err := id.Stat(); err == nil && st.PPID == daemon.PID {
			b.left.Roots = append(b.left.Roots, id)
			b.note = sandboxNote(id)
			return nil
		}
	}
	return &StartError{Kind: b.kind, Err: errors.New("the daemon runs without a browser")}
}

// runCLI runs agent-browser's command line, with commands on its stdin, and
// gives what it printed. Its output goes to a file: the daemon that it leaves
// behind may hold a pipe open.
func (b *Browser) runCLI(ctx context.Context, args []string, commands []byte) (string, error) {
	stdin, err := memoryFile(commands)
	if err != nil {
		return "", err
	}
	defer func() { _ = stdin.Close() }()
	log, err := os.CreateTemp(b.left.Dir, "agent-browser-*.log")
	if err != nil {
		return "", fmt.Errorf("make the log of agent-browser: %w", err)
	}
	defer func() {
		_ = log.Close()
		_ = os.Remove(log.Name())
	}()
	c, err := b.spawn.Start(proc.Command{Role: "agent-browser", Path: b.path, Args: args, Env: b.env, Dir: b.left.Dir, Stdin: stdin, Stdout: log, Stderr: log})
	if err != nil {
		return "", err
	}
	select {
	case <-c.Done():
	case <-ctx.Done():
		c.Kill()
		return "", context.Cause(ctx)
	}
	raw, err := os.ReadFile(log.Name())
	if err != nil {
		return "", fmt.Errorf("read the log of agent-browser: %w", err)
	}
	if err := c.Err(); err != nil {
		return string(raw), fmt.Errorf("agent-browser: %w", err)
	}
	return string(raw), nil
}

// memoryFile is a file that is on no disk and has no name, at its beginning.
func memoryFile(content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("commands", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "commands")
	if _, err = f.Write(content); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write a file in memory: %w", err)
	}
	return f, nil
}

// explain takes the message out of what agent-browser printed: a line of JSON
// with its error (a batch's is a list of one for each command), or whatever it
// was. Of a long one the end is given.
func explain(out string) string {
	const most = 2000 // bytes
	text := strings.ToValidUTF8(strings.TrimSpace(errorIn(out)), "?")
	return strings.ToValidUTF8(text[max(0, len(text)-most):], "")
}

func errorIn(out string) string {
	type answer struct {
		Error string `json:"error"`
	}
	for line := range strings.Lines(out) {
		var one answer
		if json.Unmarshal([]byte(line), &one) == nil && one.Error != "" {
			return one.Error
		}
		var all []answer
		if json.Unmarshal([]byte(line), &all) != nil {
			continue
		}
		for _, a := range all {
			if a.Error != "" {
				return a.Error
			}
		}
	}
	return out
}

func agentBrowserHint(out string) string {
	switch {
	case strings.Contains(out, "sandbox"):
		return "The browser's sandbox does not work here: allow unprivileged user namespaces, or install the browser with its setuid helper."
	case strings.Contains(out, "ERR_"):
		return "See whether the address is right and its server runs."
	case strings.Contains(out, "not found"):
		return "Install a browser with: agent-browser install"
	default:
		return "See what is wrong with: agent-browser doctor"
	}
}

func (b *Browser) closeAgentBrowser(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	if len(b.left.Roots) == 0 || !b.left.Roots[0].Alive() {
		return // `close` would start a daemon to close it
	}
	if out, err := b.runCLI(ctx, append(b.command[1:len(b.command):len(b.command)], "--json", "close"), nil); err != nil {
		b.log.Debug("agent-browser did not close", "err", err, "out", explain(out))
	}
}

// daemonOf names the daemon whose PID is noted in the namespace's directory.
// The PID is checked by the environment that agent-browser gives its daemon.
func daemonOf(namespaceDir, name string) (proc.Identity, error) {
	raw, err := os.ReadFile(filepath.Join(namespaceDir, "run", name+".pid"))
	if err != nil {
		return proc.Identity{}, fmt.Errorf("find agent-browser's daemon: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return proc.Identity{}, fmt.Errorf("find agent-browser's daemon: %w", err)
	}
	for _, id := range daemons(name) {
		if id.PID == pid {
			return id, nil
		}
	}
	return proc.Identity{}, fmt.Errorf("find agent-browser's daemon: process %d is not it: %w", pid, proc.ErrGone)
}

// daemons lists the processes that run below any daemon of this namespace,
// also one that an agent's command started anew. A shell that merely has the
// namespace in its environment is none.
func daemons(namespace string) []proc.Identity {
	return proc.WithEnv("AGENT_BROWSER_NAMESPACE="+namespace, "AGENT_BROWSER_DAEMON=1")
}

func (b *Browser) closeChromium(ctx context.Context) {
	b.child.Stop(ctx, unix.SIGTERM, closePatience, nil)
}
