package encode

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/segment"
)

// format is the version of what lies in a work folder.
const format = 1

// work is the folder of one unfinished film. Its name is a hash of all on which
// the stretches' bytes depend, so that what lies in it belongs to the film.
type work struct {
	dir  string
	id   string // the folder's name
	lock *statefile.Lock
}

// piece is what is known of a finished stretch, and lies beside its data.
type piece struct {
	From     int       `json:"from"`
	To       int       `json:"to"`
	SPS      []byte    `json:"sps"`
	PPS      []byte    `json:"pps"`
	Pictures []picture `json:"pictures"`
	CRC      uint32    `json:"crc32"`
	SHA256   string    `json:"sha256"`
	Scores   []score   `json:"scores"` // of the frames that may become the poster
}

// picture is one encoded frame; the others of its stretch equal the one before.
type picture struct {
	Frame int  `json:"frame"`
	Size  int  `json:"size"` // bytes; pictures lie one behind the other
	Key   bool `json:"key,omitempty"`
}

// openWork makes or finds the film's folder and locks it.
func openWork(o Options) (*work, error) {
	id, err := o.id()
	if err != nil {
		return nil, err
	}
	w := &work{dir: filepath.Join(o.Work, id), id: id}
	if err := os.MkdirAll(o.Work, 0o700); err != nil {
		return nil, inWork(err, o.Work, "keep unfinished films")
	}
	w.lock, err = lockIn(o.Work, id)
	if errors.Is(err, statefile.ErrLocked) {
		return nil, fault.New(fault.RenderBusy, "Wait for it, or render another scene.", "Another process is rendering this film now.")
	}
	if err != nil {
		return nil, inWork(err, o.Work, "lock the film's folder")
	}
	if err := errors.Join(os.MkdirAll(w.dir, 0o700), w.sweep()); err != nil {
		w.close()
		return nil, inWork(err, w.dir, "keep finished parts of the film")
	}
	return w, nil
}

const lockSuffix = ".lock"

// lockIn takes the lock of a film, and removes the locks that killed processes
// have left, with what they had not finished. To see whether a lock is held it
// is taken for a moment, so one does this at a time: nobody finds a lock taken
// by one who only looks.
func lockIn(dir, id string) (*statefile.Lock, error) {
	turn, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = turn.Close() }() // which ends the turn
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(turn.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		return nil, fmt.Errorf("wait for others that begin: %w", err)
	}
	left, err := turn.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	for _, file := range left {
		name, ok := strings.CutSuffix(file, lockSuffix)
		if !ok || name == id {
			continue
		}
		if l, err := statefile.TryLock(filepath.Join(dir, file)); err == nil {
			other := work{dir: filepath.Join(dir, name), lock: l}
			_ = other.sweep() // what stays does no harm
			other.close()
		}
	}
	return statefile.TryLock(filepath.Join(dir, id+lockSuffix))
}

// id names the film: what is drawn, how it is encoded, and by which binary.
func (o Options) id() (string, error) {
	st, err := os.Stat(o.FFmpeg)
	if err != nil {
		return "", fmt.Errorf("look at ffmpeg: %w", err)
	}
	all := []any{
		format, o.Key, o.Width, o.Height, o.FPS, o.Frames, Stretches(o.Frames, o.FPS), encoderArgs(o),
		o.FFmpeg, st.Size(), st.ModTime().UnixNano(),
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("name the film: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16]), nil
}

// sweep removes what a killed render left unfinished.
func (w *work) sweep() error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), partSuffix) {
			if err := os.Remove(filepath.Join(w.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	partSuffix = ".part"
	// maxPicture bounds one encoded picture in bytes: FLV has no larger ones.
	maxPicture = 1 << 24
)

// data is the path of a stretch's pictures: access units with NAL lengths.
func (w *work) data(s Stretch) string { return filepath.Join(w.dir, fmt.Sprintf("%05d.h264", s.Index)) }

func (w *work) note(s Stretch) string { return filepath.Join(w.dir, fmt.Sprintf("%05d.json", s.Index)) }

// keep makes a stretch whose data is written and closed a finished one. After a
// crash of the machine a file may hold less than was written: its hash tells.
func (w *work) keep(s Stretch, p piece) error {
	if err := os.Rename(w.data(s)+partSuffix, w.data(s)); err != nil {
		return err
	}
	return statefile.WriteVolatile(w.note(s), p)
}

// find gives a stretch that an earlier render finished. One that is not whole,
// not what was written, or not there is removed and not ok.
func (w *work) find(s Stretch) (p piece, ok bool, err error) {
	err = statefile.Read(w.note(s), &p)
	var corrupt *statefile.CorruptError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &corrupt):
	case err != nil:
		return piece{}, false, err
	case p.sound(s):
		sum, crc, herr := hashFile(w.data(s), p.size())
		if herr == nil && sum == p.SHA256 && crc == p.CRC {
			return p, true, nil
		}
	}
	for _, path := range []string{w.note(s), w.data(s)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return piece{}, false, err
		}
	}
	return piece{}, false, nil
}

// sound says whether a note can be of the stretch: it is read from a disk.
func (p piece) sound(s Stretch) bool {
	if p.From != s.From || p.To != s.To || len(p.Pictures) == 0 || len(p.Pictures) > s.Len() {
		return false
	}
	last := s.From - 1
	for i, pic := range p.Pictures {
		if pic.Size <= 0 || pic.Size > maxPicture || pic.Frame <= last || pic.Frame >= s.To || i == 0 && (pic.Frame != s.From || !pic.Key) {
			return false
		}
		last = pic.Frame
	}
	return true
}

func (p piece) size() (n int64) {
	for _, pic := range p.Pictures {
		n += int64(pic.Size)
	}
	return n
}

// segment gives the stretch as package film takes it.
func (p piece) segment(path string) segment.Segment {
	s := segment.Segment{Path: path, CRC: p.CRC, Bytes: p.size()}
	at := int64(0)
	for _, pic := range p.Pictures {
		s.Frames = append(s.Frames, mp4.Sample{Tick: int64(pic.Frame), Key: pic.Key, Offset: at, Size: int64(pic.Size)})
		at += int64(pic.Size)
	}
	return s
}

// hashFile gives the hashes of a file, which must have the given size.
func hashFile(path string, size int64) (sum string, crc uint32, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	h, c := sha256.New(), crc32.NewIEEE()
	n, err := io.Copy(io.MultiWriter(h, c), io.LimitReader(f, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("%s has other than %d bytes", filepath.Base(path), size)
	}
	return hex.EncodeToString(h.Sum(nil)), c.Sum32(), err
}

// remove removes the folder of a finished film, and its lock. Nothing may be
// done with it afterwards but close.
func (w *work) remove() error {
	err := errors.Join(os.RemoveAll(w.dir), w.lock.Remove())
	w.lock = nil // there may be another's by now
	return err
}

// close gives the film up to others, and removes the folder when nothing is
// kept in it. After remove it does nothing.
func (w *work) close() {
	if w.lock == nil {
		return
	}
	_ = os.Remove(w.dir) // which a folder that holds something refuses
	_ = w.lock.Remove()  // what stays does no harm
	w.lock = nil
}
