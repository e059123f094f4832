package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/record/browser"
	"github.com/proofreel/proofreel/internal/record/capture"
	"github.com/proofreel/proofreel/internal/record/display"
	"github.com/proofreel/proofreel/internal/record/recorder"
)

// start brings everything up, in the order in which each needs the other:
// room on the disk, ffmpeg, screen, browser with its page painted, capture with
// its first frame.
func (s *session) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.manifest().Options.StartupTimeout, errStartup)
	defer cancel()
	if err := s.checkRoom(); err != nil {
		return err
	}
	path, err := ffmpeg.Find()
	if err != nil {
		return fault.As(err)
	}
	s.ffmpeg = path
	target, err := s.openScreen(ctx)
	if err != nil {
		return s.because(ctx, err, fault.DisplayFailed, "Run: proofreel doctor", "the display could not be started")
	}
	if err := s.openBrowser(ctx, target); err != nil {
		return s.because(ctx, err, fault.BrowserFailed, "Run: proofreel doctor", "the browser could not be started")
	}
	faultpoint(ctx, recording.PhaseStarting)
	if err := s.startCapture(ctx, target); err != nil {
		return s.because(ctx, err, fault.CaptureFailed, "Run: proofreel doctor", "nothing could be captured")
	}
	if err := s.remember(); err != nil {
		return asSupervisorFault(err)
	}
	faultpoint(ctx, firstFrame)
	return nil
}

// firstFrame is the point at which everything runs and start has not returned.
const firstFrame = recording.PhaseStarting + "_first_frame"

var errStartup = errors.New("--startup-timeout has passed")

// because gives an error of a part its code, or says that the time was up or
// that the start was called off.
func (s *session) because(ctx context.Context, err error, code fault.Code, hint, message string) error {
	var own *fault.Error
	var screen *display.StartError
	var there *display.OpenError
	var brows *browser.StartError
	switch {
	case errors.As(err, &screen) && screen.Hint != "":
		hint = screen.Hint
	case errors.As(err, &there) && there.Hint != "":
		hint = there.Hint
	case errors.As(err, &brows) && brows.Hint != "":
		hint = brows.Hint
	}
	switch {
	case errors.Is(context.Cause(ctx), errStartup):
		return fault.New(fault.StartTimeout, "Give it more time with --startup-timeout, or see what is slow with: proofreel doctor", "%s within %v: %v", message, s.manifest().Options.StartupTimeout, err)
	case ctx.Err() != nil:
		return fault.New(fault.Interrupted, "Start again.", "the recording was stopped before its first frame")
	case errors.As(err, &own):
		return own
	case errors.Is(err, unix.ENOSPC):
		return fault.Wrap(err, fault.DiskFull, "Free some space, or set PROOFREEL_HOME to a directory on another disk.", "there is no space left")
	default:
		return fault.Wrap(err, code, hint, "%s", message)
	}
}

func (s *session) checkRoom() error {
	floor := s.manifest().Options.MinFree
	free, err := freeBytes(s.dir.Path())
	if err != nil {
		return fault.Wrap(err, fault.StateUnwritable, "Set PROOFREEL_HOME to a directory that you can write.", "the recording can't be kept")
	}
	if free < floor {
		return fault.New(fault.DiskFull, "Free some space, set PROOFREEL_HOME to a directory on another disk, or lower --min-free.",
			"%d MB are free where recordings are kept, %d MB must stay free", free/1e6, floor/1e6)
	}
	return nil
}

