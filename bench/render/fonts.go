package main

import (
	"fmt"
	"path/filepath"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

// face is a font's file and the weight that the scenes use it for.
type face struct{ path, weight string }

// fontFiles unpacks the fonts of the binary, so that all renderers draw the
// scenes' letters from the same outlines.
func fontFiles(dir string) ([]face, error) {
	set, err := scene.Fonts(dir)
	if err != nil {
		return nil, fmt.Errorf("unpack the fonts: %w", err)
	}
	var faces []face
	for name, weight := range map[string]string{"inter-regular": "400", "inter-bold": "700"} {
		found, err := filepath.Glob(filepath.Join(set.Dir, "files", name+".*"))
		if err != nil || len(found) != 1 {
			return nil, fmt.Errorf("the font %s is not once among the binary's: %q", name, found)
		}
		faces = append(faces, face{found[0], weight})
	}
	return faces, nil
}
