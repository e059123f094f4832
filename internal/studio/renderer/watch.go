package renderer

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	lookEvery  = 300 * time.Millisecond // at the scene's files
	maxWatched = 5000                   // files of a scene's folder that are looked at
)

// stamp is what tells that a file is another than before.
type stamp struct {
	size int64
	at   int64 // nanoseconds
}

// stampOf gives a file's stamp; what is not there, or is none, has the zero one.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}
}

// stamps gives those of some files.
func stamps(files []string) map[string]stamp {
	all := make(map[string]stamp, len(files))
	for _, path := range files {
		all[path] = stampOf(path)
	}
	return all
}

// folderStamps gives those of the files in a folder and below, without hidden
// folders and packages.
func folderStamps(dir string) map[string]stamp {
	all := map[string]stamp{}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a file that is gone is a change too
		}
		if d.IsDir() {
			if path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if len(all) == maxWatched {
			return fs.SkipAll
		}
		if s := stampOf(path); s != (stamp{}) {
			all[path] = s
		}
		return nil
	})
	return all
}

// watch loads the scene, and again each time that one of the files has changed
// that it is made of: what else is written in its folder, such as a film, is no
// reason. A scene that can't be opened may be mended by any file in its folder,
// also by one that was missing. Looking costs less than a millisecond and works
// on every file system.
func (v *viewer) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	dir := sceneFolder(v.src.Scene)
	for {
		// Taken before it is loaded: what changes meanwhile is seen by the next look.
		before := folderStamps(dir)
		now := func() map[string]stamp { return folderStamps(dir) }
		if files := v.load(ctx); files != nil {
			now = func() map[string]stamp { return stamps(files) }
			known := stamps(files)
			for path := range known {
				if s, ok := before[path]; ok {
					known[path] = s
				}
			}
			before = known
		}
		for maps.Equal(before, now()) {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// sceneFolder is the folder of a scene that is named by its file or by its
// folder, without links, as the scene's files are named.
func sceneFolder(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if linked, err := filepath.EvalSymlinks(path); err == nil {
		path = linked
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return path
	}
	return filepath.Dir(path)
}
