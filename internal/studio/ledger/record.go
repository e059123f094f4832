package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// A journal is lines, so that it can be read with cat:
//
//	<checksum> <number> <unix ms> <verb> <arguments…>
//
// The checksum is the CRC-32C of what follows it, in eight hex digits; records
// are numbered from 1 without a gap. So a line that is missing, doubled or
// torn is seen.
const (
	verbOpen    = "open"    // version, job, budget, calls, counts
	verbReserve = "reserve" // hold, amount
	verbSettle  = "settle"  // hold, amount, overrun, why
	verbCount   = "count"
	verbStop    = "stop" // why
	verbResume  = "resume"
)

// version is the journal's format; it is in the first record.
const version = "1"

// record is one line.
type record struct {
	seq, ms int64
	verb    string
	args    []string
}

func (r record) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, "00000000 "...)
	dst = strconv.AppendInt(dst, r.seq, 10)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, r.ms, 10)
	dst = append(dst, ' ')
	dst = append(dst, r.verb...)
	for _, a := range r.args {
		dst = append(dst, ' ')
		dst = append(dst, a...)
	}
	sum := fmt.Sprintf("%08x", checksum(dst[start+9:]))
	copy(dst[start:], sum)
	return append(dst, '\n')
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// errLine says that a line is no record.
var errLine = errors.New("not a record")

// parseRecord reads one line, without its end.
func parseRecord(line []byte) (record, error) {
	if len(line) < 10 || line[8] != ' ' {
		return record{}, errLine
	}
	if fmt.Sprintf("%08x", checksum(line[9:])) != string(line[:8]) {
		return record{}, errLine
	}
	f := strings.Split(string(line[9:]), " ")
	if len(f) < 3 || slices.Contains(f, "") {
		return record{}, errLine
	}
	r := record{verb: f[2], args: f[3:]}
	var err1, err2 error
	r.seq, err1 = strconv.ParseInt(f[0], 10, 64)
	r.ms, err2 = strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil {
		return record{}, errLine
	}
	return r, nil
}

// CorruptError says that a journal is not what was written: a record is
// missing, changed or makes no sense. A torn last record is none: it is what a
// crash leaves.
type CorruptError struct {
	Line int // from 1
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("line %d of the journal is corrupt: %v", e.Line, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// replay gives the state that a journal's bytes tell, and how many of them are
// whole records.
func replay(raw []byte) (*state, int64, error) {
	s := newState()
	var whole int64
	for n := 1; len(raw) > 0; n++ {
		line, rest, ended := bytes.Cut(raw, []byte{'\n'})
		r, err := parseRecord(line)
		if err == nil && ended {
			err = s.apply(r)
			if err != nil {
				return nil, 0, &CorruptError{n, err}
			}
			whole += int64(len(line)) + 1
			raw = rest
			continue
		}
		// The last line may be torn. One in the middle was written whole.
		if len(rest) > 0 {
			return nil, 0, &CorruptError{n, errLine}
		}
		break
	}
	if s.seq == 0 {
		return nil, 0, &CorruptError{1, errors.New("the first record is missing")}
	}
	return s, whole, nil
}
