package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// clipKept is the file in a recording's directory that keeps the answer of the
// clip that stop made.
const clipKept = "clip.json"

// clips makes clips of this user's recordings.
type clips struct {
	home   string
	getenv func(string) string
}

// openClips reaches this user's recordings.
func openClips() (*clips, error) {
	home, err := recordingsHome(os.Getenv)
	if err != nil {
		return nil, err
	}
	return &clips{home: home, getenv: os.Getenv}, nil
}

// Clip implements Clipper.
func (k *clips) Clip(ctx context.Context, id string, o clip.Options) (clip.Result, error) {
	dir, err := k.find(id)
	if err != nil {
		return clip.Result{}, err
	}
	o.Dir = dir
	return k.make(ctx, o)
}

func (k *clips) make(ctx context.Context, o clip.Options) (clip.Result, error) {
	path, err := ffmpeg.Find()
	if err != nil {
		return clip.Result{}, err //nolint:wrapcheck // it is the user's error already
	}
	spawn := proc.NewSpawner()
	defer spawn.Close()
	o.Deps = clip.Deps{FFmpeg: path, Spawn: spawn, Log: slog.New(slog.DiscardHandler)}
	return clip.Make(ctx, o) //nolint:wrapcheck // it is the user's error already
}

// find gives a recording by its id, or the newest that has a film.
func (k *clips) find(id string) (*recording.Dir, error) {
	if id != "" {
		dir, err := recording.Open(k.home, id)
		if errors.Is(err, recording.ErrNotFound) {
			return nil, fault.New(fault.NotFound, "See the recordings of this machine with: proofreel list", "there is no recording %s here", id)
		}
		if err != nil {
			return nil, fault.Wrap(err, fault.StateUnwritable, "Check the directory that PROOFREEL_HOME names.", "the recordings can't be reached")
		}
		return dir, nil
	}
	all, err := recording.List(k.home)
	if err != nil {
		return nil, fault.Wrap(err, fault.StateUnwritable, "Check the directory that PROOFREEL_HOME names.", "the recordings can't be reached")
	}
	var newest *recording.Dir
	var at recording.Manifest
	for _, dir := range all {
		man, err := dir.Load()
		if err == nil && man.Film != nil && (newest == nil || man.CreatedAt.After(at.CreatedAt)) {
			newest, at = dir, man
		}
	}
	if newest == nil {
		return nil, fault.New(fault.NotFound, "Record something first: proofreel start", "no recording on this machine has a film")
	}
	return newest, nil
}

// AfterStop implements Clipper.
func (k *clips) AfterStop(ctx context.Context, id string, asked bool) (json.RawMessage, error) {
	dir, err := k.find(id)
	if err != nil {
		return nil, err
	}
	man, err := dir.Load()
	if err != nil {
		return nil, fault.Wrap(err, fault.StateCorrupt, "Its film is film.mp4 in the recording's directory.", "the state of recording %s can't be read", id)
	}
	if man.Display.Own && !asked {
		return nil, nil
	}
	out, err := filepath.Abs(outFolder(k.getenv))
	if err != nil {
		return nil, fault.Wrap(err, fault.OutUnwritable, "Name a folder in PROOFREEL_OUT.", "the folder for the clip can't be found")
	}
	kept := filepath.Join(dir.Path(), clipKept)
	if raw, ok := keptClip(kept); ok {
		return raw, nil
	}
	res, err := k.make(ctx, clip.Options{Dir: dir, Out: out})
	if err != nil {
		return nil, err
	}
	raw, err := compact(res)
	if err != nil {
		return nil, err
	}
	if err := statefile.Write(kept, json.RawMessage(raw)); err != nil {
		return nil, fault.Wrap(err, fault.StateUnwritable, "Free some space and stop again.", "the clip is there, but its answer could not be kept").WithArtifact(res.Path)
	}
	return raw, nil
}

// outFolder is where clips go that stop makes.
func outFolder(getenv func(string) string) string {
	if out := getenv("PROOFREEL_OUT"); out != "" {
		return out
	}
	return "recordings"
}

// keptClip reads the answer of the clip that stop made before, while its video
// is there. A video that is not as it was is a clip that the user has made of
// the recording since: it must not be replaced by one of other options.
func keptClip(path string) (json.RawMessage, bool) {
	var res clip.Result
	if err := statefile.Read(path, &res); err != nil {
		return nil, false
	}
	if _, err := os.Lstat(res.Path); errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	raw, err := compact(res)
	return raw, err == nil
}
