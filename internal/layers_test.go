// Package internal_test holds the layers: who may import whom, and which
// package alone may import a heavy library. docs and reasons: CONTRIBUTING.md.
package internal_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/proofreel/proofreel/"

// forbidden says what a layer may never import, tests included.
func forbidden() map[string][]string {
	surfaces := []string{"cmd", "internal/cli", "internal/app", "internal/serve"}
	products := []string{"internal/record", "internal/edit", "internal/studio"}
	above := func(layers ...[]string) []string {
		var all []string
		for _, l := range layers {
			all = append(all, l...)
		}
		return all
	}
	upper := above(surfaces, products)
	boxes := []string{
		"internal/studio/agent", "internal/studio/author", "internal/studio/executor", "internal/studio/exit", "internal/studio/job", "internal/studio/renderer",
		"internal/studio/sandbox", "internal/studio/scene", "internal/studio/screen", "internal/studio/workflow",
	}
	return map[string][]string{
		"internal/fault":    above(upper, []string{"internal/media", "internal/host", "internal/contract"}),
		"internal/contract": above(upper, []string{"internal/media", "internal/host"}),
		"internal/host":     above(upper, []string{"internal/media"}),
		"internal/media":    upper,
		"internal/record":   above(surfaces, []string{"internal/edit", "internal/studio"}),
		"internal/edit":     above(surfaces, []string{"internal/record", "internal/studio"}),
		"internal/studio":   above(surfaces, []string{"internal/record", "internal/edit"}),
		"internal/serve":    {"cmd", "internal/cli", "internal/app"},
		"internal/app":      {"cmd", "internal/cli"},
		"internal/cli":      {"cmd"},
		// Inside record: the supervisor drives, the rest does not know it.
		"internal/record/display":  {"internal/record/supervisor", "internal/record/recorder", "internal/record/publish", "internal/record/capture", "internal/record/browser"},
		"internal/record/browser":  {"internal/record/supervisor", "internal/record/recorder", "internal/record/publish", "internal/record/capture"},
		"internal/record/capture":  {"internal/record/supervisor", "internal/record/recorder", "internal/record/publish", "internal/record/browser"},
		"internal/record/publish":  {"internal/record/supervisor", "internal/record/recorder", "internal/record/display", "internal/record/capture", "internal/record/browser"},
		"internal/record/recorder": {"internal/record/supervisor", "internal/record/publish"},
		// Inside studio: money knows nobody, and the gateway knows money only.
		"internal/studio/ledger":  append(boxes, "internal/studio/gateway"),
		"internal/studio/gateway": boxes,
		// A box's policy is a leaf; a backend knows the policy, the way out knows
		// backends, and only the workflow knows them all.
		"internal/studio/sandbox":  studioBut("sandbox"),
		"internal/studio/executor": studioBut("executor", "sandbox"),
		"internal/studio/exit":     studioBut("exit", "executor", "sandbox", "renderer"), // whose films its tests let out
		"internal/studio/job":      studioBut("job", "scene"),
		"internal/studio/screen":   studioBut("screen", "gateway"),
		"internal/studio/agent":    {"internal/studio/author", "internal/studio/screen", "internal/studio/workflow"},
		"internal/studio/author":   {"internal/studio/executor", "internal/studio/exit", "internal/studio/ledger", "internal/studio/workflow"},
		"internal/studio/scene":    studioBut("scene"),
		"internal/studio/renderer": studioBut("renderer", "scene"),
	}
}

// studioBut lists the packages of studio but these.
func studioBut(own ...string) []string {
	var all []string
	for _, name := range []string{
		"agent", "author", "executor", "exit", "gateway", "job", "ledger", "renderer", "sandbox", "scene", "screen", "workflow",
	} {
		if !slices.Contains(own, name) {
			all = append(all, "internal/studio/"+name)
		}
	}
	return all
}

// homes says where alone a heavy library may be imported.
func homes() map[string][]string {
	return map[string][]string{
		"github.com/alecthomas/kong":     {"internal/cli"},
		"charm.land/lipgloss":            {"internal/cli"},
		"github.com/Eyevinn/mp4ff":       {"internal/media/mp4"},
		"github.com/jezek/xgb":           {"internal/record/display", "internal/record/capture/x11", "internal/record/screen"},
		"github.com/chromedp":            {"internal/media/chromium"},
		"github.com/evanw/esbuild":       {"internal/studio/scene"},
		"github.com/anthropics":          {"internal/studio/agent/runner"},
		"github.com/go-text/typesetting": {"internal/media/typeset"},

		"github.com/modelcontextprotocol/go-sdk": {"internal/serve/mcpserver"},
	}
}

// pkg is what go list says of a package.
type pkg struct {
	path          string   // inside the module
	imports, test []string // whole import paths
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-f", `{{.ImportPath}}|{{join .Imports " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`, "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		f := strings.Split(line, "|")
		if len(f) != 3 {
			t.Fatalf("go list says %q", line)
		}
		all = append(all, pkg{strings.TrimPrefix(f[0], module), strings.Fields(f[1]), strings.Fields(f[2])})
	}
	return all
}

// within says whether a package is a folder's, or lies below it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// A layer that reaches up or sideways can't be understood or used alone.
func TestLayers(t *testing.T) {
	all := packages(t)
	if len(all) < 10 {
		t.Fatalf("go list sees %d packages only", len(all))
	}
	for _, p := range all {
		for layer, bans := range forbidden() {
			if !within(p.path, layer) {
				continue
			}
			for _, imp := range append(p.imports, p.test...) {
				own, ok := strings.CutPrefix(imp, module)
				for _, ban := range bans {
					if ok && within(own, ban) {
						t.Errorf("%s imports %s: %s may not", p.path, own, layer)
					}
				}
			}
		}
		if within(p.path, "cmd") {
			for _, imp := range p.imports {
				if own, ok := strings.CutPrefix(imp, module); ok && own != "internal/cli" {
					t.Errorf("%s imports %s: a command calls internal/cli only", p.path, own)
				}
			}
		}
	}
}

// A heavy library that spreads can't be replaced any more. Tests may look
// through one: they don't ship.
func TestHeavyLibraries(t *testing.T) {
	for _, p := range packages(t) {
		for library, allowed := range homes() {
			for _, imp := range p.imports {
				if within(imp, library) && !inOne(p.path, allowed) {
					t.Errorf("%s imports %s: only %s may", p.path, imp, strings.Join(allowed, ", "))
				}
			}
		}
	}
}

func inOne(path string, folders []string) bool {
	for _, f := range folders {
		if within(path, f) {
			return true
		}
	}
	return false
}
