package sandbox

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// PolicyTable is the system call policy as the docs show it.
func PolicyTable() string {
	var b strings.Builder
	b.WriteString("| calls | refused | with | why |\n|---|---|---|---|\n")
	for _, r := range Rules(false) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.Join(r.Calls, ", "), r.When(), unix.ErrnoName(r.Errno), r.Why)
	}
	return b.String()
}

// CaseTable is what the conformance probe tries as the docs show it.
func CaseTable() string {
	groups := []struct{ id, what string }{
		{"network", "network and sockets"},
		{"family", "socket families"},
		{"call", "system calls"},
		{"file", "files and devices"},
		{"kernel", "kernel interfaces"},
		{"process", "processes"},
		{"own", "the box's own"},
	}
	var b strings.Builder
	b.WriteString("| about | cases | open in every box | open in a box with a kernel of its own |\n|---|---|---|---|\n")
	for _, g := range groups {
		count := 0
		var open, guest []string
		for _, c := range Cases() {
			if c.Group != g.id {
				continue
			}
			count++
			if c.Open {
				open = append(open, c.ID)
			}
			if c.Guest {
				guest = append(guest, c.ID)
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", g.what, count, strings.Join(open, ", "), strings.Join(guest, ", "))
	}
	return b.String()
}
