// Package executortest is the suite that every backend of executor must pass:
// conformance, limits, and the attacks of a job on whoever watches it. It is
// imported by tests only.
package executortest

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/entry"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Opener opens the backend under test with its state in dir.
type Opener func(dir string) (executor.Executor, error)

// serverVar makes the test binary act as a server that is going to be killed:
// its value is the state directory.
const serverVar = "EXECUTORTEST_SERVER"

// Main is the TestMain of a backend's tests. The test binary is also the
// program that boxes get: it answers to "box" as the product does, and to
// "attack" with what a hostile job would do.
func Main(m *testing.M, open Opener) {
	args := os.Args
	switch {
	case len(args) >= 3 && args[1] == "box":
		path := ""
		if len(args) > 3 {
			path = args[3]
		}
		code, err := entry.Main(args[2], path, os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	case len(args) == 3 && args[1] == "attack":
		attack(args[2])
	case os.Getenv(serverVar) != "":
		serve(open, os.Getenv(serverVar))
	default:
		os.Exit(m.Run())
	}
}

// serve starts a box that never ends and waits to be killed.
func serve(open Opener, dir string) {
	e, err := open(dir)
	if err == nil {
		_, err = e.Start(context.Background(), sandbox.Spec{JobID: "orphan", Argv: []string{"/bin/sh", "-c", "trap '' TERM HUP INT; setsid sleep 600 & while :; do sleep 1; done", "orphan-" + filepath.Base(dir)}})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("up")
	_, _ = io.Copy(io.Discard, os.Stdin)
	select {}
}

// attack does what no shell can.
func attack(name string) {
	switch name {
	case "trace-init": // what froze bubblewrap's own supervisor
		for pid := range 64 {
			if pid != os.Getpid() && pid > 0 {
				_ = unix.PtraceAttach(pid)
			}
		}
	case "memory":
		var held [][]byte
		for {
			b := make([]byte, 8<<20)
			for i := range b {
				b[i] = byte(i * 7)
			}
			held = append(held, b)
			if len(held)%8 == 0 {
				fmt.Println(len(held))
			}
		}
	case "files": // empty ones: a limit on bytes does not meet them
		for i := 0; ; i++ {
			f, err := os.Create("/work/" + itoa(i))
			if err != nil {
				fmt.Println(err)
				return
			}
			_ = f.Close()
		}
	case "stop-everybody":
		_ = unix.Kill(-1, unix.SIGSTOP)
		_ = unix.Kill(1, unix.SIGSTOP)
	}
	for {
		time.Sleep(time.Hour)
	}
}
