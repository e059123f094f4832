package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/web/rig"
)

// serveRig serves the test page.
func serveRig(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(rig.Handler())
	t.Cleanup(srv.Close)
	return srv.URL
}

// act runs one browser action through the command that start returned, in an
// environment without the display: an agent has none.
func act(t *testing.T, d startData, args ...string) {
	t.Helper()
	all := append(append([]string{}, d.AgentBrowserCommand[1:]...), args...)
	cmd := exec.Command(d.AgentBrowserCommand[0], all...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "DISPLAY=") && !strings.HasPrefix(v, "XAUTHORITY=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v: %s", args, err, out)
	}
}

// The product's main job: film a real browser that an agent drives, and get
// one verified film.
func TestRecordABrowserDrivenByAnAgent(t *testing.T) {
	b := newBox(t)
	url := serveRig(t)
	d := b.start("--url", url, "--size", "1920x1080", "--fps", "30", "--name", "main job")
	if len(d.AgentBrowserCommand) != 5 || d.Size != "1920x1080" || d.Rate != "cfr" {
		t.Fatalf("start: %+v", d)
	}
	b.must("step", "Work through the page")
	var first, second struct{ FramesCaptured int64 }
	b.must("status").get(t, &first)
	act(t, d, "click", "#clock")
	act(t, d, "click", "#flash")
	for i := range 14 {
		act(t, d, "click", "#t"+strconv.Itoa(i%8+1))
	}
	act(t, d, "fill", "#name", "Proofreel")
	act(t, d, "click", "#mode-typing")
	act(t, d, "click", "#mode-idle")
	act(t, d, "click", "#clock")
	b.must("result", "pass", "20 actions, as expected")
	eventually(t, "the count of frames to grow", func() error {
		if b.must("status").get(t, &second); second.FramesCaptured <= first.FramesCaptured {
			return fmt.Errorf("%d, then %d", first.FramesCaptured, second.FramesCaptured)
		}
		return nil
	})
	ended := time.Now()
	a := b.must("stop")
	var s stopData
	a.get(t, &s)

	p := film(t, s.Path)
	want := probe{
		Codec: "h264", Profile: "High", PixFmt: "yuv420p", Width: 1920, Height: 1080, Rate: "30/1", Average: "30/1",
		Range: "tv", Space: "bt709", Trc: "bt709", Prim: "bt709", Frames: fmt.Sprint(s.Frames), Seconds: p.Seconds,
	}
	if p != want {
		t.Errorf("film is %+v, want %+v", p, want)
	}
	// One frame and 50 ms, and what starting the stop process takes here.
	wall := ended.Sub(s.StartedAt) // the wall clock from the first frame on
	if diff := s.DurationSeconds - wall.Seconds(); diff < -0.05-1.0/30 || diff > 0.05+1.0/30+spawnTime(t) {
		t.Errorf("film lasts %.3f s, the wall clock says %.3f s", s.DurationSeconds, wall.Seconds())
	}
	equalDeltas(t, s.Path)
	if luma := lumaOfFirst(t, s.Path); luma < 200 {
		t.Errorf("the first frame has mean luma %.0f: not the page", luma)
	}
	noBlack(t, s.Path)
	if len(s.Steps) != 1 || s.Steps[0].Result != "pass" || s.Steps[0].Text != "Work through the page" {
		t.Errorf("steps: %+v", s.Steps)
	}
	if again := b.must("stop"); !bytes.Equal(again.env.Data, a.env.Data) {
		t.Errorf("a second stop answers %s", again.env.Data)
	}
	b.clean(d.RecordingID, d.Display)
}

// spawnTime is about how long our binary takes to start on this machine now.
func spawnTime(t *testing.T) float64 {
	t.Helper()
	worst := 0.0
	for range 5 {
		began := time.Now()
		if err := exec.Command(bin, "--version").Run(); err != nil {
			t.Fatal(err)
		}
		worst = math.Max(worst, time.Since(began).Seconds())
	}
	return 3 * worst
}

