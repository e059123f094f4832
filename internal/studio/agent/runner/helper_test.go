package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/executor/entry"
	"github.com/proofreel/proofreel/internal/studio/gateway"
	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// The test binary stands for the program: in quick tests for its commands that
// draw, without a browser; in a box for the way in.
func TestMain(m *testing.M) {
	args := os.Args
	switch {
	case len(args) >= 3 && args[1] == "box":
		path := ""
		if len(args) > 3 {
			path = args[3]
		}
		code, err := entry.Main(args[2], path, os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	case os.Getenv(filmVar) != "" && len(args) > 1:
		os.Exit(pretend(args[1:]))
	default:
		os.Exit(withFilm(m))
	}
}

// filmVar names a film that stands for every render.
const filmVar = "RUNNERTEST_FILM"

const (
	width  = 160
	height = 90
)

// pretend answers as the commands do. A scene that holds "throw" fails.
func pretend(args []string) int {
	out := ""
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, "--out="); ok {
			out = v
		}
	}
	text, err := os.ReadFile(agent.SceneName)
	if err != nil || strings.Contains(string(text), "throw") {
		fmt.Fprintln(os.Stderr, `{"schemaVersion":1,"ok":false,"error":{"code":"scene_threw","message":"scene.js:1:1: no","hint":"Mend it.","retryable":false},"meta":{}}`)
		return 1
	}
	data := "{}"
	switch args[0] {
	case "still":
		name := filepath.Join(out, "frame.png")
		err = savePNG(name, 1920, 1080)
		data = fmt.Sprintf(`{"stills":[{"frame":3,"seconds":0.1,"path":%q}],"notes":[]}`, name)
	case "sheet":
		err = savePNG(out, 2400, 1350)
		data = `{"notes":[{"text":"small"}]}`
	case "scene":
		data = fmt.Sprintf(`{"ok":true,"width":%d,"height":%d,"fps":30,"seconds":1}`, width, height)
	case "render":
		fmt.Fprintln(os.Stderr, `{"event":"progress","phase":"rendering","step":15,"totalSteps":30}`)
		err = errors.Join(copyFile(os.Getenv(filmVar), out), saveJPEG("out/poster.jpg"))
		data = `{"posterFrame":7}`
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf(`{"schemaVersion":1,"ok":true,"data":%s,"meta":{}}`+"\n", data)
	return 0
}

func picture(w, h int) image.Image {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = uint8(i * 7)
	}
	m.Set(0, 0, color.White)
	return m
}

func savePNG(name string, w, h int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, picture(w, h)), f.Close())
}

func saveJPEG(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(jpeg.Encode(f, picture(width, height), nil), f.Close())
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// madeVar says where the film of all tests is.
const madeVar = "RUNNERTEST_MADE"

// withFilm runs the tests with a film of a second. It is made before them: what
// they run reaps the children of this process that it does not know.
func withFilm(m *testing.M) int {
	dir, err := os.MkdirTemp("", "film")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "film.mp4")
	program, err := ffmpeg.Find()
	if err != nil {
		panic(err)
	}
	out, err := exec.Command(program, "-v", "error", "-f", "lavfi",
		"-i", fmt.Sprintf("testsrc2=size=%dx%d:rate=30", width, height), "-frames:v", "30", "-c:v", "libx264", "-preset", "ultrafast",
		"-pix_fmt", "yuv420p", "-movflags", "+faststart", name).CombinedOutput()
	if err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	if err := os.Setenv(madeVar, name); err != nil {
		panic(err)
	}
	return m.Run()
}

// rig is a job behind a real gateway, without a box.
type rig struct {
	t    *testing.T
	c    Config
	job  agent.Job
	door *gateway.Job
	up   *gatewaytest.Upstream
	log  *logs

	mu      sync.Mutex
	reports []agent.Report
	slept   []time.Duration
}

type logs struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const modelKey = "sk-CANARY-of-the-model"

