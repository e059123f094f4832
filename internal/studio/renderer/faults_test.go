package renderer

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
)

// Every way in which a scene can be wrong must give one clear error that names
// the place, and leave nothing: no film, no process, no folder.
func TestFaultsOfScenes(t *testing.T) {
	const fine = "export function draw(ctx, t, frame) { ctx.fillStyle = `hsl(${frame} 50% 50%)`; ctx.fillRect(0, 0, 320, 180); }"
	throwAt := func(frame int, what string) string {
		return small("duration: 2") + fmt.Sprintf("export function draw(ctx, t, frame) {\n  ctx.fillRect(0, 0, frame, 9);\n  if (frame === %d) %s;\n}", frame, what)
	}
	meta := func(m string) string { return "export const meta = { " + m + " };\n" + fine }
	for name, c := range map[string]struct {
		code  string
		fault fault.Code
		words []string
	}{
		"throws at frame 37":     {throwAt(37, "throw new Error('no luck')"), fault.SceneThrew, []string{"frame 37", "scene.js:4:", "no luck"}},
		"throws a number":        {throwAt(3, "throw 7"), fault.SceneThrew, []string{"frame 3"}},
		"undefined name":         {throwAt(0, "nothing.at.all()"), fault.SceneThrew, []string{"frame 0", "scene.js:4:", "nothing"}},
		"loops at frame 5":       {throwAt(5, "for (;;) {}"), fault.SceneHung, []string{"frame 5", "scene.js:4:"}},
		"eats memory":            {throwAt(2, "{ const keep = []; for (;;) keep.push(new Uint8Array(1 << 26).fill(1)); }"), fault.SceneMemory, []string{"frame 2"}},
		"draw is async":          {small("duration: 1") + "export async function draw() {}", fault.SceneAsync, []string{"frame 0", "Promise"}},
		"setup never ends":       {small("duration: 1") + "export const setup = () => new Promise(() => {});\n" + fine, fault.SceneHung, []string{"setup"}},
		"fetches":                {small("duration: 1") + "export async function setup() { await fetch('https://example.org/data.json'); }\n" + fine, fault.SceneNetwork, []string{"scene.js:2:"}},
		"asset is missing":       {small("duration: 1, assets: { logo: 'logo.png' }") + fine, fault.SceneAsset, []string{"logo.png"}},
		"glyph is missing":       {small("duration: 1") + "export function draw(ctx) {\n  ctx.font = '20px Inter'; ctx.fillText('\\u{10FFFD}', 9, 40);\n}", fault.SceneGlyph, []string{"U+10FFFD", "scene.js:3:"}},
		"font is none of ours":   {small("duration: 1") + "export function draw(ctx) {\n  ctx.font = '20px Papyrus';\n}", fault.SceneFont, []string{"Papyrus", "scene.js:3:"}},
		"fps is 0":               {meta("width: 320, height: 180, fps: 0, duration: 1"), fault.SceneMeta, []string{"fps"}},
		"duration is -1":         {meta("width: 320, height: 180, fps: 30, duration: -1"), fault.SceneMeta, []string{"duration", "-1"}},
		"100,000 frames":         {meta("width: 320, height: 180, fps: 60, duration: 1666.67"), fault.SceneMeta, []string{"duration"}},
		"36,060 frames":          {meta("width: 320, height: 180, fps: 60, duration: 601"), fault.SceneMeta, []string{"duration"}},
		"larger than 4K":         {meta("width: 7680, height: 4320, fps: 30, duration: 1"), fault.SceneMeta, []string{"width"}},
		"an odd side":            {meta("width: 321, height: 180, fps: 30, duration: 1"), fault.SceneMeta, []string{"width", "321"}},
		"no meta":                {fine, fault.SceneMeta, []string{"meta"}},
		"no draw":                {small("duration: 1"), fault.SceneMeta, []string{"draw"}},
		"syntax error":           {small("duration: 1") + "export function draw( {", fault.SceneSyntax, []string{"scene.js:2:"}},
		"import of nothing":      {small("duration: 1") + "import x from 'left-pad';\n" + fine, fault.SceneImport, []string{"scene.js:2:", "left-pad"}},
		"import outside":         {small("duration: 1") + "import x from '../../../../etc/passwd';\n" + fine, fault.SceneImport, []string{"scene.js:2:"}},
		"throws while it loads":  {small("duration: 1") + "throw new TypeError('early');\n" + fine, fault.SceneThrew, []string{"scene.js:2:", "early"}},
		"a worker of its own":    {small("duration: 1") + "new Worker('x.js');\n" + fine, fault.SceneUnsupported, []string{"scene.js:2:"}},
		"a timer without a word": {small("duration: 1") + "export function draw() { setTimeout(() => {}, 5); }", fault.SceneImpure, []string{"sequential"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStudio(t)
			out := t.TempDir()
			patience := time.Minute // whatever else the machine does
			if c.fault == fault.SceneHung {
				patience = 2 * time.Second
			}
			_, err := s.Render(t.Context(), RenderOptions{
				Source: Source{Scene: writeScene(t, c.code), Workers: 1, FrameTimeout: patience, Memory: 900 << 20},
				Out:    filepath.Join(out, "film.mp4"), Poster: filepath.Join(out, "film.jpg"),
			})
			wantFault(t, err, c.fault, c.words...)
			emptyFolder(t, out)
		})
	}
}

