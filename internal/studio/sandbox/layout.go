package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// HostTree is what of the host's programs a box sees, read-only.
type HostTree struct {
	Binds []string    // seen at the same place
	Links [][2]string // target, name: links that the box has of its own, such as /bin
}

// hostDirs are bound when they are there. /usr is not bound as a whole: then
// nothing could be put below it, and /usr/local and /usr/src are nobody's
// business.
func hostDirs() []string {
	return []string{
		"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share",
		"/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/chromium.d", "/etc/chromium",
		// Generated font caches spare a renderer the seconds of making its own.
		"/var/cache/fontconfig",
	}
}

// ThisHost reads which of them this machine has, and how /bin and its like
// lie: as links into /usr, or as directories of their own.
func ThisHost() HostTree {
	var t HostTree
	for _, d := range hostDirs() {
		if st, err := os.Lstat(d); err == nil && st.Mode()&os.ModeSymlink == 0 {
			t.Binds = append(t.Binds, d)
		}
	}
	for _, d := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64"} {
		st, err := os.Lstat(d)
		switch {
		case err != nil:
		case st.Mode()&os.ModeSymlink != 0:
			if to, err := os.Readlink(d); err == nil && within(filepath.Clean("/"+strings.TrimPrefix(to, "/")), "/usr") {
				t.Links = append(t.Links, [2]string{to, d})
			}
		case st.IsDir():
			t.Binds = append(t.Binds, d)
		}
	}
	return t
}

// Etc are the files of the box's own /etc: one user, one name, no resolver.
func Etc() map[string]string {
	return map[string]string{ //nolint:gosec // no account of it can log in anywhere
		"passwd":        "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nbox:x:1000:1000:box:/work:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		"group":         "root:x:0:\nbox:x:1000:\nnogroup:x:65534:\n",
		"hosts":         "127.0.0.1 localhost box llm.internal\n::1 localhost\n",
		"hostname":      "box\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
		"resolv.conf":   "",
	}
}

// Hostname is the name of every box.
const Hostname = "box"
