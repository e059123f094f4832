package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// dir copies films into a directory.
type dir struct {
	path string
	log  *slog.Logger
	beat func()
}

// syncTimeout is how long writing a film to disk may take before it counts as
// hung: the system does not tell how far it is.
const syncTimeout = 10 * time.Minute

func (d dir) Publish(ctx context.Context, f Film) (Receipt, error) {
	if err := f.check(); err != nil {
		return Receipt{}, f.failed("stop again makes the film anew", err)
	}
	if err := d.prepare(f); err != nil {
		return Receipt{}, f.failed(dirHint(err), err)
	}
	to := filepath.Join(d.path, FileName(f))
	if d.same(ctx, to, f) {
		d.log.Info("the film is there already", "path", to)
		return Receipt{Path: to}, nil
	}
	if err := d.install(ctx, f, to); err != nil {
		return Receipt{}, f.failed(dirHint(err), err)
	}
	return Receipt{Path: to}, nil
}

// FileName is the name of a film in a directory. It is the same for the same
// recording and different for every other: the whole id is in it.
func FileName(f Film) string {
	if slug := slugOf(f.Name); slug != "" {
		return slug + "-" + f.ID + ".mp4"
	}
	return "proofreel-" + f.ID + ".mp4"
}

// maxSlug bounds the name's part, in bytes: a file name has 255, and the id
// and the rest take 41.
const maxSlug = 120

// slugOf keeps letters and digits of every script, in lower case, with a dash
// for what is between them: no file system of Linux and no shell minds those.
func slugOf(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case b.Len()+utf8.RuneLen(r) > maxSlug:
			return strings.Trim(b.String(), "-")
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case b.Len() == 0 || strings.HasSuffix(b.String(), "-"):
		case unicode.IsMark(r): // belongs to the letter before it
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-")
}

// prepare makes the directory and removes what an interrupted copy of the
// same film left there.
func (d dir) prepare(f Film) error {
	if err := os.MkdirAll(d.path, 0o755); err != nil { //nolint:gosec // what is published is for others to read
		return fmt.Errorf("make the directory: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(globEscape(d.path), tempPrefix(f)+"*"))
	if err != nil {
		return fmt.Errorf("look for leftovers: %w", err)
	}
	for _, p := range left {
		if err := os.Remove(p); err != nil {
			return fmt.Errorf("remove a leftover: %w", err)
		}
	}
	var st unix.Statfs_t
	if err := unix.Statfs(d.path, &st); err != nil {
		return fmt.Errorf("read the free space of %s: %w", d.path, err)
	}
	if free := int64(st.Bavail) * st.Bsize; free < f.Bytes {
		return fmt.Errorf("%s has %d bytes free, the film needs %d: %w", d.path, free, f.Bytes, unix.ENOSPC)
	}
	return nil
}

func tempPrefix(f Film) string { return ".proofreel-" + f.ID + "-" }

func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// install copies to a temporary name in the same directory and renames: a
// reader sees the whole film or none. A symbolic link at the film's name is
// replaced, not followed.
func (d dir) install(ctx context.Context, f Film, to string) (err error) {
	tmp, err := os.CreateTemp(d.path, tempPrefix(f)+"*")
	if err != nil {
		return fmt.Errorf("create a file in %s: %w", d.path, err)
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	sum, err := d.copyFile(ctx, tmp, f.Path)
	if err != nil {
		return fmt.Errorf("copy the film: %w", err)
	}
	if sum != f.SHA256 {
		return fmt.Errorf("%s changed since it was verified: SHA-256 is %s, not %s", f.Path, sum, f.SHA256)
	}
	if err := tmp.Chmod(0o644); err != nil {
		return fmt.Errorf("make the film readable: %w", err)
	}
	if err := beating(d.beat, syncTimeout, tmp.Sync); err != nil {
		return fmt.Errorf("write the film to disk: %w", err)
	}
	if err := tmp.Close(); err != nil {
		return fmt.Errorf("close the film: %w", err)
	}
	if err := os.Rename(tmp.Name(), to); err != nil {
		return fmt.Errorf("install the film: %w", err)
	}
	return syncDir(d.path)
}

// same says whether the file at path is the film already.
func (d dir) same(ctx context.Context, path string, f Film) bool {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() != f.Bytes {
		return false
	}
	sum, err := d.copyFile(ctx, io.Discard, path)
	return err == nil && sum == f.SHA256
}

// copyFile copies a file in pieces, looks at ctx between them, and gives the
// SHA-256 of what it read.
func (d dir) copyFile(ctx context.Context, to io.Writer, path string) (string, error) {
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = from.Close() }()
	hash := sha256.New()
	buf := make([]byte, 1<<20)
	if _, err := io.CopyBuffer(io.MultiWriter(to, hash), ctxReader{ctx, from, d.beat}, buf); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

type ctxReader struct {
	ctx  context.Context
	r    io.Reader
	beat func()
}

func (r ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	r.beat()
	return r.r.Read(p)
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open %s to write it to disk: %w", path, err)
	}
	defer func() { _ = d.Close() }()
	// Some file systems (FUSE, network) can't sync a directory.
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return fmt.Errorf("write %s to disk: %w", path, err)
	}
	return nil
}

func dirHint(err error) string { return dirAdvice(err, "stop again copies the film") }

// dirAdvice says how to mend what is wrong with a directory; then says what
// to do afterwards.
func dirAdvice(err error, then string) string {
	switch {
	case errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT):
		return "free some space there; " + then
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS):
		return "make the directory writable for this user; " + then
	case errors.Is(err, unix.ENOTDIR) || errors.Is(err, fs.ErrExist):
		return "the path must be a directory; " + then
	default:
		return then
	}
}
