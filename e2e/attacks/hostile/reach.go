package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// target is something outside that the box should not get at.
type target struct {
	ID      string
	Network string // tcp, udp, unix; or file, list, write, run, signal
	Address string
	Word    string // that is read where it is reached
}

// reach tries each target and prints open or shut.
func reach(path string) error {
	var list []target
	if err := load(path, &list); err != nil {
		return err
	}
	for _, t := range list {
		if t.try() {
			say(t.ID, "open")
		} else {
			say(t.ID, "shut")
		}
	}
	return nil
}

func (t target) try() bool {
	switch t.Network {
	case "file":
		raw, err := os.ReadFile(t.Address)
		return err == nil && bytes.Contains(raw, []byte(t.Word))
	case "list":
		found, err := os.ReadDir(t.Address)
		return err == nil && len(found) > 0
	case "write":
		f, err := os.OpenFile(t.Address, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_ = f.Close()
		}
		return err == nil
	case "create":
		f, err := os.OpenFile(t.Address, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, _ = f.Close(), os.Remove(t.Address)
		}
		return err == nil
	case "run": // a command of the box's that must print the word
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		out, _ := exec.CommandContext(ctx, "/bin/bash", "-c", t.Address).CombinedOutput()
		return bytes.Contains(out, []byte(t.Word))
	default:
		return t.dial()
	}
}

// dial connects, asks and looks for the word.
func (t target) dial() bool {
	d := net.Dialer{Timeout: 2 * time.Second}
	c, err := d.DialContext(context.Background(), t.Network, t.Address)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	_, _ = io.WriteString(c, "GET / HTTP/1.0\r\n\r\n")
	raw, _ := io.ReadAll(io.LimitReader(c, 4096))
	return bytes.Contains(raw, []byte(t.Word))
}

// search looks for a word, given backwards, in everything that can be read
// here: every file but the host's programs, every process, every variable.
func search(word string) error {
	word = backwards(word)
	found, looked := "", 0
	look := func(path string) {
		if found != "" {
			return
		}
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return
		}
		f := os.NewFile(uintptr(fd), path)
		defer func() { _ = f.Close() }()
		raw, _ := io.ReadAll(io.LimitReader(f, 16<<20))
		looked++
		if bytes.Contains(raw, []byte(word)) {
			found = path
		}
	}
	for _, root := range []string{"/work", "/run", "/etc", "/tmp", "/dev/shm", "/var", "/opt", "/home", "/root"} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				look(path)
			}
			return nil
		})
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range append(processes, "/proc") {
		for _, name := range []string{"environ", "cmdline", "maps", "mountinfo", "status", "stat", "comm", "cgroup", "limits", "keys", "version", "mounts"} {
			look(filepath.Join(p, name))
		}
	}
	for _, v := range os.Environ() {
		if strings.Contains(v, word) {
			found = "the environment"
		}
	}
	if found != "" {
		say("search", "found in %s", found)
		return nil
	}
	if looked < 20 {
		return fmt.Errorf("only %d files were looked at", looked)
	}
	say("search", "nowhere")
	return nil
}

// do does what a supervisor would not like.
func do(what string) error {
	switch what {
	case "fork-bomb":
		return unix.Exec("/bin/bash", []string{"bash", "-c", "f() { f | f & }; f; while :; do :; done"}, os.Environ())
	case "stop-everybody":
		_ = unix.Kill(-1, unix.SIGSTOP)
		_ = unix.Kill(1, unix.SIGSTOP)
	case "trace-runner":
		for pid := range 64 {
			if pid != os.Getpid() {
				_ = unix.PtraceAttach(pid)
			}
		}
	case "daemon": // twice away from whoever watches
		return start("setsid", "setsid", "sleep", "3599")
	case "swap": // keep changing the film, after the runner is done with it
		return start("setsid", "bash", "-c", "while :; do cp /attack/good.mp4 /work/t1; echo CANARY-swap >>/work/t1; mv /work/t1 /work/out/final.mp4; cp /attack/good.mp4 /work/t2; mv /work/t2 /work/out/final.mp4; done")
	case "socket": // where the film should be
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "/work/out/final.mp4", Net: "unix"})
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		l.SetUnlinkOnClose(false)
		return l.Close()
	case "memory":
		var held [][]byte
		for {
			held = append(held, bytes.Repeat([]byte{7}, 8<<20))
			runtime.KeepAlive(held)
		}
	case "kill-everybody":
		_ = unix.Kill(1, unix.SIGKILL)
		_ = unix.Kill(-1, unix.SIGKILL)
	case "ignore-signals":
		return unix.Exec("/bin/bash", []string{"bash", "-c", "trap '' TERM INT HUP QUIT PIPE USR1 USR2; while :; do sleep 1; done"}, os.Environ())
	default:
		return fmt.Errorf("no %q to do", what)
	}
	for {
		time.Sleep(time.Hour)
	}
}

func start(argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it is to outlive us
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	say("do", "started")
	return nil
}
