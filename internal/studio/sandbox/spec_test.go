package sandbox

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func good() Spec {
	return Spec{JobID: "job-1", Argv: []string{"/bin/true"}}.WithDefaults()
}

// Whatever a caller asks for by mistake must not widen the box.
func TestValidate(t *testing.T) {
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	mount := func(target string) func(*Spec) {
		return func(s *Spec) { s.Inputs = []Mount{{"/usr/share", target}} }
	}
	for name, change := range map[string]func(*Spec){
		"no id":               func(s *Spec) { s.JobID = "" },
		"id is a path":        func(s *Spec) { s.JobID = "../../etc" },
		"id is an option":     func(s *Spec) { s.JobID = "-rf" },
		"id is long":          func(s *Spec) { s.JobID = strings.Repeat("a", 65) },
		"no program":          func(s *Spec) { s.Argv = nil },
		"relative program":    func(s *Spec) { s.Argv[0] = "true" },
		"NUL":                 func(s *Spec) { s.Argv = append(s.Argv, "a\x00b") },
		"variable, no value":  func(s *Spec) { s.Env = []string{"PATH"} },
		"variable, no name":   func(s *Spec) { s.Env = []string{"=x"} },
		"relative directory":  func(s *Spec) { s.Dir = "work" },
		"directory with dots": func(s *Spec) { s.Dir = "/work/../etc" },
		"memory":              func(s *Spec) { s.Limits.Memory = -1 },
		"processors":          func(s *Spec) { s.Limits.CPU = -1 },
		"wall":                func(s *Spec) { s.Limits.Wall = -1 },
		"relative source":     func(s *Spec) { s.Inputs = []Mount{{"usr", "/in"}} },
		"root":                mount("/"), "proc": mount("/proc/self"), "dev": mount("/dev/shm"), "etc": mount("/etc/passwd"), "work": mount("/work/in"),
		"usr": mount("/usr"), "bin": mount("/usr/bin/sh"), "program": mount(Program), "local": mount("/usr/local"), "order": mount(InitDoc), "run": mount("/run"),
		"dots": mount("/in/../proc"), "newline": mount("/in\n"), "not clean": mount("/in/"),
		"twice":           func(s *Spec) { s.Inputs = []Mount{{"/a", "/in"}, {"/b", "/in"}} },
		"door over input": func(s *Spec) { s.Inputs, s.Doors = []Mount{{"/a", "/in"}}, []Door{{"/b", "/in"}} },
		"one in another":  func(s *Spec) { s.Inputs = []Mount{{"/a", "/in"}, {"/b", "/in/b"}} },
		"file above":      func(s *Spec) { s.Files = []File{{Name: "../x"}} },
		"file at root":    func(s *Spec) { s.Files = []File{{Name: "/x"}} },
		"file nowhere":    func(s *Spec) { s.Files = []File{{Name: ""}} },
		"file not clean":  func(s *Spec) { s.Files = []File{{Name: "a/../../x"}} },
		"files too large": func(s *Spec) { s.Files = []File{{Name: "a", Data: make([]byte, MaxFiles+1)}} },
	} {
		s := good()
		change(&s)
		if err := s.Validate(); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := good()
	s.Inputs, s.Doors = []Mount{{"/a", "/in"}, {"/b", "/opt/node"}}, []Door{{"/s", RunDir + "/door.sock"}, {"/r", RunDir + "/report.sock"}}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

// The host's tree must be what programs need and no more.
func TestThisHost(t *testing.T) {
	tree := ThisHost()
	have := map[string]bool{}
	for _, d := range tree.Binds {
		have[d] = true
		for _, bad := range []string{"/", "/usr", "/usr/local", "/etc", "/var", "/home", "/root", "/run", "/proc", "/sys", "/dev"} {
			if d == bad {
				t.Errorf("%s is shown", d)
			}
		}
	}
	if !have["/usr/bin"] || !have["/usr/lib"] {
		t.Errorf("shown: %v", tree.Binds)
	}
	if st, err := os.Lstat("/bin"); err == nil && st.Mode()&os.ModeSymlink != 0 && len(tree.Links) == 0 {
		t.Error("/bin is no link in the box")
	}
}
