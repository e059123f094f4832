package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
	"time"
)

// Paths inside every box.
const (
	WorkDir = "/work"                    // the job's own files; the only thing that is looked at afterwards
	RunDir  = "/run/proofreel"           // where doors are
	Program = "/usr/local/bin/proofreel" // this program, read-only
	Home    = WorkDir                    // of the box's only user
	UserID  = 1000                       // of the box's only user, as seen inside
	InitDoc = RunDir + "/init.json"      // what the way in reads: argv, environment, files
	Path    = "/usr/local/bin:/usr/bin:/bin"
)

// Mount is something of the host's that is seen, read-only, in the box.
type Mount struct {
	Source string // a file or directory of the host; the box's user must be able to read it
	Target string // absolute, in the box
}

// Door is a unix socket of the host's that can be connected to from the box.
type Door struct {
	Socket string // of the host; mode 0666, best in a directory that nobody else can enter
	Target string // absolute, in the box
}

// File is written into WorkDir before the job's program starts.
type File struct {
	Name string // relative to WorkDir; directories are made
	Data []byte
	Exec bool
}

// Limits bound a box from outside. Zero values are the defaults'.
type Limits struct {
	Memory   int64         // bytes that processes may use, /tmp and /dev/shm included
	Disk     int64         // bytes of WorkDir, which lies in memory: a box needs Memory + Disk at most
	Pids     int64         // processes and threads
	Files    int64         // open files of a process
	LogBytes int64         // bytes of output that are passed on; the rest is counted and dropped
	Shm      int64         // bytes of /dev/shm
	Tmp      int64         // bytes of /tmp
	CPU      float64       // processors, for instance 1.5
	Wall     time.Duration // from the start; then everything is killed
}

// DefaultLimits are those of a standard job.
func DefaultLimits() Limits {
	return Limits{
		Memory: 3 << 30, Disk: 1 << 30, Pids: 512, Files: 4096, LogBytes: 4 << 20,
		Shm: 512 << 20, Tmp: 256 << 20, CPU: 2, Wall: 40 * time.Minute,
	}
}

// Spec says what runs in a box. It is complete: nothing is inherited.
type Spec struct {
	JobID  string   // lower-case letters, digits and hyphens, at most 64
	Argv   []string // Argv[0] is an absolute path in the box
	Env    []string // the whole environment, NAME=VALUE
	Dir    string   // working directory; empty: WorkDir
	Inputs []Mount
	Files  []File // at most MaxFiles bytes together
	Doors  []Door
	Limits Limits

	// Netlink allows AF_NETLINK sockets: Node's os.networkInterfaces() throws
	// without them. They show the box's own loopback and nothing else.
	Netlink bool

	Stdin  *os.File  // nil: /dev/null
	Stdout io.Writer // stdout and stderr, up to LogBytes; nil: dropped. Written to by one goroutine
}

// MaxFiles bounds the bytes of Spec.Files.
const MaxFiles = 4 << 20

// ErrSpec says that a Spec asks for what no box gives.
var ErrSpec = errors.New("box specification")

// WithDefaults fills in the limits that are not set, and the directory.
func (s Spec) WithDefaults() Spec {
	d, l := DefaultLimits(), &s.Limits
	for _, f := range []struct{ v, or *int64 }{
		{&l.Memory, &d.Memory},
		{&l.Disk, &d.Disk},
		{&l.Pids, &d.Pids},
		{&l.Files, &d.Files},
		{&l.LogBytes, &d.LogBytes},
		{&l.Shm, &d.Shm},
		{&l.Tmp, &d.Tmp},
	} {
		if *f.v == 0 {
			*f.v = *f.or
		}
	}
	if l.CPU == 0 {
		l.CPU = d.CPU
	}
	if l.Wall == 0 {
		l.Wall = d.Wall
	}
	if s.Dir == "" {
		s.Dir = WorkDir
	}
	return s
}

// Validate refuses what no box gives. The error wraps ErrSpec.
func (s Spec) Validate() error {
	for _, check := range []func() error{s.checkProgram, s.checkLimits, s.checkTargets, s.checkFiles} {
		if err := check(); err != nil {
			return fmt.Errorf("%w: %w", ErrSpec, err)
		}
	}
	return nil
}

func (s Spec) checkProgram() error {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`).MatchString(s.JobID) {
		return fmt.Errorf("job id %q", s.JobID)
	}
	if len(s.Argv) == 0 || !path.IsAbs(s.Argv[0]) {
		return errors.New("the program has no absolute path")
	}
	if !clean(s.Dir) {
		return fmt.Errorf("working directory %q", s.Dir)
	}
	for _, word := range append(append([]string{}, s.Argv...), s.Env...) {
		if strings.ContainsRune(word, 0) {
			return errors.New("a NUL in an argument or variable")
		}
	}
	for _, v := range s.Env {
		if strings.IndexByte(v, '=') < 1 {
			return errors.New("a variable without a name or a value")
		}
	}
	return nil
}

func (s Spec) checkLimits() error {
	l := s.Limits
	for name, v := range map[string]int64{
		"memory": l.Memory, "disk": l.Disk, "pids": l.Pids, "files": l.Files, "log": l.LogBytes, "shm": l.Shm, "tmp": l.Tmp,
	} {
		if v <= 0 {
			return fmt.Errorf("%s limit %d", name, v)
		}
	}
	if !(l.CPU > 0.01 && l.CPU <= 4096) || l.Wall <= 0 {
		return fmt.Errorf("limits of %g processors and %v", l.CPU, l.Wall)
	}
	return nil
}

func (s Spec) checkTargets() error {
	seen := map[string]bool{}
	add := func(source, target string) error {
		if !path.IsAbs(source) {
			return fmt.Errorf("source %q is not absolute", source)
		}
		if !clean(target) || !mountable(target) || seen[target] {
			return fmt.Errorf("nothing can be put at %q", target)
		}
		seen[target] = true
		return nil
	}
	for _, m := range s.Inputs {
		if err := add(m.Source, m.Target); err != nil {
			return err
		}
	}
	for _, d := range s.Doors {
		if err := add(d.Socket, d.Target); err != nil {
			return err
		}
	}
	for a := range seen {
		for b := range seen {
			if a != b && within(b, a) {
				return fmt.Errorf("%q lies in %q", b, a)
			}
		}
	}
	return nil
}

// mountable says whether a spec may put something there: not over what the
// box itself is made of.
func mountable(target string) bool {
	for _, taken := range []string{"/proc", "/dev", "/sys", "/etc", WorkDir, "/tmp", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/share", InitDoc, Program} {
		if within(target, taken) || within(taken, target) {
			return false
		}
	}
	return true
}

func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

func clean(p string) bool {
	return path.IsAbs(p) && path.Clean(p) == p && !strings.ContainsAny(p, "\x00\n")
}

func (s Spec) checkFiles() error {
	total := 0
	for _, f := range s.Files {
		if total += len(f.Data); total > MaxFiles {
			return fmt.Errorf("files of more than %d bytes", MaxFiles)
		}
		if f.Name == "" || path.IsAbs(f.Name) || path.Clean(f.Name) != f.Name || strings.HasPrefix(f.Name, "..") || strings.ContainsRune(f.Name, 0) {
			return fmt.Errorf("file name %q", f.Name)
		}
	}
	return nil
}
