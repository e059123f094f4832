package clip

import (
	"errors"
	"fmt"
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
	ready     []string // names in out of the files that are ready in work
}

func newFolder(out string) (*folder, error) {
	abs, err := filepath.Abs(out)
	if err == nil {
		err = os.MkdirAll(abs, 0o755) //nolint:gosec // the user's own folder, made as mkdir makes it
	}
	var work string
	if err == nil {
		work, err = os.MkdirTemp(abs, ".proofreel-clip-")
	}
	if err != nil {
		return nil, unwritable(err, out)
	}
	return &folder{out: abs, work: work}, nil
}

// unwritable gives an error about the folder of the files its code.
func unwritable(err error, out string) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fault.Wrap(err, fault.DiskFull, "Free some space, or name another folder with --out.", "the clip does not fit on the disk")
	}
	return fault.Wrap(err, fault.OutUnwritable, "Name a folder that you can write with --out or PROOFREEL_OUT.", "the folder %s can't be written", out)
}

func (f *folder) path(name string) string { return filepath.Join(f.work, name) }

func (f *folder) remove() { _ = os.RemoveAll(f.work) }

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
// last. When one can't be moved, those before it go away again.
func (f *folder) install() error {
	for i, name := range f.ready {
		if err := os.Rename(f.path(name), filepath.Join(f.out, name)); err != nil {
			for _, placed := range f.ready[:i] {
				_ = os.Remove(filepath.Join(f.out, placed))
			}
			return fmt.Errorf("place %s: %w", name, err)
		}
	}
	return statefile.SyncDir(f.out) //nolint:wrapcheck // it says what it was doing
}

// fileNames are the names of a clip's files.
type fileNames struct{ video, page, captions, transcript, poster, sheet string }

// names are made of the clip's name and the time at which its recording began:
// another clip of the same name and recording takes the place of this one.
func (m *maker) names() fileNames {
	base := fileName(m.Name)
	if !m.src.start.IsZero() {
		base += m.src.start.Local().Format("-20060102-150405")
	}
	return fileNames{
		base + "." + string(m.Format), base + ".html", base + ".vtt", base + ".json", base + ".jpg", base + "-sheet.png",
	}
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
