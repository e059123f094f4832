package mp4

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Eyevinn/mp4ff/mp4"
	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// writeFilm writes a film to a new file and returns its path.
func writeFilm(t testing.TB, track Track, plan FilmPlan, aus [][]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "film.mp4")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := NewFilmWriter(file, track, plan)
	if err != nil {
		t.Fatal(err)
	}
	for i, au := range aus {
		if err := w.Write(au); err != nil {
			t.Fatalf("sample %d: %v", i, err)
		}
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if stat, err := file.Stat(); err != nil || stat.Size() != w.Size() {
		t.Fatalf("Size is %d, the file's is %d (%v)", w.Size(), stat.Size(), err)
	}
	return path
}

// expand makes a constant-rate film's access units of a recording's: repeats
// at the ticks without a picture. shows has the picture seen at each.
func expand(t testing.TB, track Track, aus [][]byte, samples []Sample, end int64) (out [][]byte, keys, shows []int) {
	t.Helper()
	q, err := h264.NewSequencer(track.SPS, track.PPS)
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	for tick := samples[0].Tick; tick < end; tick++ {
		var au []byte
		if next < len(samples) && samples[next].Tick == tick {
			if samples[next].Key {
				keys = append(keys, len(out))
			}
			au, err = q.Picture(aus[next], nil)
			next++
		} else {
			au, err = q.Repeat(nil)
		}
		if err != nil {
			t.Fatalf("tick %d: %v", tick, err)
		}
		out, shows = append(out, au), append(shows, next-1)
	}
	return out, keys, shows
}

type probe struct {
	Packets []struct {
		PTS      int64  `json:"pts"`
		Duration int64  `json:"duration"`
		Flags    string `json:"flags"`
	} `json:"packets"`
	Streams []map[string]any `json:"streams"`
	Format  struct {
		Tags map[string]string `json:"tags"`
	} `json:"format"`
}

