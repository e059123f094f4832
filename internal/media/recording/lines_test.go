package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func second[T any](_ T, err error) error { return err }

func compact(raw json.RawMessage) (json.RawMessage, error) {
	var b bytes.Buffer
	err := json.Compact(&b, raw)
	return b.Bytes(), err
}

func put(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func stepNumber(sofar []Event) (Event, error) {
	return Event{At: time.Duration(len(sofar)) * time.Second, Kind: EventStep, Text: "t", Step: len(sofar) + 1}, nil
}

// Steps that come from several processes at once must each get a number of
// their own, and none may be lost.
func TestEventsFromManyWriters(t *testing.T) {
	d := create(t)
	const writers, each = 6, 10
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if _, err := At(d.Path()).AddEvent(stepNumber); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	evs, err := d.Events()
	if err != nil || len(evs) != writers*each {
		t.Fatalf("%d events, %v", len(evs), err)
	}
	for i, e := range evs {
		if e.Step != i+1 {
			t.Errorf("event %d has step %d", i, e.Step)
		}
	}
}

// An event that is refused must leave no trace.
func TestRefusedEventIsNotWritten(t *testing.T) {
	d := create(t)
	refused := errors.New("no step before it")
	_, err := d.AddEvent(func([]Event) (Event, error) { return Event{}, refused })
	if !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
	if evs, err := d.Events(); err != nil || len(evs) != 0 {
		t.Errorf("%v, %v", evs, err)
	}
}

// A writer that was killed in mid-line must cost its own line and no other:
// neither those before nor the next one.
func TestTornEvents(t *testing.T) {
	line := `{"atNs":5,"wall":"2026-11-30T12:00:00Z","kind":"step","text":"first","step":1}`
	cases := []struct {
		name, content string
		before        int // events that can be read
	}{
		{"nothing", "", 0},
		{"whole", line + "\n", 1},
		{"cut in the middle", line + "\n" + line[:40], 1},
		{"cut before the newline", line + "\n" + line, 2},
		{"cut in a letter", line + "\n" + `{"text":"` + "\xc3", 1},
		{"an older cut that was mended", line[:20] + "\n" + line + "\n", 1},
		{"zeros, as a power cut leaves them", line + "\n" + strings.Repeat("\x00", 50), 1},
		{"empty lines", "\n\n" + line + "\n\n", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := create(t)
			put(t, filepath.Join(d.Path(), eventsFile), []byte(c.content))
			evs, err := d.Events()
			if err != nil || len(evs) != c.before {
				t.Fatalf("%d events, %v", len(evs), err)
			}
			if _, err := d.AddEvent(stepNumber); err != nil {
				t.Fatal(err)
			}
			evs, err = d.Events()
			if err != nil || len(evs) != c.before+1 {
				t.Errorf("%d events after one more, %v", len(evs), err)
			}
		})
	}
}

// What could not be read must be known: a reader who is not told takes what is
// left for all there was.
func TestLinesThatCanNotBeReadAreCounted(t *testing.T) {
	const event, damage = `{"atNs":1,"kind":"step","text":"a","step":1}`, `{"t":1,"r":[[1,2,3,4]]}`
	for name, c := range map[string]struct {
		tail string
		bad  int
	}{
		"whole":        {"\n", 0},
		"blank lines":  {"\n\n\n", 0},
		"torn":         {"\n{\"t", 1},
		"rotten, torn": {"\n\x00\x00\n{\n{", 3},
	} {
		t.Run(name, func(t *testing.T) {
			d := create(t)
			put(t, filepath.Join(d.Path(), eventsFile), []byte(event+c.tail))
			put(t, d.DamagePath(), []byte(damage+c.tail))
			if evs, bad, err := d.ReadEvents(); err != nil || len(evs) != 1 || bad != c.bad {
				t.Errorf("%d events, %d bad lines, %v", len(evs), bad, err)
			}
			if entries, bad, err := d.ReadDamage(); err != nil || len(entries) != 1 || bad != c.bad {
				t.Errorf("%d entries, %d bad lines, %v", len(entries), bad, err)
			}
		})
	}
}

