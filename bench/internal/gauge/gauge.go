// Package gauge is what the measuring programs share: how one runs and ends, an
// encoder that is fed through a pipe, the least CPU time of repeats, the spread
// of a figure over runs, the machine's load, the file of figures. What is
// measured, and what is due, is each program's own.
package gauge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// Main runs a program until it ends or is told to, and exits with 1 when it failed.
func Main(name string, run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Save writes figures as JSON, and makes the folder; an empty path is nowhere.
func Save(path string, figures any) error {
	if path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(figures, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, append(raw, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}

// LeastCPU is the least CPU time, in seconds, that work took in so many repeats.
func LeastCPU(repeats int, work func() (time.Duration, error)) (float64, error) {
	least := math.Inf(1)
	for range repeats {
		spent, err := work()
		if err != nil {
			return 0, err
		}
		least = min(least, spent.Seconds())
	}
	return least, nil
}

// Feed runs ffmpeg on what write writes, and gives the user and system time that
// it took.
func Feed(ctx context.Context, ffmpeg string, write func(io.Writer) error, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, ffmpeg, append([]string{"-v", "error", "-nostdin"}, args...)...)
	var words bytes.Buffer
	cmd.Stderr = &words
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, fmt.Errorf("open the encoder's input: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start the encoder: %w", err)
	}
	fed := errors.Join(write(in), in.Close())
	if err := errors.Join(cmd.Wait(), fed); err != nil {
		return 0, fmt.Errorf("encode: %w: %s", err, words.String())
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
