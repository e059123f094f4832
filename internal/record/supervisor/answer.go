package supervisor

import (
	"github.com/proofreel/proofreel/internal/media/recording"
)

// stopResult makes the terminal answer from the state.
func stopResult(man recording.Manifest, evs []recording.Event) StopResult {
	f := man.Film
	res := StopResult{
		RecordingID: man.ID, Name: man.Name, Path: f.Path, Published: man.Options.Publish,
		Verdict: f.Verdict, VerdictWhy: f.VerdictWhy, EndedBy: recording.ReasonSupervisor,
		DurationSeconds: seconds(f.Duration), Size: sizeText(f.Width, f.Height), FPS: f.FPS, Rate: f.Rate,
		Frames: f.Frames, FramesCaptured: f.Captured, FramesDropped: f.Dropped,
		Bytes: f.Bytes, SHA256: f.SHA256, StartedAt: man.Clock.Wall,
		Steps: stepResults(evs), Incidents: incidentResults(man.Incidents),
	}
	if man.Stop != nil {
		res.EndedBy = man.Stop.Reason
	}
	if p := man.Published; p != nil {
		res.URL = p.URL
		if p.Path != "" {
			res.Path = p.Path
		}
	}
	return res
}

// stepResults joins each step with its result. Of several results of a step
// the last counts.
func stepResults(evs []recording.Event) []StepResult {
	out := []StepResult{}
	at := map[int]int{}
	for _, e := range evs {
		if e.Kind == recording.EventStep {
			at[e.Step] = len(out)
			out = append(out, StepResult{Step: e.Step, Text: e.Text, Second: seconds(e.At), At: e.Wall})
			continue
		}
		if i, ok := at[e.Step]; ok && e.Pass != nil {
			out[i].Result, out[i].Comment = passText(*e.Pass), e.Text
		}
	}
	return out
}
