package cli

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/studio/renderer"
)

// studio is the renderer on this machine.
type studio struct{ renderer.Studio }

// openStudio finds what drawing needs.
func openStudio() (*studio, error) {
	encoder, err := ffmpeg.Find()
	if err != nil {
		return nil, err //nolint:wrapcheck // it is the user's error already
	}
	browser, err := chromium.Find(nil)
	if err != nil {
		return nil, fault.Wrap(err, fault.BrowserMissing, "Install chromium-headless-shell or chromium, or name one in "+chromium.Variable+".", "there is nothing to draw with")
	}
	state, err := recordingsHome(os.Getenv)
	if err != nil {
		return nil, err
	}
	cache, err := cacheFolder(os.Getenv)
	if err != nil {
		return nil, err
	}
	if err := proc.AdoptOrphans(); err != nil {
		return nil, fault.Wrap(err, fault.Internal, "", "this process can't take care of the browser's processes")
	}
	return &studio{renderer.Studio{
		FFmpeg: encoder, Browser: browser, Spawn: proc.NewSpawner(),
		State: state, Cache: cache, Log: slog.New(slog.DiscardHandler),
	}}, nil
}

// Close implements Studio.
func (s *studio) Close() { s.Spawn.Close() }

// cacheFolder is where fonts are unpacked, as the XDG base directory
// specification has it.
func cacheFolder(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "proofreel"), nil
	}
	if user := getenv("HOME"); filepath.IsAbs(user) {
		return filepath.Join(user, ".cache", "proofreel"), nil
	}
	return "", fault.Wrap(errors.New("neither XDG_CACHE_HOME nor HOME is set"), fault.StateUnwritable,
		"Set HOME to a directory that you can write.", "there is no place for the fonts")
}
