package main

import (
	"fmt"
	"io"
	"time"

	"github.com/proofreel/proofreel/internal/edit/clip/cliptest"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

// mostlyStill is an agent's session: every 30 s it does something for 2 s and
// says what; the rest is stillness.
func mostlyStill(length time.Duration) cliptest.Spec {
	const w, h = 1920, 1080
	s := cliptest.Spec{
		Name: "bench", Width: w, Height: h, FPS: 30, Length: length,
		Changes: []cliptest.Change{cliptest.Paint(typeset.New(), w, h, "A page")},
	}
	for n := 0; ; n++ {
		at := time.Duration(n)*30*time.Second + 5*time.Second
		if at+5*time.Second > length {
			return s
		}
		s.Events = append(s.Events,
			cliptest.Step(at, n+1, fmt.Sprintf("Step number %d of the session", n+1)),
			cliptest.Result(at+3*time.Second, n+1, n%3 != 2, "What came of it"))
		for i := range 20 {
			r := recording.Rect{X: 60 + 90*i, Y: 500 + 40*(n%12), W: 70, H: 30}
			s.Changes = append(s.Changes, cliptest.Box(at+500*time.Millisecond+time.Duration(i)*100*time.Millisecond, r, byte(40+10*(n%15))))
		}
	}
}

func table(w io.Writer, f figures) {
	fmt.Fprintf(w, "Clip of a recording of %.0f s, 1920x1080 at 30 frames a second, mostly still\n\n", f.RecordingSeconds)
	fmt.Fprintf(w, "%-28s %9s %9s %9s %9s %11s\n", "", "CPU s", "wall s", "peak MB", "clip s", "bytes")
	for _, row := range []struct {
		name string
		cost
	}{{"proofreel", f.Ours}, {"freezedetect, then drawtext", f.Naive}, {"proofreel, a fifth as long", f.Short}} {
		fmt.Fprintf(w, "%-28s %9.2f %9.2f %9.0f %9.1f %11d\n", row.name, row.CPUSeconds, row.WallSeconds, row.PeakMB, row.ClipSeconds, row.ClipBytes)
	}
	fmt.Fprintf(w, "\nCPU, ours to naive:          %.2f (at most %.2f)\n", f.CPURatio, most)
	fmt.Fprintf(w, "memory, long to a fifth:     %.2f (at most %.2f)\n", f.MemoryRatio, flat)
	fmt.Fprintf(w, "wall time to recording:      %.3f\n", f.Ours.WallSeconds/f.RecordingSeconds)
	fmt.Fprintf(w, "met: %t\n", f.Met)
}
