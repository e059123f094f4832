package chromium

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
)

const (
	watchEvery = 100 * time.Millisecond
	// lookEvery is how many checks pass until the processes are looked up
	// anew, when nothing tells that there are others. That reads all of /proc,
	// and on a machine with a thousand processes takes as long as a frame.
	lookEvery = 50
)

// watch adds up what a browser's processes hold.
type watch struct {
	root   proc.Identity
	limit  int64 // bytes; 0: none
	pids   []proc.Identity
	checks int
}

func newWatch(root proc.Identity, limit int64) *watch {
	return &watch{root: root, limit: limit}
}

// refresh finds the processes. Those that were found before stay listed: one
// whose parent has ended is found no more.
func (w *watch) refresh() {
	found := append([]proc.Identity{w.root}, proc.Descendants(w.root)...)
	known := map[proc.Identity]bool{}
	for _, id := range found {
		known[id] = true
	}
	for _, id := range w.pids {
		if !known[id] && id.Alive() {
			found = append(found, id)
		}
	}
	w.pids = found
}

// check gives a *MemoryError when the limit is passed. look says that there may
// be other processes than before.
//
// A process's own pages count for each; what is shared is counted once, as
// much as the process with the most of it holds. That is close to the sum of
// the proportional sizes, which the kernel takes milliseconds to work out.
func (w *watch) check(look bool) error {
	if look || w.checks%lookEvery == 0 {
		w.refresh()
	}
	w.checks++
	if w.limit == 0 {
		return nil
	}
	var own, shared int64
	for _, id := range w.pids {
		anon, shmem := memoryOf(id.PID)
		own += anon
		shared = max(shared, shmem)
	}
	if used := own + shared; used > w.limit {
		return &MemoryError{Used: used, Limit: w.limit}
	}
	return nil
}

// memoryOf reads RssAnon (with what is swapped out) and RssShmem of
// /proc/PID/status (proc(5)), in bytes. A process that is gone holds nothing.
func memoryOf(pid int) (anon, shmem int64) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, 0
	}
	for line := range bytes.Lines(raw) {
		name, value, _ := strings.Cut(string(line), ":")
		kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "RssAnon", "VmSwap":
			anon += kb << 10
		case "RssShmem":
			shmem = kb << 10
		}
	}
	return anon, shmem
}
