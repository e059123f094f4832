package attacks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/executor/entry"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// target is hostile's: something outside that is tried from inside.
type target struct {
	ID, Network, Address, Word string

	control string // why it needs none from outside; empty: it must be open there
}

// inside is the life of a hijacked job: the whole conformance probe from
// beside the runner, what only a live job has around it, and a search for
// secrets. Another job lives at the same time.
func (l *lab) inside(t *testing.T) {
	c := plant(t)
	n := l.neighbour(t)
	targets := c.targets
	// The doors of a live job answer HTTP: that they can be replaced is what
	// is tried.
	targets.Doors = []string{sandbox.RunDir + "/door.sock", sandbox.RunDir + "/report.sock"}
	limits := l.order(job{}, "").Tier.Limits
	targets.WorkBytes, targets.TmpBytes = limits.Disk, limits.Tmp
	control := targets
	control.Outside = true
	seenOutside, err := sandbox.ReadProbe(outside(t, control, l.built.exe, "box", entry.RoleProbe))
	if err != nil {
		t.Fatal(err)
	}
	tries := l.targets(t, c, n)
	reached := results(outside(t, controls(tries), l.built.hostile, "reach"))
	c.hits.Store(0)
	o := l.run(t, job{name: "inside", steps: [][]call{
		{put("targets.json", targets), hostile("probe", "/work/targets.json")},
		{put("reach.json", tries), hostile("reach", "/work/reach.json")},
		{hostile("search", backwards(modelKey)), bash("env | cut -d= -f1 | sort | tr '\\n' ' '; ls -A / /run/proofreel | tr '\\n' ' '")},
		{hostile("film", "good")},
	}})
	l.table.add("secrets", "a job that did all this ends", "published", o.code(), "it is the control")
	l.judgeProbe(o, seenOutside)
	got := o.results()
	for _, try := range tries {
		control := try.control
		if control == "" && reached[key(try.ID)] == "open" {
			control = "open outside"
		}
		l.table.add("reach", try.ID, "shut", got[key(try.ID)], control)
	}
	l.table.add("network", "canaries that were reached", "0", fmt.Sprint(c.hits.Load()), "all answer outside")
	l.secrets(t, got, n)
}

// judgeProbe adds the probe's cases, as it is judged for an executor.
func (l *lab) judgeProbe(o outcome, seenOutside []sandbox.Observation) {
	var seen []sandbox.Observation
	for _, m := range regexp.MustCompile(`(?m)^~(\S+) ([01])$`).FindAllStringSubmatch(o.heard[0], -1) {
		seen = append(seen, sandbox.Observation{ID: m[1], Open: m[2] == "1"})
	}
	for _, r := range sandbox.Judge(l.guest, seen, seenOutside) {
		if r.ID == "door-1" || r.ID == "door-2" {
			continue // they answer HTTP, and are tried by the gateway's attacks
		}
		control := "outside: " + string(r.Control)
		switch {
		case strings.Contains(r.Problem, "canary"):
			control = ""
		case r.Control == sandbox.Blank:
			control = "would do harm outside"
		}
		l.table.add("probe", r.ID, string(r.Expected), string(r.Seen), control)
	}
}

// neighbour is another job that lives, and whose agent colludes: it has told
// the provider its token.
type neighbour struct {
	token string
	door  string // its socket on the host
}

