package supervisor

import (
	"context"
	"fmt"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/media/verify"
	"github.com/proofreel/proofreel/internal/record/capture"
)

// captured is what there is to make a film of.
type captured struct {
	track     mp4.Track
	segs      []segment.Segment // verified
	end       int64             // ticks
	dropped   int64
	incidents []recording.Incident
}

// captured gives the verified segments: from the recorder that ran in this
// process, or, when another process recorded them, from the disk.
func (s *session) captured(ctx context.Context) (captured, error) {
	if s.rec == nil {
		return s.salvage(ctx)
	}
	c, err := s.rec.Finish()
	if err != nil {
		s.log.Warn("verification while recording failed: verifying again", "err", err)
		return s.salvage(ctx)
	}
	out := captured{track: c.Track, segs: c.Segments, end: c.End, dropped: c.Stats.Dropped, incidents: c.Incidents}
	out.leaveOut(c.Bad)
	out.noteEnd(s.manifest().Stop)
	return out, nil
}

// salvage verifies what a supervisor that died has left on disk.
func (s *session) salvage(ctx context.Context) (captured, error) {
	track, segs, problems, err := segment.Scan(s.dir.Segments())
	if err != nil {
		return captured{}, fault.Wrap(err, fault.FinalizeFailed, "Check the recording's directory.", "the segments can't be read")
	}
	out := captured{track: track, segs: segs, incidents: s.manifest().Incidents}
	for _, p := range problems {
		out.incidents = append(out.incidents, recording.Incident{Kind: recording.IncidentBad, Salvaged: true, Detail: p.Error()})
	}
	if len(segs) == 0 {
		return out, nil
	}
	dec, err := s.decoder(ctx)
	if err != nil {
		return captured{}, err
	}
	live := verify.NewLive(ctx, dec, track)
	for _, seg := range segs {
		live.Add(seg)
	}
	bad, err := live.Finish()
	if err != nil {
		return captured{}, fault.Wrap(err, fault.FinalizeFailed, "The recorded segments are kept: stop again.", "the segments could not be verified")
	}
	if l, err := s.dir.LoadLive(); err == nil {
		out.dropped = l.Dropped
	}
	out.leaveOut(bad)
	if len(out.segs) == 0 {
		return out, nil
	}
	out.end = s.salvagedEnd(out.segs)
	stop, detail := s.manifest().Stop, "the supervisor died; the film ends with the last frame that it wrote"
	if stop != nil {
		detail = "the supervisor died while it brought the film to its end; the film holds what was on disk"
	}
	out.incidents = append(out.incidents, recording.Incident{
		At: segment.Length(out.end, track.FPS), Kind: recording.IncidentDied, Salvaged: true, Detail: detail,
	})
	out.noteEnd(stop)
	return out, nil
}

// salvagedEnd is where a film ends whose supervisor died: where it was told to
// end, when it still knew that, else behind the last frame.
func (s *session) salvagedEnd(segs []segment.Segment) int64 {
	man := s.manifest()
	last := segs[len(segs)-1].Last() + 1
	if man.Stop == nil || man.Stop.Reason == recording.ReasonSupervisor {
		return last
	}
	return segment.Ticks(man.Stop.At, man.Options.FPS)
}

// leaveOut drops the segments that don't decode.
func (c *captured) leaveOut(bad []verify.Bad) {
	for _, b := range bad {
		for i, seg := range c.segs {
			if seg.Path != b.Segment.Path {
				continue
			}
			c.segs = append(c.segs[:i], c.segs[i+1:]...)
			c.incidents = append(c.incidents, recording.Incident{
				At: segment.Length(seg.First(), c.track.FPS), Kind: recording.IncidentBad, Salvaged: true,
				Detail: fmt.Sprintf("%.1f s did not decode and were left out", segment.Length(seg.Last()-seg.First()+1, c.track.FPS).Seconds()),
			})
			break
		}
	}
}

// noteEnd adds an incident when the film did not end because somebody wanted
// it to.
func (c *captured) noteEnd(stop *recording.Stop) {
	if stop == nil {
		return
	}
	i := recording.Incident{At: stop.At, Kind: stop.Reason, Detail: stop.Detail}
	switch stop.Reason {
	case recording.ReasonDisplayLost, recording.ReasonCaptureLost:
		i.Salvaged = true
	case recording.ReasonDiskFloor:
	default:
		return
	}
	c.incidents = append(c.incidents, i)
}

// judge gives the verdict and its reasons.
func judge(incidents []recording.Incident, dropped int64) (recording.Verdict, []string) {
	verdict, why := recording.VerdictComplete, []string{}
	if dropped > 0 {
		verdict = recording.VerdictDegraded
		why = append(why, fmt.Sprintf("%d frames that were due were not captured: the machine was busy", dropped))
	}
	for _, i := range incidents {
		switch {
		case i.Salvaged:
			verdict = recording.VerdictSalvaged
		case i.Kind == recording.IncidentGap && verdict == recording.VerdictComplete:
			verdict = recording.VerdictDegraded
		case i.Kind == recording.IncidentGap:
		case i.Kind == string(capture.EventGeometry) && verdict == recording.VerdictComplete:
			verdict = recording.VerdictDegraded
		case i.Kind == string(capture.EventGeometry):
		case i.Kind == recording.ReasonDiskFloor:
			verdict = recording.VerdictSalvaged
		default:
			continue // told among the incidents, no fault of the film
		}
		why = append(why, fmt.Sprintf("at %.1f s: %s: %s", i.At.Seconds(), i.Kind, i.Detail))
	}
	return verdict, why
}
