package clip

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// source is a recording that is open for reading.
type source struct {
	id, name string
	start    time.Time
	defaults recording.Options

	path    string
	film    *os.File
	track   mp4.Track
	samples []mp4.Sample // in the order of time; the first at tick 0
	shows   []int32      // by sample: the one whose picture it shows
	ticks   int64        // length

	events    []recording.Event
	damage    []recording.Damage // empty when it does not tell all
	incidents []recording.Incident
	verdict   recording.Verdict
	why       []string
	notes     []string
}

// open reads what there is of a recording.
func open(o Options) (*source, error) {
	s := &source{path: o.Film, why: []string{}}
	if o.Dir != nil {
		if err := s.readDir(o.Dir); err != nil {
			return nil, err
		}
	}
	return s, s.readFilm()
}

func (s *source) close() {
	if s.film != nil {
		_ = s.film.Close() // only read
	}
}

func (s *source) readDir(dir *recording.Dir) error {
	man, err := dir.Load()
	if err != nil {
		return fault.Wrap(err, fault.StateCorrupt, "The film may still be there: film.mp4 in the recording's directory.", "the state of the recording can't be read")
	}
	if man.Film == nil {
		if !man.Phase.Terminal() {
			return fault.New(fault.InvalidState, "End it first: proofreel stop "+man.ID, "recording %s has not ended", man.ID)
		}
		return fault.New(fault.InvalidState, "See what became of it: proofreel stop "+man.ID, "recording %s has no film", man.ID)
	}
	s.id, s.name, s.start, s.defaults = man.ID, man.Name, man.Clock.Wall, man.Options
	s.path, s.incidents = dir.FilmPath(), man.Incidents
	s.verdict, s.why = man.Film.Verdict, append(s.why, man.Film.VerdictWhy...)
	s.readEvents(dir, man)
	s.readDamage(dir, man)
	return nil
}

// readDamage takes the damage log when it may tell of every change: an engine
// wrote it, none died and took the last entries with it, and all of it can be
// read. Whether the film agrees is seen later.
func (s *source) readDamage(dir *recording.Dir, man recording.Manifest) {
	partial := man.Film.Verdict == recording.VerdictSalvaged
	for _, i := range man.Incidents {
		partial = partial || i.Kind == recording.IncidentDied || i.Kind == "fallback" || i.Kind == "geometry"
	}
	if partial {
		return
	}
	entries, bad, err := dir.ReadDamage()
	switch {
	case err != nil:
		s.notes = append(s.notes, "The log of changes could not be read, so the film itself was asked what is still.")
	case bad > 0:
		s.notes = append(s.notes, fmt.Sprintf("%d %s of the log of changes could not be read, so the film itself was asked what is still.", bad, plural(bad)))
	default:
		s.damage = entries
	}
}

// readFilm opens the film and reads its index.
func (s *source) readFilm() error {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(err, fault.ClipFailed, "Without its film a recording can't be shown; a published copy may be elsewhere.", "the film is gone")
	}
	if err != nil {
		return fault.Wrap(err, fault.ClipFailed, "Check who owns the film.", "the film can't be opened")
	}
	s.film = f
	stat, err := f.Stat()
	if err == nil {
		s.track, s.samples, err = mp4.ReadFilm(f, stat.Size())
	}
	if err == nil && len(s.samples) == 0 {
		err = errors.New("it holds no frame")
	}
	var info mp4.Info
	if err == nil {
		info, err = mp4.InspectReader(f, stat.Size())
	}
	if err != nil {
		s.close()
		return fault.Wrap(err, fault.ClipFailed, "A clip is made of a film that Proofreel recorded; this one is damaged or another's.", "the film can't be read")
	}
	s.ticks = info.Duration.Num * int64(s.track.FPS) / info.Duration.Den
	if err := s.findRepeats(); err != nil {
		s.close()
		return fault.Wrap(err, fault.ClipFailed, "The film is damaged; a published copy may be whole.", "the film can't be read")
	}
	return nil
}

// time is the time of a tick, rounded up to nanoseconds.
func (s *source) time(tick int64) time.Duration {
	fps := int64(s.track.FPS)
	return time.Duration((tick*int64(time.Second) + fps - 1) / fps)
}

// at is the index of the sample that lasts over a tick.
func (s *source) at(tick int64) int {
	n := sort.Search(len(s.samples), func(i int) bool { return s.samples[i].Tick > tick })
	return max(n-1, 0)
}

// shown is the index of the sample whose picture is shown at a tick.
func (s *source) shown(tick int64) int { return int(s.shows[s.at(tick)]) }

// key is the index of the keyframe from which a sample is decoded.
func (s *source) key(sample int) int {
	for sample > 0 && !s.samples[sample].Key {
		sample--
	}
	return sample
}

// gaps are the stretches of which the recording knows nothing. An incident
// says where one begins; it ends with the next picture, or the next change
// that was seen.
func (s *source) gaps() (list [][2]time.Duration) {
	for _, i := range s.incidents {
		if i.Kind != recording.IncidentGap && i.Kind != recording.IncidentBad {
			continue
		}
		to := s.time(s.ticks)
		if n := s.pictureAfter(i.At); n >= 0 {
			to = s.time(s.samples[n].Tick)
		}
		at, _ := slices.BinarySearchFunc(s.damage, i.At+1, func(d recording.Damage, t time.Duration) int {
			return int(d.At - t)
		})
		if at < len(s.damage) {
			to = min(to, s.damage[at].At)
		}
		if to > i.At {
			list = append(list, [2]time.Duration{i.At, to})
		}
	}
	return list
}

// pictureAfter is the first sample after a time that has a picture of its own,
// or -1.
func (s *source) pictureAfter(at time.Duration) int {
	for n := s.at(int64(at) * int64(s.track.FPS) / int64(time.Second)); n < len(s.samples); n++ {
		if int(s.shows[n]) == n && s.time(s.samples[n].Tick) > at {
			return n
		}
	}
	return -1
}
