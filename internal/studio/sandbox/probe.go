package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// Control says whether a case is tried outside too, to show that the try
// itself works.
type Control int

// The kinds of control.
const (
	ControlNone Control = iota // it would do harm, or mean nothing
	ControlSeen                // tried; what it sees depends on the machine
	ControlMust                // our own canary: it must be reached
)

// Case is one door of the machine that a box's inside tries.
type Case struct {
	ID      string
	Group   string // network, family, call, file, kernel, process, own
	What    string
	Open    bool // it should be open in a box
	Guest   bool // it should be open where the box has a kernel of its own: that one answers, and not the host's
	Control Control
	try     func(t Targets) (open bool, detail string)
}

// Targets are the canaries that the probe plants outside, and where they are.
type Targets struct {
	TCP4       string   `json:"tcp4"`    // address:port on the host's loopback
	TCP6       string   `json:"tcp6"`    // empty: the host has no IPv6
	TCPHost    string   `json:"tcpHost"` // on the host's own address; empty: it has none
	UDP        string   `json:"udp"`
	Abstract   string   `json:"abstract"`   // name of an abstract unix socket, without the leading NUL
	PathSocket string   `json:"pathSocket"` // path of the host's
	Secret     string   `json:"secret"`     // file of the host's that the probe's user could read
	OtherJob   string   `json:"otherJob"`   // file in another box's directory
	Word       string   `json:"word"`       // what every canary says
	EnvWord    string   `json:"envWord"`    // in the environment and arguments of a process outside
	ShmKey     int      `json:"shmKey"`     // of a System V segment outside
	Doors      []string `json:"doors"`      // in the box; must answer with Word
	WorkBytes  int64    `json:"workBytes"`  // limits of the box, to try them
	TmpBytes   int64    `json:"tmpBytes"`
	Outside    bool     `json:"outside"` // this is the control: try what does no harm
}

// Cases lists everything that is tried, in the order of the report.
func Cases() []Case {
	var all []Case
	for _, part := range []func() []Case{networkCases, familyCases, callCases, fileCases, kernelCases, processCases, ownCases} {
		all = append(all, part()...)
	}
	return all
}

// ProbeWord begins the line that the probe prints its observations in.
const ProbeWord = "proofreel-probe "

// Try tries every case from here and prints what it saw. It is what the
// hidden command "box probe" does, inside a box and, for control, outside.
func Try(path string, w io.Writer) error {
	if path == foreignCall {
		tryForeign()
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the probe's targets: %w", err)
	}
	var t Targets
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("read the probe's targets: %w", err)
	}
	// Some tries are of a thread, and must not mix.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var seen []Observation
	for _, c := range Cases() {
		if t.Outside && c.Control == ControlNone {
			continue
		}
		open, detail := c.try(t)
		seen = append(seen, Observation{c.ID, open, short(detail)})
	}
	line, err := json.Marshal(seen)
	if err != nil {
		return fmt.Errorf("tell what the probe saw: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", ProbeWord, line)
	return err //nolint:wrapcheck // nothing to add
}

// ReadProbe finds the observations in what a probe printed.
func ReadProbe(output string) ([]Observation, error) {
	for line := range strings.Lines(output) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), ProbeWord)
		if !ok {
			continue
		}
		var seen []Observation
		if err := json.Unmarshal([]byte(rest), &seen); err != nil {
			return nil, fmt.Errorf("read what the probe saw: %w", err)
		}
		return seen, nil
	}
	return nil, fmt.Errorf("the probe said nothing of what it saw: %.2000q", output)
}

func short(s string) string {
	const most = 100
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		return s[:most]
	}
	return s
}
