package runner

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/bwrap"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/exit"
)

// smallScene is drawn quickly.
const smallScene = `export const meta = { width: 160, height: 90, fps: 30, duration: 1 };
export function draw(ctx, t, frame, env) {
  ctx.fillStyle = '#3060c0';
  ctx.fillRect(0, 0, 160, 90);
  ctx.fillStyle = '#ffffff';
  ctx.font = env.font('Inter', 28, 800);
  ctx.fillText('box', 10 + 60 * t, 55);
}
`

// inBox runs a job in a real box with the real program, and gives its film.
func inBox(t *testing.T, r *rig, a agent.Agent, limit time.Duration) (log string) {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "proofreel")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", exe, "github.com/proofreel/proofreel/cmd/proofreel")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	e, err := bwrap.Open(t.Context(), cell.Config{Dir: t.TempDir(), Exe: exe}, "")
	if err != nil {
		t.Fatalf("%v: apt-get install bubblewrap", err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, s := range []string{r.job.Door, r.job.Report} {
		if err := os.Chmod(s, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(r.job.Door), 0o711); err != nil {
		t.Fatal(err)
	}
	spec, err := agent.Spec(a, r.job)
	if err != nil {
		t.Fatal(err)
	}
	spec.Stdout = r.log
	box, err := e.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	end, err := box.Wait(ctx)
	if err != nil || end.Reason != executor.Exited || end.Code != 0 {
		t.Fatalf("the box ended with %+v, %v\n%s", end, err, r.log)
	}
	info, err := mp4.Inspect(filepath.Join("/proc/self/fd", strconv.Itoa(int(box.Work().Fd())), exit.FilmName))
	if err != nil || info.Width != width || info.Samples != 30 {
		t.Errorf("the film: %+v, %v", info, err)
	}
	return r.log.String()
}

// The whole in a real box: real program, real browser, real gateway. From inside
// the runner reaches its two doors; the model sees stills of a real scene.
func TestInBox(t *testing.T) {
	look := says(call("toolu_1", "still", `{"at":[0.5]}`), call("toolu_2", "bash", `{"command":"id -u; cat /etc/hosts; env; getent hosts llm.internal; ls /run/proofreel"}`))
	r := newRig(t, 0, script(writes(smallScene), look, says(call("toolu_3", "check", `{}`)), says(call("toolu_4", "render", `{}`)), done()), nil)
	log := inBox(t, r, agent.Own(), 5*time.Minute)
	if got := r.last(); got.Phase != agent.Done || got.End != agent.Finished || got.Frames != 30 {
		t.Errorf("reported %+v\n%s", got, log)
	}
	r.seen(5, 1)
	last := r.up.Seen()[4].Body
	for _, want := range []string{`"type":"image"`, "llm.internal", "1000\\n", "door.sock", "as it was ordered"} {
		if !strings.Contains(last, want) {
			t.Errorf("the model has not seen %q: %s", want, log)
		}
	}
}