func probeFile(t testing.TB, path string) probe {
	t.Helper()
	var p probe
	out := run(t, "ffprobe", "-v", "error", "-show_packets", "-show_streams", "-show_format", "-of", "json", path)
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// A constant-rate film made from a recording with gaps: a sample at every
// tick, the right picture in each, and a file that others read as such.
func TestConstantRateFilm(t *testing.T) {
	for _, c := range []struct {
		size  string
		fps   int
		coder string
	}{{"640x360", 30, "1"}, {"640x360", 60, "0"}, {"1920x1080", 24, "1"}} {
		t.Run(fmt.Sprintf("%s at %d, coder %s", c.size, c.fps, c.coder), func(t *testing.T) {
			track, aus := encode(t, c.size, c.fps, "24", "-coder", c.coder)
			fragments, samples := writeFragments(t, track, aus, 1000)
			source := filepath.Join(t.TempDir(), "source.mp4")
			if err := os.WriteFile(source, fragments.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			out, keys, shows := expand(t, track, aus, samples, samples[len(samples)-1].Tick+70)
			created := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
			path := writeFilm(t, track, FilmPlan{Durations: ConstantRate(len(out)), Keys: keys, Title: "Anmeldung – Übersicht", Created: created}, out)

			var want []string
			original := hashes(t, source)
			for _, i := range shows {
				want = append(want, original[i])
			}
			if diff := cmp.Diff(want, hashes(t, path)); diff != "" {
				t.Errorf("pictures (-want +got):\n%s", diff)
			}
			checkConstantRate(t, probeFile(t, path), track, len(out))
			if err := CheckSamples(path); err != nil {
				t.Error(err)
			}
			info, err := Inspect(path)
			if err != nil {
				t.Fatal(err)
			}
			avcC, err := h264.Config{SPS: track.SPS, PPS: track.PPS}.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			wantInfo := Info{
				Brand: "isom", MoovBeforeMdat: true, Tracks: 1, Codec: fmt.Sprintf("avc1.64%04x", avcC[3]),
				Width: track.Width, Height: track.Height, Timescale: c.fps * 1000, Samples: len(out), Keyframes: keys,
				Deltas: Deltas{Min: 1000, Max: 1000, Equal: true}, Duration: reduce(int64(len(out)), int64(c.fps)),
				Colour: Colour{Present: true, Primaries: 1, Transfer: 1, Matrix: 1}, AVCC: avcC,
			}
			if diff := cmp.Diff(wantInfo, info); diff != "" {
				t.Errorf("info (-want +got):\n%s", diff)
			}
			if rate := info.FrameRate(); rate != (Rational{int64(c.fps), 1}) {
				t.Errorf("frame rate %v", rate)
			}
		})
	}
}

func checkConstantRate(t *testing.T, p probe, track Track, samples int) {
	t.Helper()
	if len(p.Packets) != samples {
		t.Fatalf("ffprobe sees %d packets, want %d", len(p.Packets), samples)
	}
	for i, packet := range p.Packets {
		if packet.PTS != int64(i)*1000 || packet.Duration != 1000 {
			t.Fatalf("packet %d at %d for %d", i, packet.PTS, packet.Duration)
		}
	}
	rate := fmt.Sprintf("%d/1", track.FPS)
	for key, want := range map[string]any{
		"avg_frame_rate": rate, "r_frame_rate": rate, "time_base": fmt.Sprintf("1/%d000", track.FPS),
		"color_primaries": "bt709", "color_transfer": "bt709", "color_space": "bt709", "color_range": "tv",
		"pix_fmt": "yuv420p", "codec_name": "h264", "has_b_frames": 0.0, "duration_ts": float64(samples * 1000),
	} {
		if got := p.Streams[0][key]; got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if title := p.Format.Tags["title"]; title != "Anmeldung – Übersicht" {
		t.Errorf("title %q", title)
	}
	if created := p.Format.Tags["creation_time"]; created != "2026-05-04T03:02:01.000000Z" {
		t.Errorf("creation time %q", created)
	}
}

// A variable-rate film keeps the recording's own samples and their times.
func TestVariableRateFilm(t *testing.T) {
	track, aus := encode(t, "320x180", 30, "12")
	ticks := []int64{0, 1, 2, 5, 6, 100, 200, 201, 202, 203, 204, 300}
	path := writeFilm(t, track, FilmPlan{Durations: VariableRate(ticks, 450), Keys: []int{0, 10}}, aus)
	for i, packet := range probeFile(t, path).Packets {
		if packet.PTS != ticks[i]*1000 || strings.HasPrefix(packet.Flags, "K") != (i%10 == 0) {
			t.Errorf("packet %d: %+v", i, packet)
		}
	}
	info, err := Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Deltas != (Deltas{Min: 1000, Max: 150000}) || info.Duration != (Rational{15, 1}) {
		t.Errorf("deltas %+v, duration %v", info.Deltas, info.Duration)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gotTrack, samples, err := ReadFilm(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(track, gotTrack); diff != "" {
		t.Errorf("track (-want +got):\n%s", diff)
	}
	for i, s := range samples {
		if s.Tick != ticks[i] || !bytes.Equal(file[s.Offset:s.Offset+s.Size], aus[i]) {
			t.Errorf("sample %d: %+v", i, s)
		}
	}
	checkWithLibrary(t, file, len(aus))
}

// checkWithLibrary has another reader decode every box and encode it again.
func checkWithLibrary(t *testing.T, file []byte, samples int) {
	t.Helper()
	parsed, err := mp4.DecodeFile(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := parsed.Encode(&again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, again.Bytes()) {
		t.Error("the library writes the boxes otherwise")
	}
	if n := parsed.Moov.Trak.Mdia.Minf.Stbl.Stsz.GetNrSamples(); int(n) != samples {
		t.Errorf("%d samples", n)
	}
}

// sparse is a file of which only the first bytes of each write are kept.
type sparse map[int64][]byte

func (s sparse) WriteAt(b []byte, off int64) (int, error) {
	s[off] = bytes.Clone(b[:min(len(b), 4096)])
	return len(b), nil
}

func (s sparse) ReadAt(b []byte, off int64) (int, error) {
	clear(b)
	for at, data := range s {
		if at >= off && at < off+int64(len(b)) {
			copy(b[at-off:], data)
		} else if at < off && at+int64(len(data)) > off {
			copy(b, data[off-at:])
		}
	}
	return len(b), nil
}

// Over 4 GiB offsets and the media box need 64 bits, for which there must be
// room in front of media already written.
func TestFilmOver4GiB(t *testing.T) {
	track, aus := encode(t, "160x90", 10, "2")
	const n, size = 90, 50 << 20
	big := func(au []byte) []byte {
		nal := make([]byte, size-4)
		copy(nal, au[4:])
		return h264.AppendAVCC(nil, nal)
	}
	key, other := big(aus[0]), big(aus[1])
	file := sparse{}
	w, err := NewFilmWriter(file, track, FilmPlan{Durations: ConstantRate(n), Keys: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		au := other
		if i == 0 {
			au = key
		}
		if err := w.Write(au); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := CheckSamplesReader(file, w.Size()); err != nil {
		t.Error(err)
	}
	_, samples, err := ReadFilm(file, w.Size())
	if err != nil {
		t.Fatal(err)
	}
	if last := samples[n-1]; last.Offset+last.Size != w.Size() || w.Size() < n*size {
		t.Errorf("last sample %+v of %d bytes", last, w.Size())
	}
}

func TestFilmWriterRefuses(t *testing.T) {
	track, aus := encode(t, "160x90", 30, "3")
	for name, plan := range map[string]FilmPlan{
		"no samples":        {Keys: []int{0}},
		"no keys":           {Durations: ConstantRate(2)},
		"late first key":    {Durations: ConstantRate(2), Keys: []int{1}},
		"key past the end":  {Durations: ConstantRate(2), Keys: []int{0, 2}},
		"keys fall":         {Durations: ConstantRate(9), Keys: []int{0, 5, 5}},
		"ticks fall":        {Durations: VariableRate([]int64{3, 2}, 9), Keys: []int{0}},
		"end before last":   {Durations: VariableRate([]int64{3, 9}, 9), Keys: []int{0}},
		"endless":           {Durations: []Run{{Count: 1, Ticks: 1 << 40}}, Keys: []int{0}},
		"too many samples":  {Durations: ConstantRate(1 << 40), Keys: []int{0}},
		"count overflows":   {Durations: []Run{{1 << 62, 1}, {1 << 62, 1}, {1 << 62, 1}, {1<<62 + 5, 1}}, Keys: []int{0}},
		"duration overflow": {Durations: []Run{{4, 1 << 62}, {1, 1}}, Keys: []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewFilmWriter(sparse{}, track, plan); err == nil {
				t.Error("the plan was taken")
			}
		})
	}
	w, err := NewFilmWriter(sparse{}, track, FilmPlan{Durations: ConstantRate(2), Keys: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(aus[1]); err == nil {
		t.Error("the first sample is no key")
	}
	if err := w.Write(aus[0]); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(aus[0]); err == nil {
		t.Error("the second sample is a key")
	}
	if err := w.Close(); err == nil {
		t.Error("a sample is missing")
	}
}

// An hour at 60 a second must stay cheap in memory and time.
func BenchmarkHourOfRepeats(b *testing.B) {
	track, aus := encode(b, "1920x1080", 60, "1")
	const n = 216000
	b.ReportAllocs()
	for b.Loop() {
		q, err := h264.NewSequencer(track.SPS, track.PPS)
		if err != nil {
			b.Fatal(err)
		}
		file, err := os.Create(filepath.Join(b.TempDir(), "hour.mp4"))
		if err != nil {
			b.Fatal(err)
		}
		w, err := NewFilmWriter(file, track, FilmPlan{Durations: ConstantRate(n), Keys: []int{0}})
		if err != nil {
			b.Fatal(err)
		}
		au, err := q.Picture(aus[0], nil)
		for i := 0; i < n && err == nil; i++ {
			if err = w.Write(au); err == nil {
				au, err = q.Repeat(au[:0])
			}
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(w.Size()), "bytes/film")
		if err := file.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