// openScreen starts the own display, or looks at the one that is there.
func (s *session) openScreen(ctx context.Context) (capture.Target, error) {
	o := s.manifest().Options
	var d recording.Display
	if o.Display == "new" {
		own, err := display.Start(ctx, display.Options{
			Width: o.Width, Height: o.Height, Dir: s.dir.Private(), Env: os.Environ(), Spawn: s.spawn, Log: s.log,
		})
		if err != nil {
			return capture.Target{}, err
		}
		s.screen = own
		d = recording.Display{Name: own.Name, Own: true, Xauthority: own.Xauthority, Width: o.Width, Height: o.Height}
	} else {
		name := o.Display
		if name == "current" {
			var err error
			if name, err = display.Current(os.Getenv); err != nil {
				return capture.Target{}, err
			}
		}
		info, err := display.Open(ctx, name, os.Getenv("XAUTHORITY"))
		if err != nil {
			return capture.Target{}, err
		}
		d = recording.Display{Name: name, Xauthority: os.Getenv("XAUTHORITY"), Width: info.Width, Height: info.Height}
	}
	if err := s.update(func(man *recording.Manifest) { man.Display = d }); err != nil {
		return capture.Target{}, err
	}
	return capture.Target{Display: d.Name, Xauthority: d.Xauthority, Width: d.Width, Height: d.Height}, s.remember()
}

// openBrowser starts the browser on the own display and waits until the page
// is on the screen: the film begins with it.
func (s *session) openBrowser(ctx context.Context, t capture.Target) error {
	man := s.manifest()
	if !man.Display.Own {
		return nil
	}
	kind, err := browser.Resolve(man.Options.Browser, nil)
	if err != nil {
		return err
	}
	if kind.Kind == browser.KindNone {
		return nil
	}
	b, err := browser.Start(ctx, browser.Options{
		Resolved: kind, URL: s.page, Display: t.Display, Xauthority: t.Xauthority,
		Width: t.Width, Height: t.Height, Dir: s.dir.Private(), Env: os.Environ(), Spawn: s.spawn, Log: s.log,
	})
	if err != nil {
		return err
	}
	s.browser = b
	err = s.update(func(man *recording.Manifest) {
		man.Browser = &recording.Browser{Kind: string(b.Kind()), Command: b.Command(), Note: b.Note()}
	})
	if err != nil {
		return err
	}
	if err := s.remember(); err != nil {
		return err
	}
	if err := s.screen.WaitPainted(ctx); err != nil {
		return fmt.Errorf("wait for the page to be painted: %w", err)
	}
	return nil
}

// startCapture starts the recorder and returns with the first frame.
func (s *session) startCapture(ctx context.Context, t capture.Target) error {
	o := s.manifest().Options
	engines, err := enginesFor(o.CaptureEngine)
	if err != nil {
		return err
	}
	rec, err := recorder.Start(ctx, recorder.Config{
		Dir: s.dir, Engines: engines, DisplayAlive: s.displayAlive, Log: s.log,
		Capture: capture.Config{
			Target: t, FPS: o.FPS, Adaptive: o.Adaptive, Cursor: o.Cursor, Keys: o.Keys,
			FFmpeg: s.ffmpeg, Encode: profile.Recording().Args(), Spawn: s.spawn, Log: s.log,
		},
	})
	if err != nil {
		return err
	}
	s.rec = rec
	name, why := rec.Engine()
	return s.update(func(man *recording.Manifest) {
		man.Clock = rec.Clock()
		man.Capture = recording.Capture{Engine: name, Why: why, Width: profile.Even(t.Width), Height: profile.Even(t.Height)}
		man.Phase = recording.PhaseRecording
	})
}

// displayAlive says whether an own display still runs; one that is there can
// always come back.
func (s *session) displayAlive() bool {
	return s.screen == nil || s.screen.Xvfb.Alive()
}

// abort ends everything after a failed start and gives the error to tell.
func (s *session) abort(cause error) error {
	ctx := context.Background()
	proc.Wake(s.everyone())
	if s.rec != nil {
		s.rec.EndAt(0)
	}
	s.closeBrowser(ctx)
	s.stopCapture()
	err := s.cleanUp(ctx)
	if err != nil {
		s.log.Error("clean up after a failed start", "err", err)
	}
	_ = s.conclude(cause)
	return fault.As(cause)
}
