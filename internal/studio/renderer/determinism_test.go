package renderer

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

var sceneFrames = flag.Int("scene-frames", 12, "frames of each example that are drawn twice")

// everything uses each source of chance and time that a scene can reach.
const everything = `
let bits = new Uint32Array(4), ticks = 0, timed = 0;
setTimeout(() => { timed++; }, 200);
const id = setInterval(() => { ticks++; if (ticks === 20) clearInterval(id); }, 50);
const loop = () => { ticks += 0.001; requestAnimationFrame(loop); };
requestAnimationFrame(loop);
export function draw(ctx, t, frame, env) {
  crypto.getRandomValues(bits);
  const all = [Date.now(), new Date().toString(), Math.random(), performance.now(), [...bits], crypto.randomUUID(), ticks, timed,
    env.rand("a"), env.rand(frame), env.noise(t), new Intl.DateTimeFormat().format(new Date())];
  ctx.fillStyle = "#000";
  ctx.fillRect(0, 0, 320, 180);
  ctx.fillStyle = "#fff";
  ctx.font = "12px Inter";
  env.text.wrap(ctx, JSON.stringify(all), 300).forEach((line, i) => ctx.fillText(line.text ?? line, 8, 16 + 15 * i));
}`

// The same scene must give the same frames in another process, with another
// number of workers, in another order: everything else hangs on it.
func TestEverythingIsDeterministic(t *testing.T) {
	path := writeScene(t, small("duration: 2, sequential: true")+everything)
	once := hashes(t, path, 1, []int{0, 7, 30, 59})
	if d := cmp.Diff(once, reversed(hashes(t, path, 2, []int{59, 30, 7, 0}))); d != "" {
		t.Error(d)
	}
	if seen := map[string]bool{}; len(once) == 4 {
		for _, line := range once {
			seen[line[len(line)-64:]] = true
		}
		if len(seen) != 4 {
			t.Errorf("time or chance stand still: %v", once)
		}
	}
}

func TestExamplesAreDeterministic(t *testing.T) {
	for _, path := range examples(t) {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			list := someFrames(t, path, *sceneFrames)
			one := hashes(t, path, 1, list)
			two := reversed(hashes(t, path, 2, reversed(list)))
			if d := cmp.Diff(one, two); d != "" {
				t.Errorf("one worker, then two in another process and order: %s", d)
			}
		})
	}
}

// examples are the scenes that the docs show.
func examples(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../../../examples/*/scene.js")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 5 {
		t.Fatalf("there are %d examples, want five at least", len(all))
	}
	return all
}

// someFrames picks frames of a scene at random; which, its text decides.
func someFrames(t *testing.T, path string, n int) []int {
	t.Helper()
	s := newStudio(t)
	st, err := s.Open(t.Context(), Source{Scene: path, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	b, err := scene.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	list := chosen(b.Hash, n, st.Meta().Frames())
	if st.Workers() > 1 || !st.Meta().Sequential { // a jump is dear for those that go in order
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return list
}

// hashes draws frames in a process of its own.
func hashes(t *testing.T, path string, workers int, list []int) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{hashCommand, path, fmt.Sprint(workers)}
	for _, n := range list {
		args = append(args, fmt.Sprint(n))
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("draw %s: %v", path, err)
	}
	var lines []string
	for line := range bytes.Lines(out) {
		lines = append(lines, string(bytes.TrimSpace(line)))
	}
	return lines
}

func reversed[T any](list []T) []T {
	out := make([]T, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, list[i])
	}
	return out
}
