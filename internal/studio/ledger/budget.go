// Package ledger keeps money: what a job may spend, has reserved and has
// spent, in a journal that survives the process. A call's worst case is
// reserved before the call goes out, and settled when its cost is known. What
// was reserved and never settled counts as spent.
//
// Here lie amounts, the journal and its rules. What a call costs, and what is
// called, is not known here.
package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/host/statefile"
)

// Options of a budget's journal.
type Options struct {
	// Sync waits for the disk at each reservation, so that even a power cut
	// loses none. Without it a killed process loses nothing, a machine that
	// loses power may lose the last second.
	Sync bool
	// Now tells the time of records; nil: time.Now.
	Now func() time.Time
}

// Reasons why a reservation is refused. ExhaustedError says more of the first.
var (
	ErrCalls   = errors.New("the job has made all its calls")
	ErrStopped = errors.New("the job was stopped")
	ErrClosed  = errors.New("the job has ended")
	ErrSettled = errors.New("the reservation is settled already")
)

// ExhaustedError says that what is left of the budget is less than a call
// needs.
type ExhaustedError struct{ Left, Needed Micros }

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("%v is left of the budget, the call needs %v", e.Left, e.Needed)
}

// Budget is a job's budget, open for spending. Its methods may be called from
// anywhere at once: each is one atomic step.
type Budget struct {
	opts Options

	mu     sync.Mutex
	f      *os.File
	lock   *statefile.Lock
	size   int64
	s      *state
	broken error // the journal can't be written: nothing more is let through
	closed bool
	buf    []byte
}

