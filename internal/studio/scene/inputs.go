package scene

import (
	"path/filepath"
	"slices"
)

// Inputs lists the files that the scene is made of, absolute and sorted: its
// own, those that it imports, and the assets that m names; the zero Meta names
// none. They are there when the bundle is loaded; assets may be missing.
func (b *Bundle) Inputs(m Meta) []string {
	all := make([]string, 0, len(b.sources)+len(m.Assets))
	for name := range b.sources {
		all = append(all, filepath.Join(b.Dir, filepath.FromSlash(name)))
	}
	for _, name := range m.Assets {
		all = append(all, filepath.Join(b.Dir, filepath.FromSlash(name)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