// Events are stamped by their callers, so they may reach the file out of order.
func TestEventsComeInTheOrderOfTheirTime(t *testing.T) {
	d := create(t)
	for _, at := range []time.Duration{3, 1, 2} {
		_, err := d.AddEvent(func([]Event) (Event, error) { return Event{At: at, Kind: EventStep}, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	evs, err := d.Events()
	if err != nil || len(evs) != 3 || evs[0].At != 1 || evs[1].At != 2 || evs[2].At != 3 {
		t.Errorf("%+v, %v", evs, err)
	}
}

// Whatever the file holds, events are read without a failure and in order, and
// one that is added then is found.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"", "\n", "{}\n", "null\n[]\n5\n", `{"atNs":-1,"kind":"step"}` + "\n" + `{"atNs":1`, "\x00\x00",
		`{"atNs":9223372036854775807,"kind":"result","pass":true,"wall":"x"}`,
	} {
		f.Add([]byte(s))
	}
	d := At(f.TempDir())
	path := filepath.Join(d.Path(), eventsFile)
	f.Fuzz(func(t *testing.T, content []byte) {
		put(t, path, content)
		before, err := d.Events()
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(before); i++ {
			if before[i].At < before[i-1].At {
				t.Fatal("out of order")
			}
		}
		raw, torn := content, len(content) > 0 && content[len(content)-1] != '\n'
		if torn {
			raw = append(raw, '\n')
		}
		put(t, path, append(raw, `{"atNs":7,"kind":"step","text":"mine"}`+"\n"...))
		after, err := d.Events()
		if err != nil || len(after) != len(before)+1 {
			t.Fatalf("%d events, then %d: %v", len(before), len(after), err)
		}
	})
}

// What a killed recorder had told must be on disk: the still stretches of a
// clip are found by it. So the log is read here before it is closed.
func TestDamageIsOnDiskAtOnce(t *testing.T) {
	d := create(t)
	if got, err := d.DamageEntries(); err != nil || got != nil {
		t.Errorf("without a log: %v, %v", got, err)
	}
	l, err := d.CreateDamage()
	if err != nil {
		t.Fatal(err)
	}
	want := []Damage{
		{At: 0, Rects: []Rect{{0, 0, 1919, 1080}}},
		{At: 16 * time.Millisecond, Rects: []Rect{{10, 20, 30, 40}, {0, 5, 1, 1}}},
		{At: 33 * time.Millisecond},
	}
	for _, e := range want {
		if err := l.Add(e.At+600*time.Microsecond, e.Rects); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.DamageEntries()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	raw, err := os.ReadFile(d.DamagePath())
	if err != nil || !strings.HasPrefix(string(raw), `{"t":0,"r":[[0,0,1919,1080]]}`+"\n"+`{"t":16,"r":[[10,20,30,40],[0,5,1,1]]}`+"\n") {
		t.Errorf("on disk: %s, %v", raw, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Add(0, nil); err == nil {
		t.Error("an entry after the end was swallowed")
	}
}

// A log that was cut anywhere gives the entries before the cut, and no entry
// that nobody wrote.
func TestDamageLogCutAnywhere(t *testing.T) {
	d := create(t)
	l, err := d.CreateDamage()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if err := l.Add(time.Duration(i)*time.Second, []Rect{{i, 22, 333, 4444}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(d.DamagePath())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := d.DamageEntries()
	if err != nil || len(whole) != 4 {
		t.Fatal(whole, err)
	}
	for cut := range raw {
		put(t, d.DamagePath(), raw[:cut])
		got, err := d.DamageEntries()
		if err != nil {
			t.Fatal(err)
		}
		// The line before its newline is whole already.
		n := bytes.Count(raw[:cut], []byte("\n"))
		if raw[cut] == '\n' {
			n++
		}
		if diff := cmp.Diff(whole[:n:n], append([]Damage{}, got...)); diff != "" {
			t.Fatalf("cut at %d: %s", cut, diff)
		}
	}
}

// Whatever the file holds, what can be read is read, and an entry behind it too.
func FuzzDamageEntries(f *testing.F) {
	for _, s := range []string{
		"", "\n", `{"t":1,"r":[[1,2,3,4]]}` + "\n" + `{"t":2,"r":[[1,2`, `{"t":1,"r":[[1],[1,2,3,4,5],null]}`,
		`{"t":9223372036854775807,"r":null}`, `{"t":1e3}`, "null\n", "\x00",
	} {
		f.Add([]byte(s))
	}
	d := At(f.TempDir())
	f.Fuzz(func(t *testing.T, content []byte) {
		put(t, d.DamagePath(), content)
		before, err := d.DamageEntries()
		if err != nil {
			t.Fatal(err)
		}
		put(t, d.DamagePath(), append(append(content, '\n'), `{"t":12,"r":[[1,2,3,4]]}`+"\n"...))
		after, err := d.DamageEntries()
		if err != nil || len(after) != len(before)+1 {
			t.Fatalf("%d entries, then %d: %v", len(before), len(after), err)
		}
		want := Damage{At: 12 * time.Millisecond, Rects: []Rect{{1, 2, 3, 4}}}
		if diff := cmp.Diff(want, after[len(after)-1]); diff != "" {
			t.Fatal(diff)
		}
	})
}
