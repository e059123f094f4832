package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// small starts a recording that costs little.
const small = `{"action":"start","browser":"none","size":"320x240","fps":10,"maxDuration":"5m"}`

// box is one user's place for recordings, and the product in it.
type box struct {
	t   *testing.T
	dir string // where recordings are kept
	env []string
}

func newBox(t *testing.T) *box {
	t.Helper()
	dir, err := os.MkdirTemp("", "pr")
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, dir: filepath.Join(dir, "home")}
	b.env = append(os.Environ(), "PROOFREEL_HOME="+b.dir, "PROOFREEL_OUT="+filepath.Join(dir, "clips"), "PROOFREEL_OUTPUT=json")
	t.Cleanup(func() {
		entries, _ := os.ReadDir(filepath.Join(b.dir, "recordings"))
		for _, e := range entries { // whatever a failed test left
			proc.KillAll(proc.Marked(e.Name()), 5*time.Second)
		}
		_ = os.RemoveAll(dir)
	})
	return b
}

// remote is a client of the product that runs as a process.
type remote struct {
	client
	cmd *exec.Cmd
	log *bytes.Buffer // whole once the process has ended
}

// connect starts the server and connects the SDK's client to its stdio.
func (b *box) connect() *remote {
	b.t.Helper()
	r := &remote{cmd: exec.Command(bin, "mcp"), log: &bytes.Buffer{}}
	r.cmd.Env, r.cmd.Stderr = b.env, r.log
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(context.Background(),
		&mcp.CommandTransport{Command: r.cmd, TerminateDuration: time.Minute}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.client = client{ClientSession: s, t: b.t}
	b.t.Cleanup(func() { _ = s.Close() })
	return r
}

// start starts a small recording.
func (r *remote) start() supervisor.StartResult {
	r.t.Helper()
	var d supervisor.StartResult
	data(r.t, r.must(small), &d)
	return d
}

// cli runs a command and gives its data.
func (b *box) cli(args ...string) json.RawMessage {
	b.t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = b.env
	out, err := cmd.Output()
	var e struct{ Data json.RawMessage }
	if err == nil {
		err = json.Unmarshal(out, &e)
	}
	if err != nil {
		b.t.Fatalf("%v: %v", args, err)
	}
	return e.Data
}

// filmed holds a recording to what it must be in the end: a film that is
// verified and decodes, and nothing left running.
func (b *box) filmed(id, endedBy string) supervisor.StopResult {
	b.t.Helper()
	var row supervisor.ListRow
	eventually(b.t, "the film of "+id, func() error {
		var all supervisor.ListResult
		if err := json.Unmarshal(b.cli("list"), &all); err != nil {
			return err
		}
		i := slices.IndexFunc(all.Recordings, func(r supervisor.ListRow) bool { return r.RecordingID == id })
		if i < 0 {
			return fmt.Errorf("it is not listed: %+v", all)
		}
		if row = all.Recordings[i]; row.Phase == "failed" {
			b.t.Fatalf("recording %s failed: %s", id, row.Problem)
		}
		if !row.Phase.Terminal() || row.Path == "" {
			return fmt.Errorf("its phase is %s %s", row.Phase, row.Problem)
		}
		return nil
	})
	eventually(b.t, "the processes of "+id+" to be gone", func() error {
		if left := proc.Marked(id); len(left) > 0 {
			return fmt.Errorf("left: %v", left)
		}
		return nil
	})
	var res supervisor.StopResult
	if err := json.Unmarshal(b.cli("stop", id), &res); err != nil {
		b.t.Fatal(err)
	}
	// A machine that is busy may cost pictures (degraded); nothing may have died.
	if res.Verdict != "complete" && res.Verdict != "degraded" || res.EndedBy != endedBy || res.Frames == 0 {
		b.t.Errorf("the film: %+v", res)
	}
	if msg, err := exec.Command("ffmpeg", "-v", "error", "-err_detect", "explode", "-i", res.Path, "-f", "null", "-").CombinedOutput(); err != nil || len(msg) > 0 {
		b.t.Errorf("%s does not decode: %v: %s", res.Path, err, msg)
	}
	return res
}

// eventually waits until ok gives nil. The limit is for a machine that is very
// busy; a test that passes never waits for it.
func eventually(t *testing.T, what string, ok func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := ok()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s: %v", what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Holds what clients are told: a tool that changes by accident misleads every
// model.
func TestToolsGolden(t *testing.T) {
	res, err := newBox(t).connect().ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(res.Tools); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "tools.json")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; make it with: go test ./internal/serve/mcpserver -update", err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("%s (-want +got), renew with: go test ./internal/serve/mcpserver -update\n%s", path, d)
	}
}

