package clip

import (
	"cmp"
	"log/slog"

	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

// complete checks the options and fills in the defaults that do not depend on
// the recording.
func (o Options) complete() (Options, error) {
	bad := func(format string, args ...any) (Options, error) {
		return o, fault.New(fault.InvalidValue, "See proofreel clip --help.", format, args...)
	}
	o.Format = cmp.Or(o.Format, MP4)
	o.Width, o.FPS = cmp.Or(o.Width, MaxWidth), cmp.Or(o.FPS, DefaultFPS)
	switch {
	case (o.Dir == nil) == (o.Film == ""):
		return bad("a clip is made of one recording or of one film")
	case o.Out == "":
		return bad("a clip needs a folder")
	case o.Width < 64 || o.Width > MaxWidth:
		return bad("the width is %d, not 64 to %d", o.Width, MaxWidth)
	case o.FPS < 1 || o.FPS > 60:
		return bad("the frame rate is %d, not 1 to 60", o.FPS)
	case o.MaxSize < 0:
		return bad("the largest size is negative")
	case o.Format == GIF && o.CRF != nil:
		return bad("GIF has no --crf: it keeps at most 256 colours; use --width or --fps")
	case o.CRF != nil && (*o.CRF < 0 || *o.CRF > 51):
		return bad("the crf is %d, not 0 to 51", *o.CRF)
	}
	switch o.Format {
	case MP4, WebM, GIF, WebP:
	default:
		return bad("the format is %q, not mp4, webm, gif or webp", o.Format)
	}
	if o.Deps.Setter == nil {
		o.Deps.Setter = typeset.New()
	}
	if o.Deps.Log == nil {
		o.Deps.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// following fills in what the recording was started with.
func (o Options) following(src *source) Options {
	o.Name = cmp.Or(o.Name, src.name, "recording")
	o.Stills = cmp.Or(o.Stills, timeline.Stills(src.defaults.Stills), timeline.StillsCut)
	o.Speed = cmp.Or(o.Speed, src.defaults.Speed, 1)
	o.Position = cmp.Or(o.Position, timeline.Position(src.defaults.Position), timeline.Top)
	return o
}

// crf is the quality to begin with.
func (o Options) crf() int {
	if o.CRF == nil {
		return DefaultCRF
	}
	return *o.CRF
}

// planned are the options of the timeline.
func (o Options) planned(fps int) timeline.Options {
	return timeline.Options{Stills: o.Stills, Speed: o.Speed, Position: o.Position, FPS: fps}
}
