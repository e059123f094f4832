package exit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/proofreel/proofreel/internal/media/h264"
	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/media/mp4"
)

// testWant is what the films of these tests are: a second and a half.
func testWant() Want {
	return Want{Width: 160, Height: 90, FPS: 30, Seconds: 1.5, MaxBytes: 4 << 20}
}

const testFrames = 45

// insecure runs programs on this machine, in no box at all.
type insecure struct {
	t    testing.TB
	runs int
	// meddle, unless nil, is called with the work directory after a run, as
	// if the program had done it.
	meddle func(run int, work string)
}

func (r *insecure) Run(ctx context.Context, p Program) (Ran, error) {
	work := r.t.TempDir()
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = work, p.Stdin, p.Output, p.Output
	err := cmd.Run()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		return Ran{}, err
	}
	if r.meddle != nil {
		r.meddle(r.runs, work)
	}
	r.runs++
	dir, err := os.Open(work)
	if err != nil {
		return Ran{}, err
	}
	return Ran{Status: cmd.ProcessState.ExitCode(), Work: dir, Owner: uint32(os.Getuid()), Close: dir.Close}, nil
}

func ffmpegRun(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), mediatest.FFmpeg(t), append([]string{"-v", "error", "-y"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// encodeFilm encodes frames of a test picture with ffmpeg as an honest author
// would, with changes to the arguments.
func encodeFilm(t testing.TB, w Want, frames int, args ...string) []byte {
	t.Helper()
	key := fmt.Sprint(w.Width, w.Height, w.FPS, frames, args)
	if film, ok := encoded.Load(key); ok {
		return bytes.Clone(film.([]byte))
	}
	name := filepath.Join(t.TempDir(), "film.mp4")
	all := []string{
		"-f", "lavfi", "-i", fmt.Sprintf("testsrc2=size=%dx%d:rate=%d", w.Width, w.Height, w.FPS),
		"-frames:v", fmt.Sprint(frames), "-c:v", "libx264", "-preset", "medium", "-crf", "23", "-g", "20",
		"-pix_fmt", "yuv420p", "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart",
		"-map_metadata", "-1",
	}
	ffmpegRun(t, append(append(all, args...), name)...)
	film := readFile(t, name)
	encoded.Store(key, film)
	return bytes.Clone(film)
}

// encoded keeps films for the tests that want the same.
var encoded sync.Map

// goodFilm is ffmpeg's: pictures out of order, an edit list, x264's message.
func goodFilm(t testing.TB) []byte {
	t.Helper()
	return encodeFilm(t, testWant(), testFrames)
}

// renderedFilm is one of our own film writer.
func renderedFilm(t testing.TB) []byte {
	t.Helper()
	w := testWant()
	track, frames := mediatest.Stream(t, w.Width, w.Height, w.FPS, testFrames)
	plan := mp4.FilmPlan{Durations: mp4.ConstantRate(len(frames))}
	for i, f := range frames {
		if f.Key {
			plan.Keys = append(plan.Keys, i)
		}
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	check(t, err)
	defer file.Close()
	writer, err := mp4.NewFilmWriter(file, track, plan)
	check(t, err)
	for _, f := range frames {
		check(t, writer.Write(f.Data))
	}
	check(t, writer.Close())
	return readFile(t, file.Name())
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	check(t, err)
	return b
}

func writeFile(t testing.TB, name string, b []byte) {
	t.Helper()
	check(t, os.WriteFile(name, b, 0o644))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// reasonOf is the reason of a refusal, "" for none, and fails for other errors.
func reasonOf(t testing.TB, err error) Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	var r *RefusedError
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal", err)
	}
	return r.Reason
}

func walkBytes(b []byte, w Want) (*film, error) {
	return walk(bytes.NewReader(b), int64(len(b)), w)
}

func rewriteBytes(t testing.TB, b []byte, w Want) []byte {
	t.Helper()
	f, err := walkBytes(b, w)
	check(t, err)
	var out bytes.Buffer
	check(t, f.rewrite(bytes.NewReader(b), &out))
	return out.Bytes()
}

// atom is a box that can be changed: head, then its children, or its body.
type atom struct {
	typ  string
	head []byte // before the children: of stsd and avc1
	kids []*atom
	body []byte
	size *uint32 // written instead of the right one
	wide *uint64 // written as a 64-bit size
}

func parseAtoms(t testing.TB, b []byte) []*atom {
	t.Helper()
	var list []*atom
	for len(b) > 0 {
		size, head := uint64(binary.BigEndian.Uint32(b)), 8
		if size == 1 {
			size, head = binary.BigEndian.Uint64(b[8:]), 16
		}
		a := &atom{typ: string(b[4:8]), body: bytes.Clone(b[head:size])}
		skip := -1
		switch a.typ {
		case "moov", "trak", "edts", "mdia", "minf", "stbl", "dinf":
			skip = 0
		case "stsd":
			skip = 8
		case "avc1":
			skip = 78
		}
		if skip >= 0 {
			a.head, a.kids, a.body = a.body[:skip:skip], parseAtoms(t, a.body[skip:]), nil
		}
		list = append(list, a)
		b = b[size:]
	}
	return list
}

func (a *atom) bytes() []byte {
	body := bytes.Clone(a.head)
	for _, k := range a.kids {
		body = append(body, k.bytes()...)
	}
	body = append(body, a.body...)
	b := box(a.typ, body)
	if a.size != nil {
		binary.BigEndian.PutUint32(b, *a.size)
	}
	if a.wide != nil {
		b = append(binary.BigEndian.AppendUint64(append(words(1), a.typ...), *a.wide), body...)
	}
	return b
}

// movie is a film that can be changed.
type movie struct {
	t   testing.TB
	top []*atom
	// raw is appended to the file.
	raw []byte
}

func parseMovie(t testing.TB, b []byte) *movie {
	t.Helper()
	return &movie{t: t, top: parseAtoms(t, b)}
}

// at finds a box by its path.
func (m *movie) at(path string) *atom {
	m.t.Helper()
	found := m.lookup(path)
	if found == nil {
		m.t.Fatalf("the film has no %s", path)
	}
	return found
}

func (m *movie) lookup(path string) *atom {
	list, found := m.top, (*atom)(nil)
	for _, typ := range strings.Split(path, "/") {
		found = nil
		for _, a := range list {
			if a.typ == typ {
				found = a
				break
			}
		}
		if found == nil {
			return nil
		}
		list = found.kids
	}
	return found
}

const (
	stblPath = "moov/trak/mdia/minf/stbl"
	avc1Path = stblPath + "/stsd/avc1"
)

func (m *movie) stbl(typ string) *atom { m.t.Helper(); return m.at(stblPath + "/" + typ) }

// remove takes a child away.
func (a *atom) remove(typ string) {
	for i, k := range a.kids {
		if k.typ == typ {
			a.kids = append(a.kids[:i:i], a.kids[i+1:]...)
			return
		}
	}
}

func (a *atom) add(typ string, body ...byte) { a.kids = append(a.kids, &atom{typ: typ, body: body}) }

// put overwrites bytes of the body.
func (a *atom) put(at int, b ...byte) { copy(a.body[at:], b) }

func (a *atom) put32(at int, v uint32) { binary.BigEndian.PutUint32(a.body[at:], v) }

func (a *atom) u32(at int) uint32 { return binary.BigEndian.Uint32(a.body[at:]) }

// insertTop puts a box before the i-th of the file.
func (m *movie) insertTop(i int, a *atom) {
	m.top = append(m.top[:i:i], append([]*atom{a}, m.top[i:]...)...)
}

// bytes writes the film.
func (m *movie) bytes() []byte {
	var b []byte
	for _, a := range m.top {
		b = append(b, a.bytes()...)
	}
	return append(b, m.raw...)
}

// mdatBody is where mdat's payload begins.
func (m *movie) mdatBody() int {
	m.t.Helper()
	at := 0
	for _, a := range m.top {
		n := len(a.bytes())
		if a.typ == "mdat" {
			return at + n - len(a.body)
		}
		at += n
	}
	m.t.Fatal("no mdat")
	return 0
}

// settle moves the chunk offsets to where mdat now is, so that a case shows
// its own fault and no other.
func (m *movie) settle(before int) {
	stco := m.lookup(stblPath + "/stco")
	if stco == nil || m.lookup("mdat") == nil {
		return
	}
	by := m.mdatBody() - before
	for at := 8; at < len(stco.body); at += 4 {
		stco.put32(at, uint32(int(stco.u32(at))+by))
	}
}

// change gives the film with a change, its offsets right.
func change(t testing.TB, good []byte, edit func(m *movie)) []byte {
	t.Helper()
	m := parseMovie(t, good)
	before := m.mdatBody()
	edit(m)
	m.settle(before)
	return m.bytes()
}

// units splits a sample of a film that holds nothing but samples in order.
func (m *movie) samples() [][]byte {
	m.t.Helper()
	var list [][]byte
	stsz, media := m.stbl("stsz"), m.at("mdat").body
	for at := 12; at < len(stsz.body); at += 4 {
		n := stsz.u32(at)
		list = append(list, media[:n:n])
		media = media[n:]
	}
	return list
}

// setSamples writes other samples of the same number: sizes, chunks and mdat.
func (m *movie) setSamples(list [][]byte) {
	m.t.Helper()
	stsz, mdat := m.stbl("stsz"), m.at("mdat")
	base := uint32(m.mdatBody())
	mdat.body = nil
	var starts []uint32
	for i, s := range list {
		starts = append(starts, base+uint32(len(mdat.body)))
		stsz.put32(12+4*i, uint32(len(s)))
		mdat.body = append(mdat.body, s...)
	}
	// A chunk for each sample keeps it simple. It may change the index's size.
	m.stbl("stsc").body = words(0, 1, 1, 1, 1)
	m.stbl("stco").body = append(words(0, uint32(len(starts))), words(starts...)...)
	by := uint32(m.mdatBody()) - base
	for i := range starts {
		m.stbl("stco").put32(8+4*i, starts[i]+by)
	}
}

// changeUnits gives the film with other NAL units in a sample.
func changeUnits(t testing.TB, good []byte, sample int, edit func(units [][]byte) [][]byte) []byte {
	t.Helper()
	m := parseMovie(t, good)
	list := m.samples()
	var units [][]byte
	for nal, err := range h264.SplitAVCC(list[sample]) {
		check(t, err)
		units = append(units, bytes.Clone(nal))
	}
	list[sample] = nil
	for _, nal := range edit(units) {
		list[sample] = h264.AppendAVCC(list[sample], nal)
	}
	m.setSamples(list)
	return m.bytes()
}

// workDir makes a work directory with files in out/.
func workDir(t testing.TB, film, poster []byte) (*os.File, string) {
	t.Helper()
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "out"), 0o755))
	for name, b := range map[string][]byte{FilmName: film, PosterName: poster} {
		if b != nil {
			check(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
		}
	}
	f, err := os.Open(dir)
	check(t, err)
	t.Cleanup(func() { f.Close() })
	return f, dir
}

func ownUID() uint32 { return uint32(syscall.Getuid()) }
