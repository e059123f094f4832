// Package clip makes a clip of a recording: its film, events and damage log
// become a short video with captions, and the files that go with it. What is
// shown when is decided by timeline, what is still by still, how captions look
// by overlay and what the page says by page; here they meet the pixels. The
// recording is only read. Nothing here records, publishes or prints.
//
// # How
//
// The film is decoded once: only the groups of pictures that the plan needs
// are given to the decoder, and only the pictures that are shown leave it,
// scaled. Captions are blended onto their own rectangles, and the frames go to
// one encoder with their times. A picture that stands, in a hold or a still
// stretch, is one long frame: measured on a screen of 60 s that changes every
// 2 s, it costs a tenth of the CPU and a quarter of the bytes of the same
// frames repeated 15 times a second. So the clip's frame rate is the finest
// grain of its times, not a count of its frames.
package clip

import (
	"context"
	"log/slog"
	"time"

	"github.com/proofreel/proofreel/internal/edit/page"
	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

// Format is the kind of the clip's file.
type Format string

// The formats. A page shows MP4 and WebM; GIF and WebP are pictures.
const (
	MP4  Format = "mp4"
	WebM Format = "webm"
	GIF  Format = "gif"
	WebP Format = "webp"
)

// Defaults and bounds of the options.
const (
	MaxWidth   = 1280 // pixels; also the default
	DefaultFPS = 15
	DefaultCRF = 28
)

// Options say what is made of which recording. Zero values are the defaults.
type Options struct {
	// Dir is the recording. It must have ended.
	Dir *recording.Dir
	// Film is the path of a film that Proofreel made, in place of a recording:
	// then there are no captions. One of Dir and Film is given.
	Film string

	// Out is the folder of the files; it is made when it is not there.
	Out string
	// Name begins the files' names and is the clip's title; empty: the
	// recording's, else "recording".
	Name string

	Stills   timeline.Stills   // empty: as the recording says, else cut
	Speed    int               // 1, 2 or 4; 0: as the recording says, else 1
	Position timeline.Position // empty: as the recording says, else top

	Width   int    // pixels, 64 to 1280; never more than the film's
	FPS     int    // 1 to 60
	CRF     *int   // 0 to 51; of H.264's scale also for WebM and WebP. Not for GIF.
	MaxSize int64  // bytes of the video's file that are not exceeded; 0: any
	Format  Format // empty: MP4

	// What is drawn of the recording's input log, and around the film.
	Pointer bool // the pointer, and rings where it clicked
	Keys    bool // caps of the keys that have a name
	Zoom    bool // go near to where clicks were
	Frame   bool // the film stands on a background, with round corners

	Deps Deps
}

// Deps is what a clip is made with.
type Deps struct {
	FFmpeg string // path of the binary
	Spawn  *proc.Spawner
	Log    *slog.Logger
	Setter *typeset.Setter
}

// Result is a finished clip. Paths are absolute. Times in seconds.
type Result struct {
	RecordingID string `json:"recordingId,omitempty"`
	Name        string `json:"name"`

	Path       string `json:"path"`            // the video
	Page       string `json:"page,omitempty"`  // none for GIF and WebP
	Captions   string `json:"captions"`        // WebVTT
	Transcript string `json:"transcript"`      // JSON: steps, results, changes, and the map of times
	Poster     string `json:"poster"`          // JPEG
	Sheet      string `json:"sheet,omitempty"` // PNG; none for a recording without steps

	Format Format `json:"format"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	FPS    int    `json:"fps"` // the grain of its times; a still picture is one long frame
	CRF    int    `json:"crf,omitempty"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`

	Stills    timeline.Stills   `json:"stills"`
	Speed     int               `json:"speed"`
	Position  timeline.Position `json:"position"`
	Seconds   float64           `json:"durationSeconds"`
	Recorded  float64           `json:"recordingSeconds"`
	Cut       float64           `json:"cutSeconds"` // of the recording, left out
	StartedAt time.Time         `json:"startedAt"`

	Steps []Step    `json:"steps"`
	Map   []Stretch `json:"map"`

	// Markdown is a line that shows the clip in a Markdown thread. It names
	// the files without their folder: put them where the thread finds them.
	Markdown string `json:"markdown"`

	Notes      []string          `json:"notes"` // what the reader should know: what was traded for --max-size, what is missing
	Verdict    recording.Verdict `json:"verdict,omitempty"`
	VerdictWhy []string          `json:"verdictWhy"`
}

// Step is a step of the clip with its result.
type Step struct {
	Step    int       `json:"step"`
	Text    string    `json:"text"`
	Second  float64   `json:"second"`           // in the clip
	At      time.Time `json:"at"`               // in the world
	Result  string    `json:"result,omitempty"` // pass, fail or empty
	Comment string    `json:"comment,omitempty"`
	// ResultSecond is when the result comes, in the clip.
	ResultSecond *float64 `json:"resultSecond,omitempty"`
}

// Stretch is a piece of the map between the clip's time and the recording's:
// inside it both run evenly; in a hold the recording's stands. What lies
// between two stretches of the recording was cut.
type Stretch struct {
	Clip      [2]float64 `json:"clip"`      // from, to
	Recording [2]float64 `json:"recording"` // from, to
	UTC       time.Time  `json:"utc"`       // at the first
	Hold      bool       `json:"hold,omitempty"`
}

// Make makes a clip. Its files are there, whole and checked, when it returns
// without an error; with one, none is, and files of an earlier clip of the
// same name are as they were. Errors for the user are *fault.Error: the
// recording can't be shown (clip_failed), the size can't be met
// (size_unreachable), the folder can't be written (out_unwritable, disk_full).
func Make(ctx context.Context, o Options) (Result, error) {
	o, err := o.complete()
	if err != nil {
		return Result{}, err
	}
	src, err := open(o)
	if err != nil {
		return Result{}, err
	}
	defer src.close()
	o = o.following(src)

	work, err := newFolder(o.Out)
	if err != nil {
		return Result{}, err
	}
	defer work.remove()
	m := &maker{Options: o, src: src, work: work}
	if err := m.study(ctx); err != nil {
		return Result{}, m.explain(ctx, err)
	}
	m.readInput()
	best, err := m.fit(ctx)
	if err != nil {
		return Result{}, m.explain(ctx, err)
	}
	if err := m.check(ctx, best); err != nil {
		return Result{}, m.explain(ctx, err)
	}
	res, err := m.finish(best)
	if err != nil {
		return Result{}, m.explain(ctx, err)
	}
	return res, nil
}

// maker makes one clip.
type maker struct {
	Options
	src   *source
	work  *folder
	input timeline.Input

	inputs []recording.Input // in the order of time; empty when they are not drawn
	about  []page.Change     // what changed on the screen, in the order of time
	notes  []string
}

func (m *maker) note(text string) { m.notes = append(m.notes, text) }