func (l *lab) neighbour(t *testing.T) neighbour {
	t.Helper()
	l.mu.Lock()
	delete(l.scripts, "neighbour")
	l.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	running.Go(func() {
		o := l.runIn(ctx, t, job{name: "neighbour", steps: [][]call{{bash("cat job.json")}, {bash("echo NEIGHBOUR-FILE >/work/mine; sleep 500")}}})
		l.table.add("end", "a neighbour that was cancelled", "interrupted", o.code(), "it lived till then")
	})
	for range 600 {
		l.mu.Lock()
		s := l.scripts["neighbour"]
		heard := ""
		if s != nil && len(s.heard) > 0 {
			heard = s.heard[0]
		}
		l.mu.Unlock()
		if m := regexp.MustCompile(`"token": "(pf1\.[^"]+)"`).FindStringSubmatch(heard); m != nil {
			return neighbour{m[1], filepath.Join(l.dir, "w/jobs/neighbour/door.sock")}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the neighbour does not come up")
	return neighbour{}
}

// targets are what a live job has around it, beside what the probe tries.
func (l *lab) targets(t *testing.T, c *canaries, n neighbour) []target {
	t.Helper()
	key := filepath.Join(tempDir(t), "key")
	if err := os.WriteFile(key, []byte(modelKey), 0o644); err != nil {
		t.Fatal(err)
	}
	part := modelKey[:12] // not all of it: what lies in the box is searched
	up := strings.TrimPrefix(l.up.URL, "http://")
	server := fmt.Sprint(os.Getpid())
	const free = "root outside may all" // a command that would do harm there
	all := []target{
		{ID: "the provider's address", Network: "tcp", Address: up, Word: "HTTP/1.0 "},
		{ID: "a server of the host's", Network: "tcp", Address: c.http, Word: word},
		{ID: "the same by 0.0.0.0", Network: "tcp", Address: strings.Replace(c.http, "127.0.0.1", "0.0.0.0", 1), Word: word},
		{ID: "the same by a mapped address", Network: "tcp", Address: strings.Replace(c.http, "127.0.0.1", "[::ffff:127.0.0.1]", 1), Word: word},
		{ID: "the same by bash's /dev/tcp", Network: "run", Address: "exec 3<>/dev/tcp/" + strings.Replace(c.http, ":", "/", 1) + "; echo x >&3; head -1 <&3", Word: word},
		{ID: "the same by a decimal address", Network: "run", Address: "exec 3<>/dev/tcp/2130706433/" + c.http[strings.LastIndex(c.http, ":")+1:] + "; echo x >&3; head -1 <&3", Word: word},
		{ID: "another job's door", Network: "unix", Address: n.door, Word: "HTTP/1.0 "},
		{ID: "its own door by the host's path", Network: "list", Address: filepath.Join(l.dir, "w/jobs")},
		{ID: "the ledgers", Network: "list", Address: filepath.Join(l.dir, "w/journals")},
		{ID: "the tests' directory", Network: "list", Address: l.built.dir},
		{ID: "the key's file", Network: "file", Address: key, Word: part},
		{ID: "the key's file by a root", Network: "file", Address: "/proc/self/root" + key, Word: part},
		{ID: "the key's file by the task", Network: "file", Address: "/proc/self/task/../../self/cwd/../../../../../.." + key, Word: part},
		{ID: "a link to it", Network: "run", Address: "d=$(mktemp -d); ln -s " + key + " $d/l; cat $d/l", Word: part},
		{ID: "a hard link to it", Network: "run", Address: "d=$(mktemp -d); ln " + key + " $d/l && cat $d/l", Word: part},
		{ID: "the server's environment", Network: "run", Address: "tr '\\0' '\\n' </proc/" + server + "/environ", Word: "PATH="},
		{ID: "signals to the server", Network: "run", Address: "kill -0 " + server + " && echo alive", Word: "alive"},
		{ID: "the server's files", Network: "list", Address: "/proc/" + server + "/fd"},
		{ID: "the server's root", Network: "list", Address: "/proc/" + server + "/root"},
		{ID: "root's home", Network: "run", Address: "ls -A /root && echo seen", Word: "seen", control: free},
		{ID: "other users' homes", Network: "list", Address: "/home/.", control: "the machine may have none"},
		{ID: "the password file's hashes", Network: "file", Address: "/etc/shadow", Word: ":", control: free},
		{ID: "writing the product's program", Network: "write", Address: sandbox.Program, control: free},
		{ID: "writing bash", Network: "write", Address: "/usr/bin/bash", control: free},
		{ID: "writing what was laid into the box", Network: "write", Address: "/attack/hostile", control: free},
		{ID: "writing the users' list", Network: "write", Address: "/etc/passwd", control: free},
		{ID: "a file beside the doors", Network: "create", Address: sandbox.RunDir + "/x", control: free},
		{ID: "a file in the root", Network: "create", Address: "/x-attack", control: free},
		{ID: "a file in /dev", Network: "create", Address: "/dev/x-attack", control: free},
		{ID: "a file in /usr/local/bin", Network: "create", Address: "/usr/local/bin/x-attack", control: free},
		{ID: "a namespace of its own", Network: "run", Address: "unshare -Ur echo got", Word: "got", control: free},
		{ID: "a network namespace", Network: "run", Address: "unshare -n echo got", Word: "got", control: free},
		{ID: "the first process's namespaces", Network: "run", Address: "nsenter -t 1 -a echo got", Word: "got", control: free},
		{ID: "another root", Network: "run", Address: "chroot / /bin/echo got", Word: "got", control: free},
		{ID: "a mount", Network: "run", Address: "mount -t tmpfs none /work && echo got", Word: "got", control: free},
		{ID: "a bind mount", Network: "run", Address: "mount --bind / /work && echo got", Word: "got", control: free},
		{ID: "unmounting a door", Network: "run", Address: "umount -l " + sandbox.RunDir + "/door.sock && echo got", Word: "got", control: free},
		{ID: "a device file", Network: "run", Address: "mknod /work/k c 1 11 && echo got", Word: "got", control: free},
		{ID: "a set-user-ID copy", Network: "run", Address: "cp /usr/bin/id /work/id && chmod 6755 /work/id && /work/id -u | grep -qx 0 && echo got", Word: "got", control: free},
		{ID: "root by su", Network: "run", Address: "su -c 'echo got' root </dev/null", Word: "got\n", control: free},
		{ID: "giving a file away", Network: "run", Address: "touch /work/o && chown 0 /work/o && stat -c %u /work/o | grep -qx 0 && echo got", Word: "got", control: free},
		{ID: "the clock", Network: "run", Address: "date -s '+0 seconds' >/dev/null && echo got", Word: "got", control: free},
		{ID: "the host name", Network: "run", Address: "echo x >/proc/sys/kernel/hostname && echo got", Word: "got", control: free},
		{ID: "more open files than allowed", Network: "run", Address: "ulimit -n 1000000 && echo got", Word: "got", control: free},
		{ID: "a core file's size", Network: "run", Address: "ulimit -c unlimited && echo got", Word: "got", control: free},
		{ID: "kernel messages", Network: "run", Address: "dmesg | head -1 | grep -q . && ! grep -qi gvisor <(dmesg) && echo got", Word: "got", control: free},
		{ID: "the kernel's modules", Network: "run", Address: "modprobe dummy && echo got; insmod /x.ko && echo got", Word: "got", control: free},
		{ID: "a control group's limit", Network: "run", Address: "for f in $(find /sys/fs/cgroup -name memory.max -o -name memory.limit_in_bytes 2>/dev/null); do echo -1 >$f && echo got; done", Word: "got", control: free},
		{ID: "block devices", Network: "run", Address: "for d in /dev/sd* /dev/vd* /dev/nvme* /dev/dm-* /dev/loop*; do head -c 1 $d >/dev/null 2>&1 && echo got; done", Word: "got", control: "the machine may have none"},
		{ID: "KVM", Network: "write", Address: "/dev/kvm", control: "the machine may have none"},
		{ID: "the kernel's memory", Network: "run", Address: "head -c 1 /dev/mem >/dev/null 2>&1 && echo got; head -c 1 /proc/kcore >/dev/null 2>&1 && echo got", Word: "got", control: "the kernel may have none"},
		{ID: "a name of the internet's", Network: "run", Address: "getent hosts example.com && echo got", Word: "got", control: "the machine may be offline"},
		{ID: "a name below llm.internal", Network: "run", Address: "getent hosts " + word + ".llm.internal && echo got", Word: "got", control: "nobody has it"},
	}
	return all
}

// controls are the targets that are tried outside too.
func controls(all []target) []target {
	return slices.DeleteFunc(slices.Clone(all), func(t target) bool { return t.control != "" })
}

func results(out string) map[string]string {
	return outcome{heard: []string{out}}.results()
}

// secrets judges what was found of them.
func (l *lab) secrets(t *testing.T, got map[string]string, n neighbour) {
	t.Helper()
	l.table.add("secrets", "the model's key, anywhere", "nowhere", got["search"], "it is in the server's environment")
	o := l.scripts["inside"]
	l.mu.Lock()
	heard := strings.Join(o.heard, "\n")
	l.mu.Unlock()
	variables := regexp.MustCompile(`(?m)^HOME LANG .*`).FindString(heard)
	l.table.add("secrets", "variables", "HOME LANG PATH PWD SHLVL TZ _", trimmed(variables), "bash makes the others")
	seen := "token only"
	for _, word := range []string{prompt, "neighbour", l.dir, l.built.dir} {
		if word != prompt && strings.Contains(strings.ReplaceAll(heard, "attack job inside", ""), word) {
			seen = "found " + word
		}
	}
	l.table.add("secrets", "the host's paths in outputs", "token only", seen, "the host has them")
	// The neighbour's prompt and token are in no argument and no variable of
	// the host's processes.
	control := words(len(processesOf("canary-process-51d0")) > 0, "the canary's is found", "")
	for name, w := range map[string]string{"prompt": prompt, "token": n.token} {
		found := len(processesOf(w))
		l.table.add("secrets", "a job's "+name+" in the arguments of processes", "0", fmt.Sprint(found), control)
	}
}

func trimmed(variables string) string {
	if cut := strings.Index(variables, " _ "); cut >= 0 {
		return variables[:cut+2]
	}
	return variables
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// reports: what the runner says is numbers and words of a fixed vocabulary,
// also when it is the attacker's own program that stands in its place.
func (l *lab) reports(t *testing.T) {
	o := l.run(t, job{name: "reports", taken: true})
	l.table.add("reports", "a job whose runner lies ends", "published", o.code(), "it is the control")
	worst, lied := "in bounds", false
	for _, e := range o.events {
		lied = lied || e.Percent == 55 || e.Percent == 100
		if e.Percent < 0 || e.Percent > 100 || e.Turn < 0 || e.Turn > 400 || !slices.Contains(phases(), string(e.Phase)) {
			worst = fmt.Sprintf("%+v", e)
		}
	}
	l.table.add("reports", "255 percent, 65535 turns, 2^63 bytes", "in bounds", worst, words(lied, "a lie within bounds is told", ""))
	l.table.add("reports", "4,000 records at once", "few events", words(len(o.events) < 50, "few events", fmt.Sprint(len(o.events))), fmt.Sprintf("%d events", len(o.events)))
	text := "absent"
	if strings.Contains(fmt.Sprint(o.events), "CANARY") || strings.Contains(l.log.String(), "CANARY-report") {
		text = "present"
	}
	l.table.add("reports", "text instead of a record, and in one", "absent", text, "records arrive")
	l.table.add("reports", "the wild number of the poster's frame", "in the film", words(o.res.PosterFrame >= 0 && o.res.PosterFrame < frames, "in the film", fmt.Sprint(o.res.PosterFrame)), "a poster is drawn")
}

func phases() []string {
	return []string{"queued", "screening", "starting", "writing", "checking", "rendering", "validating", "done", "failed", "refused", "cancelled"}
}