// A scene that is not there is the caller's mistake, and has its own code.
func TestSceneNotFound(t *testing.T) {
	s := newStudio(t)
	_, err := s.Render(t.Context(), RenderOptions{Source: Source{Scene: filepath.Join(t.TempDir(), "none.js")}, Out: "x.mp4"})
	wantFault(t, err, fault.SceneNotFound)
}

// moving is a film long enough to be disturbed: 4 s at 640x360.
const moving = `export const meta = { width: 640, height: 360, fps: 30, duration: 4 };
export function draw(ctx, t, frame, env) {
  ctx.fillStyle = "#102040";
  ctx.fillRect(0, 0, 640, 360);
  for (let i = 0; i < 300; i++) {
    ctx.fillStyle = "hsl(" + (i * 9 + frame * 3) % 360 + " 70% 60%)";
    ctx.fillRect(env.rand("x" + i) * 600 + 30 * Math.sin(t * 3 + i), env.rand("y" + i) * 340, 20, 12);
  }
}`

// A browser, one of its processes, or an encoder that is killed at any time is
// started again, and the film is the same, byte for byte, as one that nobody
// disturbed.
func TestHelperIsKilled(t *testing.T) {
	path := writeScene(t, moving)
	whole := filepath.Join(t.TempDir(), "whole.mp4")
	if _, err := newStudio(t).Render(t.Context(), RenderOptions{Source: Source{Scene: path}, Out: whole}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		kind func(args string) bool
		at   int  // frames that are done
		goes bool // it goes on without being started again
	}{
		{"browser, early", isBrowser, 1, false},
		{"browser, late", isBrowser, 70, false},
		{"the page's process", isPage, 60, false},
		{"other processes of the browser", isBrowsersOther, 60, true},
		{"encoder", isEncoder, 60, false},
		{"what checks the film", isVerifier, 120, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "film.mp4")
			var killing sync.WaitGroup
			killed := false
			res, err := newStudio(t).Render(t.Context(), RenderOptions{
				Source: Source{Scene: path}, Out: out,
				Progress: func(done, total int) {
					switch {
					case done < c.at || killed:
					case done == total: // what comes now is not there yet
						killed = true
						killing.Go(func() { awaitKill(t, c.kind) })
					default:
						killed = kill(t, c.kind) > 0
					}
				},
			})
			killing.Wait()
			if err != nil {
				t.Fatal(err)
			}
			if !killed || res.Restarts < 1 && !c.goes {
				t.Errorf("killed %v, %d restarts", killed, res.Restarts)
			}
			if fileSum(t, out) != fileSum(t, whole) {
				t.Error("the film differs from the undisturbed one")
			}
		})
	}
}

func isBrowser(args string) bool {
	return strings.Contains(args, "--remote-debugging-pipe") && !strings.Contains(args, "--type=")
}

func isPage(args string) bool { return strings.Contains(args, "--type=renderer") }

func isBrowsersOther(args string) bool {
	return strings.Contains(args, "--type=") && !isPage(args)
}

func isEncoder(args string) bool { return strings.Contains(args, "rawvideo") }

func isVerifier(args string) bool { return strings.Contains(args, "-err_detect") }

// kill kills the programs of this process that are of a kind, and tells how
// many there were.
func kill(t *testing.T, kind func(args string) bool) (n int) {
	t.Helper()
	self, err := proc.Self()
	if err != nil {
		t.Error(err)
		return 0
	}
	for _, id := range proc.Descendants(self) {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id.PID))
		if kind(string(raw)) && id.Signal(unix.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// awaitKill kills what will come.
func awaitKill(t *testing.T, kind func(args string) bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if kill(t, kind) > 0 {
			return
		}
	}
	t.Error("there was nothing to kill")
}