// equalDeltas wants every packet 1/fps after the one before.
func equalDeltas(t *testing.T, path string) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts", "-of", "csv=p=0", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	last := int64(-1)
	var delta int64
	for i, line := range strings.Fields(string(out)) {
		pts, err := strconv.ParseInt(strings.TrimSuffix(line, ","), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			delta = pts - last
		}
		if i > 0 && pts-last != delta {
			t.Fatalf("packet %d comes %d after the one before, the first delta was %d", i, pts-last, delta)
		}
		last = pts
	}
}

func lumaOfFirst(t *testing.T, path string) float64 {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-vf", "scale=1:1:flags=area,format=gray", "-f", "rawvideo", "-").Output()
	if err != nil || len(out) != 1 {
		t.Fatalf("read the first frame: %v, %d bytes", err, len(out))
	}
	return float64(out[0])
}

func noBlack(t *testing.T, path string) {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-v", "info", "-nostats", "-i", path, "-vf", "blackdetect=d=0.03:pix_th=0.1", "-f", "null", "-").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out, []byte("black_start")) {
		t.Errorf("the film has black intervals: %s", out)
	}
}

// Stop right after start gives a film of at least one frame; nothing piles up
// over many rounds.
func TestStartStopWithoutAPause(t *testing.T) {
	const rounds = 100
	b := newBox(t)
	for range rounds {
		d := b.start("--size", "320x240", "--fps", "10", "--browser", "none")
		var s stopData
		b.must("stop").get(t, &s)
		if s.Frames < 1 || s.RecordingID != d.RecordingID {
			t.Fatalf("stop: %+v", s)
		}
		film(t, s.Path)
		b.clean(d.RecordingID, d.Display)
		b.must("discard", d.RecordingID)
	}
}

// Five stops at once: five equal answers, one film.
func TestParallelStopsAgree(t *testing.T) {
	for _, dead := range []bool{false, true} {
		t.Run(fmt.Sprintf("supervisor dead %v", dead), func(t *testing.T) {
			b := newBox(t)
			d := b.start("--size", "640x360", "--fps", "10", "--browser", "none")
			time.Sleep(1500 * time.Millisecond)
			if dead {
				if err := b.manifest(d.RecordingID).Supervisor.Signal(9); err != nil {
					t.Fatal(err)
				}
			}
			answers := make([]answer, 5)
			var wg sync.WaitGroup
			for i := range answers {
				wg.Go(func() { answers[i] = b.call("stop") })
			}
			wg.Wait()
			for _, a := range answers {
				if a.exit != 0 || !bytes.Equal(a.env.Data, answers[0].env.Data) {
					t.Errorf("exit %d: %s%s", a.exit, a.stdout, a.stderr)
				}
			}
			files, _ := filepath.Glob(b.path(d.RecordingID, "*.mp4*"))
			if len(files) != 1 {
				t.Errorf("files: %v", files)
			}
			b.clean(d.RecordingID, d.Display)
		})
	}
}

// Ten recordings at once are all complete, and none films another's display:
// each shows a colour of its own.
func TestTenAtOnce(t *testing.T) {
	b := newBox(t)
	starts := make([]startData, 10)
	var wg sync.WaitGroup
	for i := range starts {
		wg.Go(func() {
			starts[i] = b.start("--size", "640x360", "--fps", "10", "--browser", "none", "--name", fmt.Sprint("nr ", i), "--startup-timeout", "2m")
			shade := 20 + 23*i
			set := exec.Command("xsetroot", "-solid", fmt.Sprintf("#%02x%02x%02x", shade, shade, shade))
			set.Env = append(os.Environ(), "DISPLAY="+starts[i].Display, "XAUTHORITY="+starts[i].Xauthority)
			if out, err := set.CombinedOutput(); err != nil {
				t.Errorf("xsetroot on %s (apt-get install x11-xserver-utils): %v: %s", starts[i].Display, err, out)
			}
		})
	}
	wg.Wait()
	time.Sleep(3 * time.Second)
	for i := range starts {
		wg.Go(func() {
			var s stopData
			b.must("stop", starts[i].RecordingID).get(t, &s)
			p := film(t, s.Path)
			if p.Frames != fmt.Sprint(s.Frames) || s.DurationSeconds < 3 || s.Verdict == "salvaged" {
				t.Errorf("recording %d: %+v %+v", i, p, s)
			}
			if got, want := lumaOfLast(t, s.Path), float64(20+23*i); math.Abs(got-want) > 3 {
				t.Errorf("recording %d shows grey %.0f, its display has %.0f", i, got, want)
			}
			b.clean(starts[i].RecordingID, starts[i].Display)
		})
	}
	wg.Wait()
}