// Create makes a job's journal at path, which must not exist yet. The job's
// name is 1 to 128 letters, digits, dots, dashes and underscores.
func Create(path, job string, l Limits, o Options) (*Budget, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`).MatchString(job) {
		return nil, fmt.Errorf("%q can't be a job's name", job)
	}
	if l.Money < 0 || l.Calls < 0 || l.Counts < 0 {
		return nil, fmt.Errorf("limits of %s: %w", job, ErrTooMuch)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the journal: %w", err)
	}
	b := &Budget{opts: o, f: f, s: newState()}
	if b.lock, err = statefile.TryLock(path); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock the journal: %w", err)
	}
	err = b.write(o.Sync, verbOpen, version, job, num(int64(l.Money)), num(int64(l.Calls)), num(int64(l.Counts)))
	if err == nil && o.Sync {
		err = statefile.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// Open goes on with a journal whose process is gone. Its open reservations
// become spent. ErrLocked of statefile says that the process is still there, a
// *CorruptError that the journal can't be believed.
func Open(path string, o Options) (*Budget, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	b := &Budget{opts: o, f: f}
	if b.lock, err = statefile.TryLock(path); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock the journal: %w", err)
	}
	if err := b.recover(); err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// OpenOrCreate goes on with a job's journal, or begins it. The limits of one
// that is there stay as they are.
func OpenOrCreate(path, job string, l Limits, o Options) (*Budget, error) {
	b, err := Create(path, job, l, o)
	if !errors.Is(err, fs.ErrExist) {
		return b, err
	}
	if b, err = Open(path, o); err != nil {
		return nil, err
	}
	if got := b.Statement().Job; got != job {
		_, _ = b.Close()
		return nil, fmt.Errorf("the journal of %s is %s's", job, got)
	}
	return b, nil
}

func (b *Budget) recover() error {
	raw, err := readAll(b.f)
	if err != nil {
		return err
	}
	if b.s, b.size, err = replay(raw); err != nil {
		return err
	}
	if err := b.f.Truncate(b.size); err != nil {
		return fmt.Errorf("cut the journal's torn end: %w", err)
	}
	if err := b.write(b.opts.Sync, verbResume); err != nil {
		return err
	}
	return b.lapse("crash")
}

// lapse settles what is open in full.
func (b *Budget) lapse(why string) error {
	for id, held := range b.s.holds {
		if err := b.write(false, verbSettle, num(id), num(int64(held)), "0", why); err != nil {
			return err
		}
	}
	return nil
}

// Read tells what a journal says, whether or not its process lives. Open
// reservations are in Held.
func Read(path string) (Statement, error) {
	f, err := os.Open(path)
	if err != nil {
		return Statement{}, fmt.Errorf("open the journal: %w", err)
	}
	defer func() { _ = f.Close() }()
	raw, err := readAll(f)
	if err != nil {
		return Statement{}, err
	}
	s, _, err := replay(raw)
	if err != nil {
		return Statement{}, err
	}
	return s.Statement, nil
}

// maxJournal bounds what is read: a call is two lines of under 100 bytes.
const maxJournal = 256 << 20

func readAll(f *os.File) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(f, maxJournal+1))
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	if len(raw) > maxJournal {
		return nil, &CorruptError{1, errors.New("it is far too large")}
	}
	return raw, nil
}

// Hold is a reservation. It is settled once.
type Hold struct {
	b       *Budget
	id      int64
	granted Micros
}

// Granted is how much was reserved.
func (h *Hold) Granted() Micros { return h.granted }

// Reserve takes as much as is left of the budget, but no more than most and no
// less than least, in one durable step: when it returns a hold, the journal
// has it. It counts as a call. Errors: *ExhaustedError, ErrCalls, ErrStopped,
// ErrClosed, or that the journal can't be written.
func (b *Budget) Reserve(least, most Micros) (*Hold, error) {
	if least < 0 || most < least {
		return nil, ErrTooMuch
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.ready(); err != nil {
		return nil, err
	}
	if b.s.Calls >= b.s.Limits.Calls {
		return nil, ErrCalls
	}
	left := b.s.Left()
	if least > left {
		return nil, &ExhaustedError{Left: left, Needed: least}
	}
	h := &Hold{b, b.s.last + 1, min(most, left)}
	if err := b.write(b.opts.Sync, verbReserve, num(h.id), num(int64(h.granted))); err != nil {
		return nil, err
	}
	return h, nil
}

// Count counts a call that costs nothing. Errors as of Reserve.
func (b *Budget) Count() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.ready(); err != nil {
		return err
	}
	if b.s.Counts >= b.s.Limits.Counts {
		return ErrCalls
	}
	return b.write(false, verbCount)
}

// Why says by what a reservation was settled.
type Why string

// The reasons.
const (
	Used    Why = "used"    // by the usage that was reported
	Full    Why = "full"    // the cost is not known: all of it
	Refused Why = "refused" // the call never took place: nothing
)

// Settle says what the call cost. Cost beyond the reservation is booked apart,
// as overrun: the budget holds, and the fault is seen. A second call is
// ErrSettled and changes nothing. When the journal can't be written the
// reservation stays open, which is spent, and no more calls are let through.
func (h *Hold) Settle(cost Micros, why Why) error {
	b := h.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, open := b.s.holds[h.id]; !open {
		return ErrSettled
	}
	if b.broken != nil {
		return b.broken
	}
	if cost < 0 || why == Full {
		cost = h.granted
	}
	booked := min(cost, h.granted)
	return b.write(false, verbSettle, num(h.id), num(int64(booked)), num(int64(cost-booked)), string(why))
}

// Stop lets no more calls through. Why is one word. The first reason stays.
func (b *Budget) Stop(why string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.ready(); err != nil {
		if errors.Is(err, ErrStopped) {
			return nil
		}
		return err
	}
	if !regexp.MustCompile(`^[a-z_]{1,64}$`).MatchString(why) {
		return fmt.Errorf("%q can't be a reason", why)
	}
	return b.write(false, verbStop, why)
}

// Statement tells how the job stands.
func (b *Budget) Statement() Statement {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.s.Statement
}

// Close ends spending: what is still open becomes spent. A second call gives
// the same statement.
func (b *Budget) Close() (Statement, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return b.s.Statement, nil
	}
	b.closed = true
	err := b.broken
	if err == nil {
		err = b.lapse(string(Full))
	}
	if b.opts.Sync && err == nil {
		err = b.f.Sync()
	}
	b.release()
	return b.s.Statement, err
}

func (b *Budget) release() {
	_ = b.f.Close()
	b.lock.Unlock()
}

func (b *Budget) ready() error {
	switch {
	case b.closed:
		return ErrClosed
	case b.broken != nil:
		return b.broken
	case b.s.Stopped != "":
		return fmt.Errorf("%w: %s", ErrStopped, b.s.Stopped)
	}
	return nil
}

// write appends a record and then changes the state by it. A record that was
// written in part is cut off again; when that fails too, the budget is broken.
func (b *Budget) write(sync bool, verb string, args ...string) error {
	now := time.Now
	if b.opts.Now != nil {
		now = b.opts.Now
	}
	r := record{seq: b.s.seq + 1, ms: now().UnixMilli(), verb: verb, args: args}
	b.buf = r.append(b.buf[:0])
	_, err := b.f.WriteAt(b.buf, b.size)
	if err == nil && sync {
		err = b.f.Sync()
	}
	if err != nil {
		err = fmt.Errorf("write the journal: %w", err)
		if terr := b.f.Truncate(b.size); terr != nil {
			b.broken = errors.Join(err, terr)
		}
		return err
	}
	if err := b.s.apply(r); err != nil {
		b.broken = fmt.Errorf("a record of our own: %w", err)
		return b.broken
	}
	b.size += int64(len(b.buf))
	return nil
}

func num(n int64) string { return strconv.FormatInt(n, 10) }
