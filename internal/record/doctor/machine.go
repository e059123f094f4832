package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/install"
)

// Sizes below which something is said.
const (
	comfortable = 1 << 30   // bytes free for recordings: an hour of work at 1080p
	smallShm    = 256 << 20 // bytes of shared memory: containers get 64 MiB, and Chromium's tabs die of it
)

// fontChecks: without fonts a page is filmed as boxes.
func fontChecks(ctx context.Context, d Deps) []Check {
	f := findFonts(ctx, d)
	check := func(name string, level Level, have bool, tool install.Tool, without string) Check {
		c := Check{Name: name, Level: level, OK: have, Detail: f.how}
		if !have {
			c.Detail, c.Fix = without+" ("+f.how+")", d.Host.Hint(tool)
		}
		return c
	}
	return []Check{
		check("fonts", Error, f.any, install.Fonts, "there is no font: text is filmed as boxes"),
		check("emoji font", Warning, f.emoji, install.EmojiFont, "there is no font for emoji: they are filmed as boxes"),
		check("CJK font", Info, f.cjk, install.CJKFont, "there is no font for Chinese, Japanese and Korean: they are filmed as boxes"),
	}
}

type fonts struct {
	any, emoji, cjk bool
	how             string // how they were looked for
}

func findFonts(ctx context.Context, d Deps) fonts {
	path, err := exec.LookPath("fc-list")
	if err != nil {
		return fontFiles(d.FontDirs)
	}
	has := func(pattern string) bool {
		line, err := ask(ctx, path, pattern, "file")
		return err == nil && line != ""
	}
	return fonts{any: has(":lang=en"), emoji: has(":lang=und-zsye"), cjk: has(":lang=zh-cn") || has(":lang=ja") || has(":lang=ko"), how: "asked fc-list"}
}

// fontFiles judges by the names of files, for machines without fontconfig's
// tools.
func fontFiles(dirs []string) fonts {
	f := fonts{how: "looked through " + strings.Join(dirs, ", ")}
	font := regexp.MustCompile(`(?i)\.(ttf|otf|ttc|otc|pfb|pcf(\.gz)?)$`)
	emoji := regexp.MustCompile(`(?i)emoji`)
	cjk := regexp.MustCompile(`(?i)cjk|wqy|ipa(ex)?[gm]|takao|vl-?gothic|nanum|fallback|unifont|uming|ukai|source-?han`)
	for _, dir := range dirs {
		// A directory that is not there or can't be read holds no font for us.
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !font.MatchString(path) {
				return nil
			}
			name := filepath.Base(path)
			switch {
			case emoji.MatchString(name):
				f.emoji = true
			case cjk.MatchString(name):
				f.any, f.cjk = true, true
			default:
				f.any = true
			}
			return nil
		})
	}
	return f
}

// homeChecks looks where recordings are kept, and makes nothing there.
func homeChecks(_ context.Context, d Deps) []Check {
	home := Check{Name: "recordings", Level: Error}
	room := Check{Name: "free space", Level: Error}
	fix := "let PROOFREEL_HOME name a directory of yours"
	if d.Home == "" {
		home.Detail, home.Fix = "the directory of the recordings can't be told", fix
		return []Check{home}
	}
	at, err := existing(d.Home)
	if err == nil {
		err = unix.Access(at, unix.W_OK|unix.X_OK)
	}
	if err != nil {
		home.Detail, home.Fix = fmt.Sprintf("%s can't be written: %v", d.Home, err), fix
		return []Check{home}
	}
	home.OK, home.Detail = true, d.Home
	var st unix.Statfs_t
	if err := unix.Statfs(at, &st); err != nil {
		room.Detail, room.Fix = fmt.Sprintf("the free space of %s can't be read: %v", at, err), fix
		return []Check{home, room}
	}
	free := int64(st.Bavail) * st.Bsize
	room.OK, room.Detail = true, megabytes(free)+" free in "+at
	if free < d.MinFree {
		room.OK, room.Fix = false, "free at least "+megabytes(d.MinFree)+" there, or "+fix+" with more room; proofreel prune removes old recordings"
	} else if free < comfortable {
		room.OK, room.Level = false, Warning
		room.Detail += ": long recordings will end early"
		room.Fix = "free some space; proofreel prune removes old recordings"
	}
	return []Check{home, room}
}

// existing gives the path, or the nearest directory above it that is there.
func existing(path string) (string, error) {
	for {
		var st unix.Stat_t
		err := unix.Stat(path, &st)
		switch {
		case err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR:
			return "", fmt.Errorf("%s is no directory", path)
		case err == nil:
			return path, nil
		case !errors.Is(err, unix.ENOENT):
			return "", err
		}
		above := filepath.Dir(path)
		if above == path {
			return "", err
		}
		path = above
	}
}

func shmCheck(_ context.Context, d Deps) []Check {
	c := Check{Name: "shared memory", Level: Warning}
	var st unix.Statfs_t
	if err := unix.Statfs(d.Shm, &st); err != nil {
		c.Detail = fmt.Sprintf("%s can't be looked at: %v; capture and browser are slower without it", d.Shm, err)
		c.Fix = "mount it: mount -t tmpfs -o size=1g tmpfs " + d.Shm
		return []Check{c}
	}
	size := int64(st.Blocks) * st.Bsize
	c.OK, c.Detail = size >= smallShm, megabytes(size)+" in "+d.Shm
	if !c.OK {
		c.Detail += ": heavy pages may crash the browser's tabs"
		c.Fix = "give the container more: docker run --shm-size=1g, or mount -o remount,size=1g " + d.Shm
	}
	return []Check{c}
}

// displayCheck looks at the session's display, which only a recording with
// --display needs.
func displayCheck(ctx context.Context, d Deps) []Check {
	c := Check{Name: "display", Level: Warning}
	name := d.Getenv("DISPLAY")
	switch {
	case name == "" && d.Getenv("WAYLAND_DISPLAY") != "":
		c.Level, c.OK, c.Detail = Info, true, "the session is Wayland's, which this version can't film; own displays work"
	case name == "" || d.OpenDisplay == nil:
		c.Level, c.OK, c.Detail = Info, true, "there is no display of a session; own displays work without"
	default:
		what, err := d.OpenDisplay(ctx, name, d.Getenv("XAUTHORITY"))
		if err != nil {
			c.Detail = "DISPLAY=" + name + " can't be filmed: " + err.Error()
			c.Fix = fixOf(err, "own displays work without; for this one, set DISPLAY and XAUTHORITY as its session has them")
			return []Check{c}
		}
		c.OK, c.Detail = true, name+": "+what
	}
	return []Check{c}
}

func leftoverCheck(ctx context.Context, d Deps) []Check {
	if d.Leftovers == nil {
		return nil
	}
	c := Check{Name: "leftovers", Level: Warning}
	left, err := d.Leftovers(ctx)
	switch {
	case err != nil:
		c.Detail, c.Fix = "the recordings can't be listed: "+err.Error(), fixOf(err, "see: proofreel list")
	case len(left) > 0:
		c.Detail = fmt.Sprintf("%d recordings ended without a film: %s", len(left), strings.Join(left, "; "))
		c.Fix = "proofreel recover ID makes the film, proofreel discard ID removes it"
	default:
		c.OK, c.Detail = true, "no recording is left unfinished"
	}
	return []Check{c}
}

func megabytes(n int64) string {
	if n >= 10<<30 {
		return fmt.Sprintf("%d GB", n>>30)
	}
	return fmt.Sprintf("%d MB", n>>20)
}
