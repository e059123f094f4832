package gauge

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Hertz is the unit of times in /proc, on every Linux that Go runs on.
const Hertz = 100

// Busy is the time that the machine's processors have worked, together.
func Busy() (time.Duration, error) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("read the machine's load: %w", err)
	}
	return parseBusy(string(raw))
}

// parseBusy reads the first line of /proc/stat: all but idle and iowait (fields 4
// and 5), and guest time (9 and 10), which is part of user time (proc(5)).
func parseBusy(stat string) (time.Duration, error) {
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var sum int64
	for _, i := range []int{1, 2, 3, 6, 7, 8} {
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat begins with %q: %w", line, err)
		}
		sum += n
	}
	return time.Duration(sum) * time.Second / Hertz, nil
}
