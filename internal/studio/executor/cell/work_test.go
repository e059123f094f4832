package cell

import "testing"

// A box that has the host's /tmp for its own was taken for one that had filled
// its disk, by what the host's disk holds.
func TestUsedAtCountsMemoryAlone(t *testing.T) {
	if got := usedAt("/usr"); got != (usage{}) {
		t.Errorf("a disk: %+v", got)
	}
	if got := usedAt("/nowhere"); got != (usage{}) {
		t.Errorf("nothing: %+v", got)
	}
	if got := usedAt("/dev/shm"); got.files == 0 {
		t.Error("a file system in memory holds its own root at least")
	}
}
