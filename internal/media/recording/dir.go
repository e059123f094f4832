package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/google/uuid"

	"github.com/proofreel/proofreel/internal/host/statefile"
)

// Names of the files in a recording's directory.
const (
	manifestFile = "manifest.json"
	lockFile     = "lock"
	liveFile     = "live.json"
	eventsFile   = "events.jsonl"
	eventsLock   = "events.lock"
	stopFile     = "stop.json"
	segmentsDir  = "segments"
	damageFile   = "damage.log"
	filmFile     = "film.mp4"
	logFile      = "supervisor.log"
	privateDir   = "private"
)

// ErrNotFound says that there is no such recording.
var ErrNotFound = errors.New("no such recording")

// Dir is the directory of one recording.
type Dir struct{ path string }

// Home is the directory of all recordings of this user: PROOFREEL_HOME, or
// proofreel in the user's state directory (XDG base directory specification).
func Home(getenv func(string) string) (string, error) {
	if h := getenv("PROOFREEL_HOME"); h != "" {
		abs, err := filepath.Abs(h)
		if err != nil {
			return "", fmt.Errorf("resolve PROOFREEL_HOME: %w", err)
		}
		return abs, nil
	}
	if s := getenv("XDG_STATE_HOME"); filepath.IsAbs(s) {
		return filepath.Join(s, "proofreel"), nil
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("neither PROOFREEL_HOME nor HOME is set")
	}
	return filepath.Join(home, ".local", "state", "proofreel"), nil
}

// Create makes the directory of a new recording and writes its manifest.
func Create(home string, m Manifest) (*Dir, error) {
	root := filepath.Join(home, "recordings")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the recordings: %w", err)
	}
	d := &Dir{filepath.Join(root, m.ID)}
	if err := os.Mkdir(d.path, 0o700); err != nil {
		return nil, fmt.Errorf("make the recording's directory: %w", err)
	}
	err := errors.Join(os.Mkdir(d.Segments(), 0o700), os.Mkdir(d.Private(), 0o700), d.Save(m))
	if err != nil {
		_ = os.RemoveAll(d.path)
		return nil, fmt.Errorf("fill the recording's directory: %w", err)
	}
	return d, nil
}

// At is the recording in the directory path.
func At(path string) *Dir { return &Dir{path} }

// Open finds a recording by its id. The error is ErrNotFound when there is none.
func Open(home, id string) (*Dir, error) {
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.String() != id { // an id never becomes another path
		return nil, fmt.Errorf("%q: %w", id, ErrNotFound)
	}
	d := &Dir{filepath.Join(home, "recordings", id)}
	st, err := os.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && !st.IsDir()) {
		return nil, fmt.Errorf("%q: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("look for recording %s: %w", id, err)
	}
	return d, nil
}

// List finds all recordings, in no order. A home that does not exist has none.
func List(home string) ([]*Dir, error) {
	root := filepath.Join(home, "recordings")
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list recordings: %w", err)
	}
	var out []*Dir
	for _, e := range entries {
		if _, err := uuid.Parse(e.Name()); err == nil && e.IsDir() {
			out = append(out, &Dir{filepath.Join(root, e.Name())})
		}
	}
	return out, nil
}

// ID is the recording's id, from its directory's name.
func (d *Dir) ID() string { return filepath.Base(d.path) }

// Path is the directory itself.
func (d *Dir) Path() string { return d.path }

// Segments is the directory of the segments.
func (d *Dir) Segments() string { return filepath.Join(d.path, segmentsDir) }

// Private is the directory of what must go with the recording's end: cookie,
// browser profile.
func (d *Dir) Private() string { return filepath.Join(d.path, privateDir) }

// FilmPath is where the verified film is installed.
func (d *Dir) FilmPath() string { return filepath.Join(d.path, filmFile) }

// DamagePath is the damage log's file.
func (d *Dir) DamagePath() string { return filepath.Join(d.path, damageFile) }

// LogPath is the supervisor's log.
func (d *Dir) LogPath() string { return filepath.Join(d.path, logFile) }

// Load reads the manifest. The error is a *statefile.CorruptError when it is
// not a manifest of this format.
func (d *Dir) Load() (Manifest, error) {
	var m Manifest
	path := filepath.Join(d.path, manifestFile)
	if err := statefile.Read(path, &m); err != nil {
		return Manifest{}, err
	}
	if m.FormatVersion != FormatVersion || m.ID != d.ID() || m.Phase == "" {
		return Manifest{}, &statefile.CorruptError{
			Path: path,
			Err:  fmt.Errorf("format %d of recording %q, expected format %d of %q", m.FormatVersion, m.ID, FormatVersion, d.ID()),
		}
	}
	return m, nil
}

// Save replaces the manifest. Only the holder of the recording's lock does.
func (d *Dir) Save(m Manifest) error { return statefile.Write(filepath.Join(d.path, manifestFile), m) }

// TryLock takes the right to change the recording: the supervisor holds it
// for its life. It returns statefile.ErrLocked when another has it.
func (d *Dir) TryLock() (*statefile.Lock, error) {
	return statefile.TryLock(filepath.Join(d.path, lockFile))
}

