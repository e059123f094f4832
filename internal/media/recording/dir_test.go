package recording

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/host/statefile"
)

func manifest() Manifest {
	pass := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return Manifest{
		FormatVersion: FormatVersion, ID: uuid.NewString(), Name: "login <works>", CreatedAt: pass, Phase: PhaseRecording,
		Options:    Options{FPS: 60, Rate: "cfr", Width: 1919, Height: 1080, MaxDuration: 30 * time.Minute},
		Supervisor: proc.Identity{PID: 7, Start: 1 << 60, Boot: "b"},
		Owned:      []Owned{{Role: "xvfb", Identity: proc.Identity{PID: 8, Start: 9, Boot: "b"}}},
		Display:    Display{Name: ":7", Own: true, Width: 1919, Height: 1080},
		Capture:    Capture{Engine: "x11-damage", Width: 1920, Height: 1080},
		Clock:      Clock{Epoch: 123, Boot: "b", Wall: pass},
		Incidents:  []Incident{{At: time.Second, Kind: IncidentGap, Detail: "d"}},
	}
}

func create(t *testing.T) *Dir {
	t.Helper()
	d, err := Create(t.TempDir(), manifest())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Where recordings are must follow the XDG specification, which says that a
// relative path is to be ignored.
func TestHome(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		env  map[string]string
		want string
	}{
		{"own variable", map[string]string{"PROOFREEL_HOME": "/a", "XDG_STATE_HOME": "/b", "HOME": "/c"}, "/a"},
		{"own variable, relative", map[string]string{"PROOFREEL_HOME": "a"}, filepath.Join(here, "a")},
		{"state home", map[string]string{"XDG_STATE_HOME": "/b", "HOME": "/c"}, "/b/proofreel"},
		{"relative state home", map[string]string{"XDG_STATE_HOME": "b", "HOME": "/c"}, "/c/.local/state/proofreel"},
		{"home", map[string]string{"HOME": "/c"}, "/c/.local/state/proofreel"},
		{"nothing", nil, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Home(func(name string) string { return c.env[name] })
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// What is written must come back whole, and only its owner may read it: a
// recording shows whatever was on the screen.
func TestCreateThenLoad(t *testing.T) {
	m := manifest()
	home := filepath.Join(t.TempDir(), "not", "there", "yet")
	d, err := Create(home, m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
	for _, dir := range []string{filepath.Dir(d.Path()), d.Path(), d.Segments(), d.Private()} {
		if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, st, err)
		}
	}
	// A second one of the same name must neither succeed nor touch the first.
	if _, err := Create(home, m); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	if _, err := d.Load(); err != nil {
		t.Errorf("the first is gone: %v", err)
	}
}

// The answer of a repeated stop is these bytes: the indentation of the
// document around them must be all that changes.
func TestResultKeepsItsBytes(t *testing.T) {
	d := create(t)
	m, err := d.Load()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"path": "/a<b>&c", "n": 1e21, "s": "\u2028é"})
	if err != nil {
		t.Fatal(err)
	}
	m.Result = raw
	for range 2 {
		if err := d.Save(m); err != nil {
			t.Fatal(err)
		}
		if m, err = d.Load(); err != nil {
			t.Fatal(err)
		}
	}
	var line json.RawMessage
	if line, err = compact(m.Result); err != nil || string(line) != string(raw) {
		t.Errorf("%s became %s, %v", raw, line, err)
	}
}

// A manifest that is none of this format, or another recording's, must not be
// acted upon: processes are killed by what it says.
func TestLoadRefusesWhatIsNoManifest(t *testing.T) {
	cases := map[string]func(*Manifest){
		"later format":      func(m *Manifest) { m.FormatVersion++ },
		"no format":         func(m *Manifest) { m.FormatVersion = 0 },
		"another recording": func(m *Manifest) { m.ID = uuid.NewString() },
		"no phase":          func(m *Manifest) { m.Phase = "" },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			d := create(t)
			m, err := d.Load()
			if err != nil {
				t.Fatal(err)
			}
			change(&m)
			if err := d.Save(m); err != nil {
				t.Fatal(err)
			}
			if corrupt := (*statefile.CorruptError)(nil); !errors.As(second(d.Load()), &corrupt) {
				t.Error("it was taken")
			}
		})
	}
	if err := second(At(t.TempDir()).Load()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no manifest at all: %v", err)
	}
}