func lumaOfLast(t *testing.T, path string) float64 {
	t.Helper()
	// The middle of the picture: the corner may hold a pointer.
	out, err := exec.Command("ffmpeg", "-v", "error", "-i", path, "-vf", "crop=64:64,extractplanes=y,scale=1:1:flags=area", "-update", "1", "-f", "rawvideo", "-").Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("read the last frame: %v, %d bytes", err, len(out))
	}
	return float64(out[len(out)-1])
}

// A still screen for a minute: the film has the right length, and what runs
// takes no more memory at its end than at its beginning.
func TestStillScreenForAMinute(t *testing.T) {
	b := newBox(t)
	d := b.start("--size", "1280x720", "--fps", "30", "--browser", "none")
	began := time.Now()
	time.Sleep(12 * time.Second) // start-up settles
	before := b.memory(d.RecordingID)
	time.Sleep(48 * time.Second)
	after := b.memory(d.RecordingID)
	wall := time.Since(began).Seconds()
	var s stopData
	b.must("stop").get(t, &s)
	if math.Abs(s.DurationSeconds-wall) > 0.5 {
		t.Errorf("film lasts %.2f s, %.2f s went by", s.DurationSeconds, wall)
	}
	if p := film(t, s.Path); p.Frames != fmt.Sprint(s.Frames) || math.Abs(p.Seconds-s.DurationSeconds) > 0.001 {
		t.Errorf("film: %+v, answer %+v", p, s)
	}
	t.Logf("memory %d kB, then %d kB; film %d bytes, %s", before, after, s.Bytes, s.Verdict)
	if math.Abs(float64(after-before)) > 0.1*float64(before) {
		t.Errorf("memory went from %d to %d kB", before, after)
	}
}

// memory is the resident memory of supervisor, encoder and verifier in kB.
func (b *box) memory(id string) int64 {
	m := b.manifest(id)
	pids := []int{m.Supervisor.PID}
	for _, o := range m.Owned {
		if o.Role == "encoder" || o.Role == "verifier" {
			pids = append(pids, o.PID)
		}
	}
	sum := int64(0)
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(raw), "\n") {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
				n, _ := strconv.ParseInt(f[1], 10, 64)
				sum += n
			}
		}
	}
	return sum
}

// The time left and the limits end a recording that nobody stops; a later stop
// still delivers it.
func TestEndsByItself(t *testing.T) {
	for _, reason := range []string{"max_duration", "until_pid"} {
		t.Run(reason, func(t *testing.T) {
			b := newBox(t)
			sleeper := exec.Command("sleep", "600")
			if err := sleeper.Start(); err != nil {
				t.Fatal(err)
			}
			flags := map[string][]string{
				"max_duration": {"--max-duration", "2s"},
				"until_pid":    {"--until-pid", strconv.Itoa(sleeper.Process.Pid)},
			}
			d := b.start(append(flags[reason], "--size", "320x240", "--fps", "10", "--browser", "none")...)
			_ = sleeper.Process.Kill()
			_ = sleeper.Wait()
			eventually(t, "the recording to end by itself", func() error {
				if m := b.manifest(d.RecordingID); m.Phase != "done" {
					return fmt.Errorf("phase %s", m.Phase)
				}
				return nil
			})
			var s stopData
			b.must("stop").get(t, &s)
			if s.EndedBy != reason || s.Verdict == "salvaged" {
				t.Errorf("ended by %s, verdict %s %v", s.EndedBy, s.Verdict, s.VerdictWhy)
			}
			film(t, s.Path)
			b.clean(d.RecordingID, d.Display)
		})
	}
}

