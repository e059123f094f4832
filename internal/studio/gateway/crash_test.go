package gateway

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// process is a gateway in a process of its own.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	token  string
	socket string
}

func startProcess(t *testing.T, bin, dir, upstream string, budget int, env ...string) *process {
	t.Helper()
	short, err := os.MkdirTemp("", "door")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	p := &process{socket: filepath.Join(short, "s")}
	p.cmd = exec.Command(bin, "-socket", p.socket, "-dir", dir, "-upstream", upstream, "-model", "good", "-budget", strconv.Itoa(budget))
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = os.Stderr
	if !testing.Verbose() {
		p.cmd.Stderr = nil
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the gateway did not start: %v", err)
	}
	p.token = strings.TrimSpace(line)
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// call makes a call; the gateway may die meanwhile.
func (p *process) call(t *testing.T, body string) int {
	t.Helper()
	c := gatewaytest.Client(p.socket)
	defer c.CloseIdleConnections()
	req, err := http.NewRequest(http.MethodPost, "http://llm.internal"+pathMessages, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", p.token)
	resp, err := c.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// A gateway that is killed between any two steps forgets no call: what is on
// disk is never less than what the provider was asked for, and whoever goes on
// with the job can't spend it again.
func TestKilledBetweenSteps(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "gatewayd")
	build := exec.Command("go", "build", "-tags", "faultpoint", "-o", bin, "./gatewaytest/gatewayd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the gateway: %v\n%s", err, out)
	}
	const cost = 110 // of each call, 10 tokens in and 20 out
	for _, c := range []struct {
		step       string
		out        int // calls that reached the provider
		held       int // reservations that are open
		streamOnly bool
	}{
		{step: "parse"},
		{step: "reserve"},
		{step: "reserved", held: 1},
		{step: "answered", out: 1, held: 1},
		{step: "event", out: 1, held: 1, streamOnly: true},
		{step: "settle", out: 1, held: 1},
		{step: "settled", out: 1},
	} {
		for kind, body := range map[string]string{"whole": ask(100), "stream": askStream(100)} {
			if c.streamOnly && kind == "whole" {
				continue
			}
			t.Run(c.step+", "+kind, func(t *testing.T) {
				up := gatewaytest.New(func(r gatewaytest.Request) gatewaytest.Reply {
					if r.Streaming() {
						return gatewaytest.Stream(gatewaytest.Usage(10, 1), gatewaytest.Usage(10, 20), "a")
					}
					return gatewaytest.Message("a", gatewaytest.Usage(10, 20))
				})
				defer up.Close()
				dir, fault := t.TempDir(), filepath.Join(t.TempDir(), "fault")
				const budget = 50_000
				p := startProcess(t, bin, dir, up.URL, budget, "PROOFREEL_FAULTPOINT="+c.step, "PROOFREEL_FAULTFILE="+fault)
				if code := p.call(t, body); code != 200 {
					t.Fatalf("a good call: %d", code)
				}
				if err := os.WriteFile(fault, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				done := make(chan struct{})
				go func() {
					defer close(done)
					p.call(t, body)
				}()
				for n := 0; ; n++ {
					if _, err := os.Stat(fault + ".reached"); err == nil {
						break
					}
					if n > 2000 {
						t.Fatal("the step is never reached")
					}
					time.Sleep(5 * time.Millisecond)
				}
				p.kill()
				<-done

				journal := filepath.Join(dir, "crash.ledger")
				s, err := ledger.Read(journal)
				if err != nil {
					t.Fatal(err)
				}
				out := up.Messages()
				if out != 1+c.out || s.Calls < out || s.Open != c.held {
					t.Errorf("%d calls went out; booked: %+v", out, s)
				}
				if truth := ledger.Micros(out * cost); s.Spent+s.Held < truth || s.Spent+s.Held > budget {
					t.Errorf("the calls cost %d; booked: %+v", truth, s)
				}

				again := startProcess(t, bin, dir, up.URL, 1_000_000_000)
				if code := again.call(t, body); code != 200 {
					t.Errorf("a call after the crash: %d", code)
				}
				_ = again.stdin.Close()
				_ = again.cmd.Wait()
				end, err := ledger.Read(journal)
				if err != nil || end.Spent != s.Spent+s.Held+cost || end.Held != 0 || end.Limits.Money != budget {
					t.Errorf("after the crash %+v, %v; before %+v", end, err, s)
				}
			})
		}
	}
}