// Remove deletes the recording with everything in it.
func (d *Dir) Remove() error {
	if err := os.RemoveAll(d.path); err != nil {
		return fmt.Errorf("remove recording %s: %w", d.ID(), err)
	}
	return statefile.SyncDir(filepath.Dir(d.path))
}

// Bytes is the size of all files of the recording.
func (d *Dir) Bytes() int64 {
	var sum int64
	_ = filepath.WalkDir(d.path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // vanished meanwhile
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// Live is what the supervisor reports twice a second while it films.
type Live struct {
	At       time.Duration `json:"atNs"` // since the epoch
	Captured int64         `json:"captured"`
	Distinct int64         `json:"distinct"` // 0 when the engine can't tell
	Dropped  int64         `json:"dropped"`
	Bytes    int64         `json:"bytes"`    // of the frames, without the boxes around them
	Achieved float64       `json:"achieved"` // captured frames a second over the last 5 s
	Verified int64         `json:"verified"` // frames decoded so far
}

// SaveLive replaces the live figures.
func (d *Dir) SaveLive(l Live) error {
	return statefile.WriteVolatile(filepath.Join(d.path, liveFile), l)
}

// LiveAt is when the live figures were last written; zero: never.
func (d *Dir) LiveAt() time.Time {
	st, err := os.Stat(filepath.Join(d.path, liveFile))
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// Beat is a sign of life of a process that waits in good order: it makes the
// live figures new without changing them.
func (d *Dir) Beat() {
	now := time.Now()
	_ = os.Chtimes(filepath.Join(d.path, liveFile), now, now)
}

// LoadLive reads the live figures; before the first, they are zero.
func (d *Dir) LoadLive() (Live, error) {
	var l Live
	err := statefile.Read(filepath.Join(d.path, liveFile), &l)
	if errors.Is(err, fs.ErrNotExist) {
		return Live{}, nil
	}
	return l, err
}

// RequestStop asks the supervisor to end the film at s.At. The first request
// wins: later ones change nothing.
func (d *Dir) RequestStop(s Stop) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the stop request: %w", err)
	}
	tmp, err := os.CreateTemp(d.path, stopFile+".*")
	if err != nil {
		return fmt.Errorf("write the stop request: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, werr := tmp.Write(raw)
	if err := errors.Join(werr, tmp.Close()); err != nil {
		return fmt.Errorf("write the stop request: %w", err)
	}
	// A link fails when the name exists: whole or not at all, and once.
	err = os.Link(tmp.Name(), filepath.Join(d.path, stopFile))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("place the stop request: %w", err)
	}
	return nil
}

// StopRequest reads the request to stop; ok says whether there is one.
func (d *Dir) StopRequest() (s Stop, ok bool) {
	if err := statefile.Read(filepath.Join(d.path, stopFile), &s); err != nil {
		return Stop{}, false
	}
	return s, true
}

// AddEvent appends an event, durably. next gets the events so far and gives
// the new one; its error is returned as it is and nothing is written.
func (d *Dir) AddEvent(next func(sofar []Event) (Event, error)) (Event, error) {
	lock, err := statefile.Acquire(filepath.Join(d.path, eventsLock))
	if err != nil {
		return Event{}, err
	}
	defer lock.Unlock()
	file, err := d.readEvents()
	if err != nil {
		return Event{}, err
	}
	ev, err := next(file.events)
	if err != nil {
		return Event{}, err
	}
	return ev, d.appendEvent(ev, file.torn)
}

func (d *Dir) appendEvent(ev Event, torn bool) error {
	raw, err := json.Marshal(ev)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(d.path, eventsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open events: %w", err)
	}
	raw = append(raw, '\n')
	if torn { // a writer was killed in mid-line: its line ends here
		raw = append([]byte{'\n'}, raw...)
	}
	_, werr := f.Write(raw)
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("append event: %w", err)
	}
	return nil
}

// Events reads the events in the order of their time. Lines that can't be
// read (a writer was killed in mid-line) are left out.
func (d *Dir) Events() ([]Event, error) {
	evs, _, err := d.ReadEvents()
	return evs, err
}

// ReadEvents is Events that also counts the lines that were left out.
func (d *Dir) ReadEvents() (evs []Event, bad int, err error) {
	f, err := d.readEvents()
	sort.SliceStable(f.events, func(i, j int) bool { return f.events[i].At < f.events[j].At })
	return f.events, f.bad, err
}

// eventLines is what the file of the events holds.
type eventLines struct {
	events []Event // in the order of the file
	bad    int     // lines that can't be read
	torn   bool    // the last line has no end
}

func (d *Dir) readEvents() (f eventLines, err error) {
	raw, err := os.ReadFile(filepath.Join(d.path, eventsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("read events: %w", err)
	}
	for _, line := range bytes.Split(raw, []byte{'\n'}) {
		if len(line) == 0 {
			continue
		}
		var ev Event
		if json.Unmarshal(line, &ev) != nil {
			f.bad++
			continue
		}
		f.events = append(f.events, ev)
	}
	f.torn = len(raw) > 0 && raw[len(raw)-1] != '\n'
	return f, nil
}
