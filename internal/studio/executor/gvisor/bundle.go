package gvisor

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/entry"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// The part of the OCI runtime specification (1.0.2) that is used.
type (
	ociSpec struct {
		Version  string     `json:"ociVersion"`
		Process  ociProcess `json:"process"`
		Root     ociRoot    `json:"root"`
		Hostname string     `json:"hostname"`
		Mounts   []ociMount `json:"mounts"`
		Linux    ociLinux   `json:"linux"`
	}
	ociProcess struct {
		User         ociUser             `json:"user"`
		Args         []string            `json:"args"`
		Env          []string            `json:"env"`
		Cwd          string              `json:"cwd"`
		Capabilities map[string][]string `json:"capabilities"`
		NoNewPrivs   bool                `json:"noNewPrivileges"`
	}
	ociUser struct {
		UID int `json:"uid"`
		GID int `json:"gid"`
	}
	ociRoot struct {
		Path     string `json:"path"`
		Readonly bool   `json:"readonly"`
	}
	ociMount struct {
		Destination string   `json:"destination"`
		Type        string   `json:"type"`
		Source      string   `json:"source"`
		Options     []string `json:"options"`
	}
	ociLinux struct {
		Namespaces []ociNamespace `json:"namespaces"`
	}
	ociNamespace struct {
		Type string `json:"type"`
	}
)

// bundle is the root and the mounts of one box.
type bundle struct {
	launch *cell.Launch
	host   *cell.Host
	mounts []ociMount
}

// lay puts the box's root together. The guest's root is read-only and has no
// overlay, so every place where something is mounted must be there.
func (b *bundle) lay() {
	l := b.launch
	for _, d := range []string{"proc", "dev", "sys", "tmp", "work", "etc", "run", "var"} {
		b.dir("/" + d)
	}
	for _, link := range b.host.Tree.Links {
		l.Stage.Links = append(l.Stage.Links, [2]string{link[0], rootDir + link[1]})
	}
	l.Stage.Links = append(l.Stage.Links, [2]string{"/tmp", rootDir + "/var/tmp"})
	for _, d := range b.host.Tree.Binds {
		b.show(sandbox.Mount{Source: d, Target: d}, false)
	}
	for name, text := range sandbox.Etc() {
		l.Stage.Files = append(l.Stage.Files, entry.StageFile{Path: rootDir + "/etc/" + name, Data: []byte(text)})
	}
	b.show(sandbox.Mount{Source: b.host.Exe, Target: sandbox.Program}, false)
	b.show(sandbox.Mount{Source: filepath.Join(l.Dir, cell.InitName), Target: sandbox.InitDoc}, false)
	for _, m := range l.Spec.Inputs {
		b.show(m, false)
	}
	for _, d := range l.Spec.Doors {
		b.show(sandbox.Mount{Source: d.Socket, Target: d.Target}, true)
	}
	limit := l.Spec.Limits
	b.mounts = append(
		b.mounts,
		ociMount{"/proc", "proc", "proc", nil},
		tmpfs("/dev/shm", limit.Shm), tmpfs("/tmp", limit.Tmp),
		ociMount{sandbox.WorkDir, "bind", filepath.Join(entry.StageDir, l.Stage.Work), []string{"bind", "rw", "nosuid", "nodev"}},
	)
}

func tmpfs(at string, size int64) ociMount {
	return ociMount{at, "tmpfs", "tmpfs", []string{"nosuid", "nodev", "mode=1777", fmt.Sprintf("size=%d", size)}}
}

func (b *bundle) dir(path string) {
	b.launch.Stage.Dirs = append(b.launch.Stage.Dirs, rootDir+path)
}

// show mounts something of the host's, read-only. The place for a directory
// is made here, that for a file or socket where its parent is.
func (b *bundle) show(m sandbox.Mount, socket bool) {
	source := b.launch.Show(m.Source, socket)
	if isDir(m.Source) {
		b.dir(m.Target)
	} else {
		b.dir(filepath.Dir(m.Target))
		b.launch.Stage.Files = append(b.launch.Stage.Files, entry.StageFile{Path: rootDir + m.Target})
	}
	b.mounts = append(b.mounts, ociMount{m.Target, "bind", source, []string{"rbind", "ro", "nosuid", "nodev"}})
}

func (b *bundle) config() ociSpec {
	none := map[string][]string{}
	for _, set := range []string{"bounding", "effective", "inheritable", "permitted", "ambient"} {
		none[set] = []string{}
	}
	return ociSpec{
		Version: "1.0.2",
		Process: ociProcess{
			User: ociUser{sandbox.UserID, sandbox.UserID},
			Args: []string{sandbox.Program, "box", entry.RoleInit, sandbox.InitDoc},
			Env:  []string{}, Cwd: "/", Capabilities: none, NoNewPrivs: true,
		},
		Root:     ociRoot{filepath.Join(entry.StageDir, rootDir), true},
		Hostname: sandbox.Hostname,
		Mounts:   b.mounts,
		Linux:    ociLinux{[]ociNamespace{{"pid"}, {"network"}, {"ipc"}, {"uts"}, {"mount"}}},
	}
}

// limitsOf leaves the limits that the guest's kernel knows.
func limitsOf(all []entry.Limit) []entry.Limit {
	var out []entry.Limit
	for _, l := range all {
		switch l.Resource {
		case unix.RLIMIT_CORE, unix.RLIMIT_NOFILE, unix.RLIMIT_FSIZE:
			out = append(out, l)
		}
	}
	return out
}

func isDir(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.IsDir()
}