// What dies again and again is an error that says what it was.
func TestHelperIsKilledAgainAndAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		kind func(args string) bool
		code fault.Code
		word string
	}{
		{"browser", isBrowser, fault.BrowserFailed, "browser died 3 times"},
		{"encoder", isEncoder, fault.EncodeFailed, "ffmpeg died 3 times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStudio(t)
			out := t.TempDir()
			_, err := s.Render(t.Context(), RenderOptions{
				Source: Source{Scene: writeScene(t, moving)}, Out: filepath.Join(out, "film.mp4"),
				Progress: func(int, int) { kill(t, c.kind) },
			})
			wantFault(t, err, c.code, c.word)
			emptyFolder(t, out)
		})
	}
}

// Stills and checks go on too when their browser is killed.
func TestBrowserOfStillsIsKilled(t *testing.T) {
	path := writeScene(t, moving)
	for name, do := range map[string]func(s *Studio) error{
		"still": func(s *Studio) error {
			_, err := s.Stills(t.Context(), StillOptions{Source: Source{Scene: path}, At: []float64{0, 1, 2, 3}, Out: t.TempDir()})
			return err
		},
		"sheet": func(s *Studio) error {
			_, err := s.Sheet(t.Context(), SheetOptions{Source: Source{Scene: path}, Out: filepath.Join(t.TempDir(), "s.png")})
			return err
		},
		"check": func(s *Studio) error {
			res, err := s.Check(t.Context(), CheckOptions{Source: Source{Scene: path}})
			if err == nil && !res.OK {
				err = fmt.Errorf("the check found %v", res.Errors)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStudio(t)
			var killing sync.WaitGroup
			killing.Go(func() { awaitKill(t, isPage) })
			err := do(s)
			killing.Wait()
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// What an interrupt leaves must be used by the next call, and the bytes must be
// those of a film that was never interrupted.
func TestInterruptAndGoOn(t *testing.T) {
	path := writeScene(t, moving)
	s := newStudio(t)
	out := filepath.Join(t.TempDir(), "film.mp4")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Render(ctx, RenderOptions{Source: Source{Scene: path}, Out: out, Progress: func(done, _ int) {
		if done >= 100 {
			cancel()
		}
	}})
	wantFault(t, err, fault.RenderInterrupted)
	emptyFolder(t, filepath.Dir(out))

	res, err := s.Render(t.Context(), RenderOptions{Source: Source{Scene: path}, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	if res.Reused == 0 {
		t.Error("nothing was reused")
	}
	whole := filepath.Join(t.TempDir(), "whole.mp4")
	if _, err := newStudio(t).Render(t.Context(), RenderOptions{Source: Source{Scene: path, Workers: 1}, Out: whole}); err != nil {
		t.Fatal(err)
	}
	if fileSum(t, out) != fileSum(t, whole) {
		t.Error("the film differs from an uninterrupted one")
	}
	left, _ := os.ReadDir(filepath.Join(s.State, "renders"))
	for _, e := range left {
		if e.IsDir() {
			t.Errorf("%s is left in the work folder", e.Name())
		}
	}
}

// Time that runs out has its own code: the caller may allow more.
func TestRenderTimeout(t *testing.T) {
	s := newStudio(t)
	out := t.TempDir()
	_, err := s.Render(t.Context(), RenderOptions{
		Source: Source{Scene: writeScene(t, moving)}, Out: filepath.Join(out, "film.mp4"), Timeout: 10 * time.Millisecond,
	})
	wantFault(t, err, fault.RenderTimeout)
	emptyFolder(t, out)
}

// A renderer that is killed itself takes its browser and encoders along, loses
// only what was in the making, and what it left in memory goes with the next.
func TestRendererIsKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, path := t.TempDir(), writeScene(t, moving)
	out := filepath.Join(t.TempDir(), "film.mp4")
	cmd := exec.CommandContext(t.Context(), self, renderCommand, path, out, dir)
	cmd.Stderr = os.Stderr
	words, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(words)
	for lines.Scan() {
		if done, _ := strconv.Atoi(lines.Text()); done >= 100 {
			break
		}
	}
	id, err := proc.Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	children := proc.Descendants(id)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if len(children) < 3 {
		t.Errorf("only %d processes were at work", len(children))
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		alive := slices.DeleteFunc(slices.Clone(children), func(c proc.Identity) bool { return !c.Alive() })
		if len(alive) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v outlive the renderer", alive)
		}
	}
	emptyFolder(t, filepath.Dir(out))

	s, err := testStudio(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Spawn.Close()
	res, err := s.Render(t.Context(), RenderOptions{Source: Source{Scene: path}, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	if res.Reused == 0 {
		t.Error("nothing was reused")
	}
	emptyFolder(t, s.Scratch)
}
