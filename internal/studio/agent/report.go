package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

// Phase is what the runner says that it does.
type Phase uint8

// The phases. They may come in any order until one of the last two.
const (
	Starting  Phase = 1 + iota
	Writing         // the model writes
	Checking        // it looks at stills, or checks
	Rendering       // Percent of the film is there
	Done            // there is a film
	Failed          // there will be none
)

// String gives the phase's word.
func (p Phase) String() string {
	words := [...]string{Starting: "starting", Writing: "writing", Checking: "checking", Rendering: "rendering", Done: "done", Failed: "failed"}
	if p < Starting || int(p) >= len(words) {
		return "unknown"
	}
	return words[p]
}

// Ended says whether nothing comes after it.
func (p Phase) Ended() bool { return p == Done || p == Failed }

// End says why the runner no longer asks the model, once it does not.
type End uint8

// The ends. Only the first is the model's own.
const (
	Working   End = iota
	Finished      // the model said that it is done
	TurnsOut      // all turns were used
	TimeOut       // of the wall clock, only the part for finishing is left
	BudgetOut     // the gateway says that the money or the calls are used up
	Denied        // the gateway refused the conversation, also after it was cut, or is shut
	Upstream      // the model can't be reached, or answers with errors
	Refused       // the model refused
	Broken        // the runner or the foreign agent failed
)

// String gives the end's word.
func (e End) String() string {
	words := [...]string{
		Working: "working", Finished: "finished", TurnsOut: "turns", TimeOut: "time", BudgetOut: "budget",
		Denied: "denied", Upstream: "upstream", Refused: "refused", Broken: "broken",
	}
	if int(e) >= len(words) {
		return "unknown"
	}
	return words[e]
}

// Report is all that is taken in of what a runner says: words of a fixed
// vocabulary and numbers within bounds. The runner is in the box, so all of it
// may be a lie: it is good for a progress bar and for the wording of an error,
// and decides nothing.
type Report struct {
	Phase   Phase
	End     End
	Percent int // of Rendering: 0 to 100
	Turn    int // calls to the model so far: 0 to MaxTurns
	Frames  int // of the film: 0 to scene.MaxFrames
	Poster  int // frame that the poster shows, as Frames
	Bytes   int64
}

// Bounds of what a report may say.
const (
	MaxTurns    = 1000
	MaxFrames   = scene.MaxFrames
	MaxFilm     = 1 << 30 // bytes
	RecordBytes = 64
)

const (
	magic   = "PRRP"
	version = 1
)

// The record: all numbers little-endian.
//
//	 0  magic      4 bytes
//	 4  version    1
//	 5  phase      1
//	 6  end        1
//	 7  percent    1
//	 8  turn       2
//	10  zero       2
//	12  frames     4
//	16  poster     4
//	20  zero       4
//	24  bytes      8
//	32  zero      28
//	60  crc32      4, IEEE, of the 60 bytes before it

// ErrRecord says that bytes are no report.
var ErrRecord = errors.New("record of a runner's report")

// Append writes the report's record behind b. Numbers out of bounds are set to
// the bound.
func (r Report) Append(b []byte) []byte {
	r = r.clamp()
	var rec [RecordBytes]byte
	copy(rec[:], magic)
	rec[4], rec[5], rec[6], rec[7] = version, byte(r.Phase), byte(r.End), byte(r.Percent)
	binary.LittleEndian.PutUint16(rec[8:], uint16(r.Turn))
	binary.LittleEndian.PutUint32(rec[12:], uint32(r.Frames))
	binary.LittleEndian.PutUint32(rec[16:], uint32(r.Poster))
	binary.LittleEndian.PutUint64(rec[24:], uint64(r.Bytes))
	binary.LittleEndian.PutUint32(rec[60:], crc32.ChecksumIEEE(rec[:60]))
	return append(b, rec[:]...)
}

// ParseReport reads a record. What is not exactly one is ErrRecord; numbers
// out of bounds are set to the bound.
func ParseReport(rec []byte) (Report, error) {
	switch {
	case len(rec) != RecordBytes:
		return Report{}, fmt.Errorf("%w: %d bytes", ErrRecord, len(rec))
	case string(rec[:4]) != magic || rec[4] != version:
		return Report{}, fmt.Errorf("%w: another magic or version", ErrRecord)
	case binary.LittleEndian.Uint32(rec[60:]) != crc32.ChecksumIEEE(rec[:60]):
		return Report{}, fmt.Errorf("%w: wrong checksum", ErrRecord)
	}
	phase, end := Phase(rec[5]), End(rec[6])
	if phase < Starting || phase > Failed || end > Broken {
		return Report{}, fmt.Errorf("%w: unknown word", ErrRecord)
	}
	for _, zero := range [][]byte{rec[10:12], rec[20:24], rec[32:60]} {
		for _, c := range zero {
			if c != 0 {
				return Report{}, fmt.Errorf("%w: something where nothing belongs", ErrRecord)
			}
		}
	}
	return Report{
		Phase: phase, End: end, Percent: int(rec[7]),
		Turn:   int(binary.LittleEndian.Uint16(rec[8:])),
		Frames: int(binary.LittleEndian.Uint32(rec[12:])),
		Poster: int(binary.LittleEndian.Uint32(rec[16:])),
		Bytes:  int64(min(binary.LittleEndian.Uint64(rec[24:]), MaxFilm)),
	}.clamp(), nil
}

func (r Report) clamp() Report {
	bound := func(v, most int) int { return max(0, min(v, most)) }
	r.Percent, r.Turn = bound(r.Percent, 100), bound(r.Turn, MaxTurns)
	r.Frames, r.Poster = bound(r.Frames, MaxFrames), bound(r.Poster, MaxFrames)
	r.Bytes = max(0, min(r.Bytes, MaxFilm))
	return r
}
