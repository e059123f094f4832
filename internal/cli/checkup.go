package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/record/capture"
	"github.com/proofreel/proofreel/internal/record/capture/grab"
	"github.com/proofreel/proofreel/internal/record/capture/x11"
	"github.com/proofreel/proofreel/internal/record/display"
	"github.com/proofreel/proofreel/internal/record/doctor"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// checkMachine lets the doctor look at this machine, with a real recording.
func checkMachine(ctx context.Context) (doctor.Report, error) {
	m, err := openManager()
	if err != nil {
		return doctor.Report{}, err
	}
	report, err := doctor.Run(ctx, doctor.Deps{
		Home: m.Home, Getenv: m.Getenv,
		OpenDisplay:  describeDisplay,
		Leftovers:    func(ctx context.Context) ([]string, error) { return leftovers(ctx, m) },
		TryRecording: func(ctx context.Context) error { return tryRecording(ctx, *m) },
	})
	if err != nil {
		return doctor.Report{}, fmt.Errorf("run the doctor: %w", err)
	}
	box := boxCheck(ctx)
	report.Checks = append(report.Checks, box)
	report.OK = report.OK && (box.OK || box.Level != doctor.Error)
	return report, nil
}

func describeDisplay(ctx context.Context, name, xauthority string) (string, error) {
	info, err := display.Open(ctx, name, xauthority)
	if err != nil {
		return "", err //nolint:wrapcheck // it says which display and why
	}
	how, err := x11.Check(ctx, capture.Target{Display: name, Xauthority: xauthority, Width: info.Width, Height: info.Height})
	if err != nil {
		how = (&grab.Engine{}).How() + "; " + err.Error()
	}
	return fmt.Sprintf("%s, %dx%d, %d bits a pixel; films by %s", info.Name, info.Width, info.Height, info.Depth, how), nil
}

// leftovers lists the recordings that nobody works on and that have no end.
func leftovers(ctx context.Context, r Recorder) ([]string, error) {
	all, err := r.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the recordings: %w", err)
	}
	var left []string
	for _, row := range all.Recordings {
		switch {
		case row.Phase == "":
			left = append(left, row.RecordingID+" (its state can't be read)")
		case !row.Phase.Terminal() && !row.SupervisorAlive:
			left = append(left, fmt.Sprintf("%s (%s, %.0f s)", row.RecordingID, row.Phase, row.SecondsRecorded))
		}
	}
	return left, nil
}

// tryRecording makes a recording of one second away from the user's own, and
// removes it. A browser is not part of it: it has a check of its own.
func tryRecording(ctx context.Context, m supervisor.Manager) (err error) {
	m.Home, err = os.MkdirTemp("", "proofreel-doctor-")
	if err != nil {
		return fmt.Errorf("make room for the recording: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.Home)) }()
	m.Getenv = func(name string) string { // the user's recording is not meant
		if name == "PROOFREEL_RECORDING" {
			return ""
		}
		return os.Getenv(name)
	}

	started, err := m.Start(ctx, supervisor.StartOptions{
		Name: "doctor", FPS: 10, Width: 640, Height: 360, Display: "new", Browser: "none", Cursor: "auto", Engine: "auto",
		MaxDuration: 30 * time.Second, MinFree: 1e6, Publish: "none", Stills: "cut", Speed: 1, Position: "top",
		UntilPID: os.Getpid(), StartupTimeout: 30 * time.Second,
	})
	if err != nil {
		return err //nolint:wrapcheck // it is the user's error already
	}
	waited := sleep(ctx, time.Second)
	// What was started is ended also when the wait was broken off.
	_, err = m.Stop(context.WithoutCancel(ctx), started.RecordingID, supervisor.StopOptions{
		Timeout: 30 * time.Second, Progress: func(contract.Progress) {},
	})
	return errors.Join(waited, err)
}
