package ffmpeg

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Progress is one block of what ffmpeg writes to -progress (fftools/ffmpeg.c,
// print_report).
type Progress struct {
	Frame     int64         // frames encoded so far
	Dup       int64         // frames that ffmpeg repeated
	Drop      int64         // frames that ffmpeg dropped
	OutTime   time.Duration // end of what was written; 0 before the first packet
	TotalSize int64         // bytes written; 0 when ffmpeg can't tell
	End       bool          // the last block
}

// ReadProgress calls each for every block until r ends. A value that is not a
// number ("N/A") keeps what the block before said, for the counters only rise.
// Keys that are not known here are passed over, and so are blocks that were
// cut off.
//
// The error is r's, or bufio.ErrTooLong for a line that no ffmpeg writes.
func ReadProgress(r io.Reader, each func(Progress)) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 1024), 64<<10)
	var p Progress
	for sc.Scan() {
		key, value, ok := strings.Cut(strings.TrimSpace(sc.Text()), "=")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch key {
		case "frame":
			setNumber(&p.Frame, value)
		case "dup_frames":
			setNumber(&p.Dup, value)
		case "drop_frames":
			setNumber(&p.Drop, value)
		case "total_size":
			setNumber(&p.TotalSize, value)
		case "out_time_us": // out_time_ms holds microseconds as well, by an old mistake
			var us int64
			if setNumber(&us, value); us > 0 && us < int64(1<<63-1)/1000 {
				p.OutTime = time.Duration(us) * time.Microsecond
			}
		case "progress":
			p.End = value == "end"
			each(p)
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read ffmpeg's progress: %w", err)
	}
	return nil
}

func setNumber(to *int64, value string) {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
		*to = n
	}
}
