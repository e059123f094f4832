package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The layout of a ring's file; ring.js writes it and says what stands where.
const (
	ringIDLen   = 32
	ringWritten = 64
	ringDrawing = 68
	ringFrames  = 128
	ringControl = 4096
	ringSlots   = 8192
)

// errNoRing says that the browser keeps its files elsewhere than we look.
var errNoRing = errors.New("the browser's file with the frames was not found in its profile")

// ring is the host's side of a worker's file. One goroutine uses it.
type ring struct {
	file  *os.File
	data  []byte // the file, mapped; nil: it is read
	bytes int    // of a frame
	buf   []byte // of a frame, when it is read
}

// ringSize is the size of the file.
func ringSize(frameBytes int) int64 { return ringSlots + int64(slots)*int64(frameBytes) }

// openRing finds the ring by its size and its id below the profile. Chromium
// keeps the origin's private files there under numbers.
func openRing(profile, id string, frameBytes int, mapped bool) (*ring, error) {
	size := ringSize(frameBytes)
	root, err := os.OpenRoot(profile) // no link leads out of it
	if err != nil {
		return nil, fmt.Errorf("look for the frames: %w", err)
	}
	defer func() { _ = root.Close() }()
	var found *os.File
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // the browser makes and removes files meanwhile
		}
		if info, err := d.Info(); err != nil || info.Size() != size {
			return nil
		}
		f, err := root.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil
		}
		head := make([]byte, ringIDLen)
		if _, err := f.ReadAt(head, 0); err != nil || string(head) != id {
			return f.Close()
		}
		found = f
		return fs.SkipAll
	})
	if err != nil {
		return nil, fmt.Errorf("look for the frames: %w", err)
	}
	if found == nil {
		return nil, errNoRing
	}
	r := &ring{file: found, bytes: frameBytes}
	if mapped {
		// A kernel that can't map this file is served by reading: gVisor can't
		// map what a gofer serves on some platforms.
		r.data, err = unix.Mmap(int(found.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	}
	if !mapped || err != nil {
		r.data, r.buf = nil, make([]byte, frameBytes)
	}
	return r, nil
}

// state tells how many frames were written in all, and which is being drawn
// while frames are drawn that nobody sees (-1: none).
func (r *ring) state() (written uint32, drawing int, err error) {
	if r.data != nil {
		written = atomic.LoadUint32(r.word(ringWritten))
		return written, int(atomic.LoadUint32(r.word(ringDrawing))) - 1, nil
	}
	var raw [8]byte
	if _, err := r.file.ReadAt(raw[:], ringWritten); err != nil {
		return 0, 0, fmt.Errorf("read how many frames there are: %w", err)
	}
	return binary.LittleEndian.Uint32(raw[:]), int(binary.LittleEndian.Uint32(raw[4:])) - 1, nil
}

// word is a word of the mapping that another process changes.
func (r *ring) word(at int) *uint32 {
	return (*uint32)(unsafe.Pointer(&r.data[at])) //nolint:gosec // aligned, inside the mapping, and only loaded
}

// holds tells whether an address lies in the mapping.
func (r *ring) holds(address uintptr) bool {
	if r.data == nil {
		return false
	}
	begin := uintptr(unsafe.Pointer(&r.data[0])) //nolint:gosec // it is compared only
	return address >= begin && address < begin+uintptr(len(r.data))
}

// entry is a frame in the ring.
type entry struct {
	frame int
	cost  time.Duration
	pix   []byte // valid until the frame is released
}

// entry gives the frame that was written as the n-th, counted from 0.
func (r *ring) entry(n uint32) (entry, error) {
	i := int(n % slots)
	at, head := ringSlots+i*r.bytes, ringFrames+8*i
	if r.data != nil {
		return entry{
			frame: int(atomic.LoadUint32(r.word(head))),
			cost:  time.Duration(atomic.LoadUint32(r.word(head+4))) * time.Microsecond,
			pix:   r.data[at : at+r.bytes],
		}, nil
	}
	var raw [8]byte
	if _, err := r.file.ReadAt(raw[:], int64(head)); err != nil {
		return entry{}, fmt.Errorf("read a frame's number: %w", err)
	}
	if _, err := r.file.ReadAt(r.buf, int64(at)); err != nil {
		return entry{}, fmt.Errorf("read a frame: %w", err)
	}
	return entry{
		frame: int(binary.LittleEndian.Uint32(raw[:])),
		cost:  time.Duration(binary.LittleEndian.Uint32(raw[4:])) * time.Microsecond,
		pix:   r.buf,
	}, nil
}

// release lets the worker have the slots of the first n frames again.
func (r *ring) release(n uint32) error { return r.control(0, n) }

// abort has the worker end a run after the frame that it draws.
func (r *ring) abort(run uint32) error { return r.control(4, run) }

func (r *ring) control(at int64, value uint32) error {
	var raw [4]byte
	binary.LittleEndian.PutUint32(raw[:], value)
	if _, err := r.file.WriteAt(raw[:], ringControl+at); err != nil {
		return fmt.Errorf("let a frame go: %w", err)
	}
	return nil
}

func (r *ring) close() {
	if r.data != nil {
		_ = unix.Munmap(r.data)
		r.data = nil
	}
	_ = r.file.Close()
}