// The whole way with real parts; what the tool says must be what the command
// line says, and stdout must be the protocol's alone (the client refuses more).
func TestRealRecording(t *testing.T) {
	b := newBox(t)
	r := b.connect()
	d := r.start()
	r.must(`{"action":"step","text":"Look at <the screen> & wait"}`)
	r.must(`{"action":"result","pass":true,"text":"It is there"}`)
	if text := words(r.must(`{"action":"status"}`)); !strings.Contains(text, "recording") {
		t.Errorf("status: %s", text)
	}
	res := r.must(`{"action":"stop"}`)
	again := r.must(`{"action":"stop"}`)
	film := b.filmed(d.RecordingID, "stop")
	if len(film.Steps) != 1 || film.Steps[0].Result != "pass" || film.Size != "320x240" || film.FPS != 10 {
		t.Errorf("the film: %+v", film)
	}
	var got, repeated, want any
	data(t, res, &got)
	data(t, again, &repeated)
	if err := json.Unmarshal(b.cli("stop", d.RecordingID), &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got) + cmp.Diff(want, repeated); d != "" {
		t.Errorf("the data (-command line +tool):\n%s", d)
	}
	if text := words(res); !strings.Contains(text, film.Path) || !strings.Contains(text, "[![recording](recording-") {
		t.Errorf("no line shows the film and its clip: %s", text)
	}
	_ = r.Close()
	for _, line := range strings.Split(strings.TrimSpace(r.log.String()), "\n") {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("no log line: %s", line)
		}
	}
}

// What the command line refuses the tool must refuse, in its own terms and
// without any effect.
func TestBadValues(t *testing.T) {
	b := newBox(t)
	r := b.connect()
	tests := map[string]string{
		`{"action":"start","fps":0}`:                              "fps",
		`{"action":"start","fps":61}`:                             "fps",
		`{"action":"start","size":"big"}`:                         "size",
		`{"action":"start","size":"9999x9999"}`:                   "size",
		`{"action":"start","speed":3}`:                            "speed",
		`{"action":"start","stills":"drop"}`:                      "stills",
		`{"action":"start","position":"left"}`:                    "position",
		`{"action":"start","browser":"netscape"}`:                 "browser",
		`{"action":"start","maxDuration":"5"}`:                    "maxDuration",
		`{"action":"start","maxDuration":"25h"}`:                  "maxDuration",
		`{"action":"start","name":"../x"}`:                        "name",
		`{"action":"start","url":"javascript:alert(1)"}`:          "url",
		`{"action":"start","url":"http://"}`:                      "url",
		`{"action":"start","display":"desktop"}`:                  "display",
		`{"action":"start","display":":0","size":"320x240"}`:      "size is for an own display",
		`{"action":"start","browser":"none","url":"http://a.b/"}`: "url needs a browser",
	}
	for arguments, says := range tests {
		res := r.do(arguments)
		text := words(res)
		if !res.IsError || !strings.HasPrefix(text, says) || strings.Contains(text, "--") {
			t.Errorf("%s: %s", arguments, text)
		}
	}
	if _, err := os.Stat(b.dir); err == nil {
		t.Error("bad input had an effect: there is a place for recordings")
	}
}

// Two clients at once, one of them with two recordings: each ends its own, by
// closing and by a signal, and nothing else.
func TestTwoClients(t *testing.T) {
	b := newBox(t)
	one, other := b.connect(), b.connect()
	first, second, third := one.start(), one.start(), other.start()
	if err := one.Close(); err != nil {
		t.Errorf("the server did not end well: %v\n%s", err, one.log)
	}
	b.filmed(first.RecordingID, "stop")
	b.filmed(second.RecordingID, "stop")

	var s supervisor.StatusResult
	data(t, other.must(`{"action":"status"}`), &s)
	if s.RecordingID != third.RecordingID || s.Phase != "recording" {
		t.Errorf("the other client's recording: %+v", s)
	}
	if err := other.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	b.filmed(third.RecordingID, "stop")
	_ = other.Close() // waits for the process
	if code := other.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d after SIGTERM: %s", code, other.log)
	}
}

// killed starts a client in a process of its own, with one recording, and kills
// it; it gives the server's process and the recording.
func (b *box) killed(kill func(client *os.Process, server proc.Identity)) (proc.Identity, string) {
	b.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(slices.Clone(b.env), asClient+"="+bin)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var said struct {
		PID   int
		Start supervisor.StartResult
	}
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil {
		b.t.Fatalf("the client says %q: %v", line, err)
	}
	server, err := proc.Of(said.PID)
	if err != nil {
		b.t.Fatal(err)
	}
	kill(cmd.Process, server)
	return server, said.Start.RecordingID
}

// A client that is killed closes nothing itself, and leaves the server pipes
// that nobody reads: the film must be finished all the same, and nothing left.
func TestClientKilled(t *testing.T) {
	b := newBox(t)
	server, id := b.killed(func(client *os.Process, _ proc.Identity) { _ = client.Kill() })
	b.filmed(id, "stop")
	eventually(t, "the server to end", func() error {
		if server.Alive() {
			return fmt.Errorf("process %d is alive", server.PID)
		}
		return nil
	})
}

// A server that is killed can end nothing: the recording's supervisor must.
func TestServerKilled(t *testing.T) {
	b := newBox(t)
	_, id := b.killed(func(_ *os.Process, server proc.Identity) { _ = server.Signal(syscall.SIGKILL) })
	b.filmed(id, "until_pid")
}

// A client that closes the pipe behind its requests still gets the answers
// that are quick.
func TestRequestsFromAPipe(t *testing.T) {
	b := newBox(t)
	cmd := exec.Command(bin, "mcp")
	cmd.Env = b.env
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box_record","arguments":{"action":"list"}}}
`)
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"serverInfo"`) || !strings.Contains(string(out), "There is no recording") {
		t.Errorf("%v: %s", err, out)
	}
}