// Whatever the file holds, Load gives an error or a manifest that survives
// being saved.
func FuzzLoad(f *testing.F) {
	m := manifest()
	d, err := Create(f.TempDir(), m)
	if err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(d.Path(), manifestFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	head := `{"formatVersion":1,"recordingId":"` + m.ID + `","phase":"done"`
	for _, s := range []string{
		string(whole), string(whole[:len(whole)/2]), "", "null", "{}", head + "}",
		head + `,"result":null}`, head + `,"result":[1e999,"\ud800<"]}`, head + `,"stop":{"atNs":-9223372036854775808}}`,
		head + `,"createdAt":"0001-01-01T00:00:00-23:59"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := d.Load()
		if err != nil {
			if corrupt := (*statefile.CorruptError)(nil); !errors.As(err, &corrupt) {
				t.Fatal(err)
			}
			return
		}
		if got.ID != m.ID || got.FormatVersion != FormatVersion {
			t.Fatalf("%+v was taken", got)
		}
		if err := statefile.WriteVolatile(path, got); err != nil {
			t.Fatal(err)
		}
		again, err := d.Load()
		if err != nil {
			t.Fatal(err)
		}
		a, err1 := json.Marshal(got)
		b, err2 := json.Marshal(again)
		if string(a) != string(b) || err1 != nil || err2 != nil {
			t.Fatalf("%s became %s, %v, %v", a, b, err1, err2)
		}
	})
}

// An id comes from a command line: it must never name another directory.
func TestOpenTakesIDsOnly(t *testing.T) {
	m := manifest()
	home := t.TempDir()
	d, err := Create(home, m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Open(home, m.ID)
	if err != nil || got.Path() != d.Path() || got.ID() != m.ID {
		t.Fatalf("%v, %v", got, err)
	}
	file := uuid.NewString()
	if err := os.WriteFile(filepath.Join(home, "recordings", file), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{
		"", ".", "..", "../recordings", m.ID + "/", m.ID + "/../" + m.ID, "{" + m.ID + "}", "urn:uuid:" + m.ID,
		"00000000-0000-0000-0000-00000000000A", uuid.NewString(), file,
	} {
		if got, err := Open(home, id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v, %v", id, got, err)
		}
	}
}

// Foreign files in the directory must not become recordings to prune.
func TestList(t *testing.T) {
	home := t.TempDir()
	if list, err := List(home); err != nil || len(list) != 0 {
		t.Errorf("empty home: %v, %v", list, err)
	}
	var want []string
	for range 2 {
		d, err := Create(home, manifest())
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, d.Path())
	}
	root := filepath.Join(home, "recordings")
	err := errors.Join(
		os.Mkdir(filepath.Join(root, "lost+found"), 0o700),
		os.WriteFile(filepath.Join(root, uuid.NewString()), nil, 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	list, err := List(home)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, d.Path())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The size that is shown, and what remove leaves: nothing.
func TestBytesAndRemove(t *testing.T) {
	d := create(t)
	before := d.Bytes()
	if err := os.WriteFile(filepath.Join(d.Segments(), "x"), make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.Bytes() - before; got != 1000 {
		t.Errorf("grew by %d bytes", got)
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

// Several stops at once must agree on one end of the film: the first's.
func TestFirstStopRequestWins(t *testing.T) {
	d := create(t)
	if s, ok := d.StopRequest(); ok {
		t.Fatalf("a request before any: %+v", s)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := d.RequestStop(Stop{At: time.Duration(i+1) * time.Second, Reason: ReasonStop}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	first, ok := d.StopRequest()
	if !ok || first.At == 0 {
		t.Fatalf("%+v, %v", first, ok)
	}
	if err := d.RequestStop(Stop{At: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if again, _ := d.StopRequest(); again != first {
		t.Errorf("%+v became %+v", first, again)
	}
	left, err := filepath.Glob(filepath.Join(d.Path(), stopFile+".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Before the first figures there are none; after them, the last.
func TestLive(t *testing.T) {
	d := create(t)
	if l, err := d.LoadLive(); err != nil || l != (Live{}) {
		t.Errorf("%+v, %v", l, err)
	}
	want := Live{At: time.Second, Captured: 60, Distinct: 3, Dropped: 1, Bytes: 9, Achieved: 59.9, Verified: 30}
	if err := d.SaveLive(want); err != nil {
		t.Fatal(err)
	}
	if l, err := d.LoadLive(); err != nil || l != want {
		t.Errorf("%+v, %v", l, err)
	}
}

// The lock is what makes one process the owner.
func TestTryLock(t *testing.T) {
	d := create(t)
	l, err := d.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := At(d.Path()).TryLock(); !errors.Is(err, statefile.ErrLocked) {
		t.Errorf("locked twice: %v", err)
	}
	l.Unlock()
}

// A phase that counts as neither running nor over would be waited for for ever.
func TestPhases(t *testing.T) {
	cases := []struct {
		phase              Phase
		terminal, stopping bool
	}{
		{PhaseStarting, false, false},
		{PhaseRecording, false, false},
		{PhaseClosingBrowser, false, true},
		{PhaseStoppingCapture, false, true},
		{PhaseFinalizing, false, true},
		{PhasePublishing, false, true},
		{PhaseCleaningUp, false, true},
		{PhaseDone, true, false},
		{PhaseFailed, true, false},
	}
	for _, c := range cases {
		if c.phase.Terminal() != c.terminal || c.phase.Stopping() != c.stopping {
			t.Errorf("%s: terminal %v, stopping %v", c.phase, c.phase.Terminal(), c.phase.Stopping())
		}
	}
}