// State files that are not ours, or rotted, give one clear error and nothing else.
func TestForeignState(t *testing.T) {
	b := newBox(t)
	d := b.start("--size", "320x240", "--fps", "10", "--browser", "none")
	b.must("stop")
	good, err := os.ReadFile(b.path(d.RecordingID, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var wrong map[string]any
	if err := json.Unmarshal(good, &wrong); err != nil {
		t.Fatal(err)
	}
	wrong["formatVersion"] = 99
	newer, _ := json.Marshal(wrong)
	cases := map[string][]byte{
		"empty": {}, "truncated": good[:len(good)/2], "not JSON": []byte("\x00\x01\x02"), "a list": []byte("[]"),
		"another's": []byte(`{"name":"x"}`), "a newer format": newer, "huge": bytes.Repeat([]byte(" "), 17<<20),
	}
	for name, raw := range cases {
		if err := os.WriteFile(b.path(d.RecordingID, "manifest.json"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, cmd := range []string{"stop", "status", "recover"} {
			a := b.call(cmd, d.RecordingID)
			if a.exit != 4 || a.env.Error.Code != "state_corrupt" {
				t.Errorf("%s, %s: exit %d %s", name, cmd, a.exit, a.stderr)
			}
		}
		b.must("list")
	}
	if _, err := os.Stat(b.path(d.RecordingID, "film.mp4")); err != nil {
		t.Error("the film was touched")
	}
	b.must("discard", d.RecordingID)
}

// A PID that was given to another process since must not be signalled.
func TestRecycledPIDIsNotSignalled(t *testing.T) {
	b := newBox(t)
	d := b.start("--size", "320x240", "--fps", "10", "--browser", "none")
	m := b.manifest(d.RecordingID)
	if err := m.Supervisor.Signal(9); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the supervisor's end", func() error {
		if m.Supervisor.Alive() {
			return fmt.Errorf("alive")
		}
		return nil
	})
	bystander := exec.Command("sleep", "600")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()
	raw, err := os.ReadFile(b.path(d.RecordingID, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range m.Owned { // every PID of the dead recording is the bystander's now
		raw = bytes.ReplaceAll(raw, []byte(fmt.Sprintf(`"pid": %d,`, o.PID)), []byte(fmt.Sprintf(`"pid": %d,`, bystander.Process.Pid)))
	}
	raw = bytes.ReplaceAll(raw, []byte(fmt.Sprintf(`"pid": %d,`, m.Supervisor.PID)), []byte(fmt.Sprintf(`"pid": %d,`, bystander.Process.Pid)))
	if err := os.WriteFile(b.path(d.RecordingID, "manifest.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var s stopData
	b.must("stop").get(t, &s)
	if s.Verdict != "salvaged" {
		t.Errorf("verdict %s", s.Verdict)
	}
	if err := bystander.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the bystander was hit: %v", err)
	}
}

// Encoders that die on a moving screen: every time the film holds all that was
// captured, and says what died. The fault was a restarted capture whose first
// frame fell on a tick that had a picture already: stop failed, and a second
// one left footage out and called the film complete.
func TestEncoderDiesOnAMovingScreen(t *testing.T) {
	for _, fps := range []string{"5", "15", "60"} {
		t.Run(fps+" fps", func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			d := b.start("--size", "320x240", "--fps", fps, "--browser", "none")
			term := exec.Command("xterm", "-e", "i=0; while :; do echo $i; i=$((i+1)); sleep 0.02; done")
			term.Env = append(os.Environ(), "DISPLAY="+d.Display, "XAUTHORITY="+d.Xauthority)
			if err := term.Start(); err != nil {
				t.Fatalf("xterm: %v (apt-get install xterm)", err)
			}
			defer func() { _ = term.Process.Kill(); _ = term.Wait() }()
			for range 2 {
				time.Sleep(time.Second)
				killed := false
				for _, o := range proc.Descendants(b.manifest(d.RecordingID).Supervisor) {
					raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", o.PID))
					if bytes.Contains(raw, []byte("libx264")) {
						killed = o.Signal(9) == nil
					}
				}
				if !killed {
					t.Fatal("no encoder runs")
				}
			}
			time.Sleep(1500 * time.Millisecond)
			var live struct{ Incidents []struct{ Kind string } }
			b.must("status").get(t, &live)
			if len(live.Incidents) == 0 {
				t.Error("status tells no incident")
			}
			var s stopData
			b.must("stop").get(t, &s)
			if s.Verdict != "salvaged" || s.EndedBy != "stop" || s.DurationSeconds < 3 {
				t.Errorf("%s, ended by %s after %.1f s", s.Verdict, s.EndedBy, s.DurationSeconds)
			}
			film(t, s.Path)
			b.clean(d.RecordingID, d.Display)
		})
	}
}

// A browser or a window manager that dies is told in the verdict, the film
// goes on.
func TestDeathsAreTold(t *testing.T) {
	for _, role := range []string{"browser", "openbox"} {
		t.Run(role, func(t *testing.T) {
			b := newBox(t)
			d := b.start("--size", "640x360", "--fps", "10", "--browser", "chromium")
			for _, o := range b.manifest(d.RecordingID).Owned {
				if o.Role == role {
					_ = o.Signal(9)
				}
			}
			eventually(t, "the incident", func() error {
				var live struct{ Incidents []struct{ Kind string } }
				if b.must("status").get(t, &live); len(live.Incidents) == 0 {
					return fmt.Errorf("none")
				}
				return nil
			})
			// It outlives the supervisor.
			if err := b.manifest(d.RecordingID).Supervisor.Signal(9); err != nil {
				t.Fatal(err)
			}
			var s stopData
			b.must("stop").get(t, &s)
			if s.Verdict != "salvaged" || len(s.VerdictWhy) != 2 {
				t.Errorf("verdict %s %v", s.Verdict, s.VerdictWhy)
			}
			b.clean(d.RecordingID, d.Display)
		})
	}
}

// What the caller has open must not stay open in the supervisor and in what it
// starts: a lock of the caller's shell would be held until the film ends.
func TestCallersFilesAreLetGo(t *testing.T) {
	b := newBox(t)
	lock := filepath.Join(t.TempDir(), "lock")
	script := exec.Command("bash", "-c", `exec 9>"$1"; flock 9; "$2" start --min-free 50MB --size 320x240 --browser none >/dev/null; exec 9>&-; flock -n "$1" true`, "bash", lock, bin)
	script.Env = b.env
	if out, err := script.CombinedOutput(); err != nil {
		t.Errorf("the lock is still held: %v: %s", err, out)
	}
	b.must("stop")
}

// Changes that come between one and two seconds after each other: each must be
// in the film. The fault was a change soon after the keepalive of a still
// screen, which was recorded and then left out of the film.
func TestChangesAfterStillness(t *testing.T) {
	b := newBox(t)
	d := b.start("--size", "320x240", "--fps", "30", "--browser", "none")
	want := map[byte]bool{}
	for i := range 8 {
		shade := byte(30 + 25*i)
		want[shade] = true
		set := exec.Command("xsetroot", "-solid", fmt.Sprintf("#%02x%02x%02x", shade, shade, shade))
		set.Env = append(os.Environ(), "DISPLAY="+d.Display, "XAUTHORITY="+d.Xauthority)
		if out, err := set.CombinedOutput(); err != nil {
			t.Fatalf("xsetroot (apt-get install x11-xserver-utils): %v: %s", err, out)
		}
		time.Sleep(time.Duration(1050+70*i) * time.Millisecond)
	}
	var s stopData
	b.must("stop").get(t, &s)
	out, err := exec.Command("ffmpeg", "-v", "error", "-i", s.Path, "-vf", "crop=64:64,scale=1:1:flags=area,format=gray", "-f", "rawvideo", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	for shade := range want {
		for near := -2; near <= 2; near++ {
			if bytes.IndexByte(out, byte(int(shade)+near)) >= 0 {
				delete(want, shade)
				break
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("shades that were on the screen and are not in the film: %v", want)
	}
}