// newRig opens a job's door and reports. budget 0: a hundred dollars.
func newRig(t *testing.T, budget ledger.Micros, play func(gatewaytest.Request) gatewaytest.Reply, change func(*agent.Job)) *rig {
	t.Helper()
	r := &rig{t: t, log: &logs{}, up: gatewaytest.New(play)}
	t.Cleanup(r.up.Close)
	run, err := os.MkdirTemp("", "run") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	r.job = agent.Job{
		ID: "job-1", Brief: "Tides.", Seconds: 1, Width: width, Height: height, Model: "good", Turns: 12, Wall: 4 * time.Minute,
		Door: filepath.Join(run, agent.DoorName), Report: filepath.Join(run, agent.ReportName),
	}
	r.openDoor(budget)
	r.job.Token = r.door.Token()
	if change != nil {
		change(&r.job)
	}
	r.hearReports()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.c = Config{
		Work: t.TempDir(), Run: run, Program: exe, Output: r.log, Log: slog.New(slog.NewTextHandler(r.log, nil)),
		Env: []string{"PATH=" + os.Getenv("PATH"), filmVar + "=" + os.Getenv(madeVar)},
		Sleep: func(ctx context.Context, d time.Duration) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.slept = append(r.slept, d)
			return ctx.Err()
		},
	}
	s, err := agent.Spec(agent.Own(), r.job)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Files {
		name := filepath.Join(r.c.Work, f.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *rig) openDoor(budget ledger.Micros) {
	r.t.Helper()
	prices, err := price.Default()
	if err == nil {
		prices, err = prices.With(price.Model{Name: "good", MaxOutput: 100_000, Rates: price.Rates{
			Input: 1_000_000, Write5m: 1_250_000, Write1h: 2_000_000, Read: 100_000, Output: 5_000_000,
		}})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	g, err := gateway.New(gateway.Config{
		Upstream: gateway.Upstream{BaseURL: r.up.URL, Key: gateway.NewSecret(modelKey)}, Dir: r.t.TempDir(), Prices: &prices,
		Caps: gateway.Caps{Rate: 1e6, Burst: 1e6}, Timeouts: gateway.Timeouts{Close: time.Second},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(g.Close)
	l, err := gatewaytest.Socket(r.job.Door)
	if err != nil {
		r.t.Fatal(err)
	}
	if budget == 0 {
		budget = 100 * ledger.Dollar
	}
	r.door, err = g.Open(gateway.JobConfig{ID: r.job.ID, Model: r.job.Model, Budget: budget, Calls: 500, Expiry: time.Now().Add(time.Hour)}, l)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { r.door.Close() })
}

func (r *rig) hearReports() {
	r.t.Helper()
	l, err := net.Listen("unix", r.job.Report)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_ = agent.ServeReports(ctx, l, func(p agent.Report) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.reports = append(r.reports, p)
		})
	}()
	r.t.Cleanup(func() {
		cancel()
		<-heard
	})
}

// last waits for the report that ends a job.
func (r *rig) last() agent.Report {
	r.t.Helper()
	for range 1000 {
		r.mu.Lock()
		n := len(r.reports)
		if n > 0 && r.reports[n-1].Phase.Ended() {
			defer r.mu.Unlock()
			return r.reports[n-1]
		}
		r.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatalf("no end is reported; the log: %s", r.log)
	return agent.Report{}
}

// step is one message of the scripted model.
type step func(gatewaytest.Request) gatewaytest.Reply

// script plays one step a call, and the last one again and again.
func script(steps ...step) func(gatewaytest.Request) gatewaytest.Reply {
	var mu sync.Mutex
	n := 0
	return func(q gatewaytest.Request) gatewaytest.Reply {
		mu.Lock()
		defer mu.Unlock()
		s := steps[min(n, len(steps)-1)]
		n++
		return s(q)
	}
}

// block is a content block as the stream brings it: its start, and its deltas.
type block struct {
	start  string
	deltas []string
}

func text(s string) block {
	return block{`{"type":"text","text":""}`, []string{fmt.Sprintf(`{"type":"text_delta","text":%s}`, quote(s))}}
}

// call asks for a tool; input is sent in two pieces.
func call(id, name, input string) block {
	half := len(input) / 2
	for half > 0 && input[half]&0xc0 == 0x80 {
		half--
	}
	return block{fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quote(id), quote(name)), []string{
		fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, quote(input[:half])),
		fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, quote(input[half:])),
	}}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// says answers with blocks.
func says(blocks ...block) step { return stops("", blocks...) }

// stops answers with blocks and a stop reason; empty: the usual one.
func stops(reason string, blocks ...block) step {
	if reason == "" {
		reason = "end_turn"
		for _, b := range blocks {
			if strings.Contains(b.start, "tool_use") {
				reason = "tool_use"
			}
		}
	}
	events := []gatewaytest.Event{{Name: "message_start", Data: `{"type":"message_start","message":{"id":"msg_ID","type":"message","role":"assistant","model":"good","content":[],"stop_reason":null,"stop_sequence":null,"usage":` + gatewaytest.Usage(100, 1) + `}}`}}
	for i, b := range blocks {
		events = append(events, gatewaytest.Event{Name: "content_block_start", Data: `{"type":"content_block_start","index":` + strconv.Itoa(i) + `,"content_block":` + b.start + `}`})
		for _, d := range b.deltas {
			events = append(events, gatewaytest.Event{Name: "content_block_delta", Data: `{"type":"content_block_delta","index":` + strconv.Itoa(i) + `,"delta":` + d + `}`})
		}
		events = append(events, gatewaytest.Event{Name: "content_block_stop", Data: `{"type":"content_block_stop","index":` + strconv.Itoa(i) + `}`})
	}
	events = append(events,
		gatewaytest.Event{Name: "message_delta", Data: `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":` + gatewaytest.Usage(100, 50) + `}`},
		gatewaytest.Event{Name: "message_stop", Data: `{"type":"message_stop"}`})
	return func(q gatewaytest.Request) gatewaytest.Reply {
		mine := append([]gatewaytest.Event{}, events...)
		mine[0].Data = strings.Replace(mine[0].Data, "msg_ID", fmt.Sprintf("msg_%d", strings.Count(q.Body, `"role":"assistant"`)), 1)
		return gatewaytest.Reply{Events: mine}
	}
}

// fails answers with an error.
func fails(status int, typ string) step {
	return func(gatewaytest.Request) gatewaytest.Reply { return gatewaytest.Error(status, typ, "no") }
}

// writes has the model write a scene.
func writes(scene string) step {
	return says(text("I write it."), call("toolu_w", "edit", fmt.Sprintf(`{"action":"create","path":"scene.js","text":%s}`, quote(scene))))
}
