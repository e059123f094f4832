package clip

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/statefile"
)

// folder is where a clip's files come into being: a hidden folder inside the
// one they go to, so that they are moved there and never copied.
type folder struct {
	out, work string
	lock      *os.File // the work folder, held; what nobody holds is a killed one's
	ready     []string // names in out of the files that are ready in work
}

// workPrefix begins the names of the hidden folders.
const workPrefix = ".proofreel-clip-"

func newFolder(out string) (*folder, error) {
	abs, err := filepath.Abs(out)
	if err == nil {
		err = os.MkdirAll(abs, 0o755) //nolint:gosec // the user's own folder, made as mkdir makes it
	}
	if err != nil {
		return nil, unwritable(err, out)
	}
	sweep(abs)
	// Another clip's sweep can take the folder in the moment before it is held.
	for range 10 {
		work, err := os.MkdirTemp(abs, workPrefix)
		if err != nil {
			return nil, unwritable(err, out)
		}
		if lock, ok := hold(work); ok {
			return &folder{out: abs, work: work, lock: lock}, nil
		}
	}
	return nil, unwritable(errors.New("its work folder goes away as soon as it is made"), out)
}

// hold opens a work folder and locks it. A file system without locks has
// folders that are only open: no sweep takes one that it can't lock.
func hold(work string) (*os.File, bool) {
	f, err := os.OpenFile(work, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	own, ownErr := f.Stat()
	there, thereErr := os.Lstat(work)
	if errors.Is(err, unix.EWOULDBLOCK) || ownErr != nil || thereErr != nil || !os.SameFile(own, there) {
		_ = f.Close() // only read
		return nil, false
	}
	return f, true
}

// sweep removes the work folders of clips that were killed: nobody holds them.
// What can't be removed stays; the clip does not need it gone.
func sweep(out string) {
	entries, _ := os.ReadDir(out)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), workPrefix) {
			continue
		}
		path := filepath.Join(out, e.Name())
		f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(path)
		}
		_ = f.Close() // only read
	}
}

// unwritable gives an error about the folder of the files its code.
func unwritable(err error, out string) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fault.Wrap(err, fault.DiskFull, "Free some space, or name another folder with --out.", "the clip does not fit on the disk")
	}
	return fault.Wrap(err, fault.OutUnwritable, "Name a folder that you can write with --out or PROOFREEL_OUT.", "the folder %s can't be written", out)
}

func (f *folder) path(name string) string { return filepath.Join(f.work, name) }

func (f *folder) remove() {
	_ = os.RemoveAll(f.work)
	_ = f.lock.Close() // only read
}

// write makes a file ready.
func (f *folder) write(name string, data []byte) error {
	file, err := os.OpenFile(f.path(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // for whoever may see the folder
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, werr := file.Write(data)
	if err := errors.Join(werr, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f.ready = append(f.ready, name)
	return nil
}

// adopt makes a file ready that is in the folder under another name.
func (f *folder) adopt(path, name string) error {
	if err := os.Rename(path, f.path(name)); err != nil {
		return fmt.Errorf("name %s: %w", name, err)
	}
	if err := os.Chmod(f.path(name), 0o644); err != nil { //nolint:gosec // for whoever may see the folder
		return fmt.Errorf("open %s for readers: %w", name, err)
	}
	f.ready = append(f.ready, name)
	return nil
}

// install moves all that is ready to its place, the last first made ready
// last. When one can't be moved, the folder is made as it was: an earlier clip
// stays whole until all of the new one is there.
func (f *folder) install() error {
	for _, name := range f.ready {
		if st, err := os.Lstat(filepath.Join(f.out, name)); err == nil && st.IsDir() {
			return fault.New(fault.OutUnwritable, "Move it away, or choose another --name or --out.", "a folder is in the place of %s", name)
		}
	}
	for i, name := range f.ready {
		err := f.keepOld(name)
		if err == nil {
			err = os.Rename(f.path(name), filepath.Join(f.out, name))
		}
		if err != nil {
			f.putBack(f.ready[:i+1])
			return unwritable(fmt.Errorf("place %s: %w", name, err), f.out)
		}
	}
	return statefile.SyncDir(f.out) //nolint:wrapcheck // it says what it was doing
}

// old is where the file that is replaced is kept.
func (f *folder) old(name string) string { return f.path("old-" + name) }

// keepOld keeps what is in a file's place: as a second name of it where the
// file system can, so that the place is never empty.
func (f *folder) keepOld(name string) error {
	place := filepath.Join(f.out, name)
	if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if os.Link(place, f.old(name)) == nil {
		return nil
	}
	return os.Rename(place, f.old(name)) //nolint:wrapcheck // the caller says what it was doing
}

// putBack undoes the placing of files, of which the last may not be placed.
func (f *folder) putBack(names []string) {
	for _, name := range names {
		place := filepath.Join(f.out, name)
		if os.Rename(f.old(name), place) == nil {
			continue
		}
		if _, err := os.Lstat(f.path(name)); errors.Is(err, fs.ErrNotExist) { // it was placed
			_ = os.Remove(place)
		}
	}
}

// fileNames are the names of a clip's files.
type fileNames struct{ video, page, captions, transcript, poster, sheet string }

// names are made of the clip's name and the time at which its recording began:
// another clip of the same name, recording and format takes the place of this
// one. Where another recording's clip has the name already, the recording's id
// goes into it.
func (m *maker) names() fileNames {
	base := fileName(m.Name)
	if !m.src.start.IsZero() {
		base += m.src.start.Local().Format("-20060102-150405")
	}
	if m.src.id != "" && m.taken(base) {
		base += "-" + cutBytes(fileName(m.src.id), 8)
	}
	beside := base + besideSuffix(m.Format)
	return fileNames{
		base + "." + string(m.Format), beside + ".html", beside + ".vtt", beside + ".json", beside + ".jpg", beside + "-sheet.png",
	}
}

// besideSuffix keeps what stands beside a video apart from that of another
// format of the same clip.
func besideSuffix(f Format) string {
	if f == MP4 {
		return ""
	}
	return "-" + string(f)
}

// taken says whether another recording's clip has a name, in any format: its
// transcript says whose it is.
func (m *maker) taken(base string) bool {
	for _, f := range []Format{MP4, WebM, GIF, WebP} {
		raw, err := os.ReadFile(filepath.Join(m.work.out, base+besideSuffix(f)+".json"))
		if err != nil {
			continue
		}
		var doc struct {
			RecordingID string `json:"recordingId"`
		}
		if json.Unmarshal(raw, &doc) != nil || doc.RecordingID != m.src.id {
			return true
		}
	}
	return false
}

// fileName makes a name that every system and every link takes.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, s)
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "-")
	}
	s = strings.Trim(cutBytes(s, 100), "-.")
	if s == "" {
		return "recording"
	}
	return s
}

// cutBytes cuts a text to at most n bytes, between characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

func fileSize(path string) (int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("look at the video: %w", err)
	}
	return st.Size(), nil
}
