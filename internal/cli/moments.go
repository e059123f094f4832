package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

// maxMoments bounds how many times one flag can name.
const maxMoments = 200

// moments are times of a film, in seconds. A struct, for kong would gather
// repeated flags into a slice.
type moments struct{ seconds []float64 }

func (moments) kind() string { return "seconds" }

// Decode takes one number or several with commas between.
func (m *moments) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	parts := strings.Split(t.value, ",")
	if len(parts) > maxMoments {
		return t.bad(fmt.Sprintf("Give at most %d.", maxMoments), "has too many times")
	}
	low, high := t.bounds()
	m.seconds = nil
	for _, p := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil {
			return t.bad("Write seconds, such as 1.5 or 0.5,2,3.5.", "is no time")
		}
		if !(v >= low && v <= high) { // a NaN is neither
			return t.bad(t.rangeHint(), "is out of range")
		}
		m.seconds = append(m.seconds, v)
	}
	return nil
}

// bounds reads the tags min and max.
func (t taken) bounds() (low, high float64) {
	return float64(intTag(t.tag, "min")), float64(intTag(t.tag, "max"))
}

// look is the name of a style of scenes.
type look string

func (look) kind() string { return "style" }

// values lists what is allowed, for the manifest.
func (look) values() []string { return scene.StyleNames() }

// Decode takes the name of a style that there is.
func (s *look) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(scene.StyleNames(), t.value) {
		return t.bad("Use one of: "+strings.Join(scene.StyleNames(), ", ")+".", "is no style")
	}
	*s = look(t.value)
	return nil
}
