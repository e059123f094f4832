package scene_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

const goodMeta = `"width":1920,"height":1080,"fps":30,"duration":6`

func reported(meta string) []byte {
	return fmt.Appendf(nil, `{"meta":%s,"draw":"function","setup":"undefined","exports":["draw","meta"]}`, meta)
}

func TestParseMeta(t *testing.T) {
	got, err := scene.ParseMeta(reported(`{` + goodMeta + `,"kind":"webgl","seed":7,"assets":{"logo":"./img//logo.png"},"sequential":true,"style":"swiss","title":"T"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := scene.Meta{
		Title: "T", Width: 1920, Height: 1080, FPS: 30, Duration: 6, Kind: scene.KindWebGL, Seed: 7,
		Assets: map[string]string{"logo": "img/logo.png"}, Sequential: true, Style: "swiss", Background: "#f5f5f2",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	if got.Frames() != 180 {
		t.Fatalf("%d frames", got.Frames())
	}
}

// What an author gets wrong must be named, with what is allowed.
func TestParseMetaRefuses(t *testing.T) {
	with := func(field string) string {
		name, _, _ := strings.Cut(field, ":")
		var keep []string
		for f := range strings.SplitSeq(goodMeta, ",") {
			if !strings.HasPrefix(f, name+":") {
				keep = append(keep, f)
			}
		}
		return string(reported("{" + strings.Join(append(keep, field), ",") + "}"))
	}
	for _, c := range []struct{ name, raw, want string }{
		{"no meta", `{"meta":null,"draw":"function","exports":["draw"]}`, "does not export meta; it exports draw"},
		{"nothing", `{"meta":null,"draw":"undefined","exports":[]}`, "exports nothing"},
		{"default", `{"meta":null,"draw":"undefined","exports":["default"]}`, "by their names"},
		{"no draw", `{"meta":{` + goodMeta + `},"draw":"undefined","exports":["meta"]}`, "a function named draw"},
		{"draw is text", `{"meta":{` + goodMeta + `},"draw":"string"}`, "draw is a string"},
		{"setup is an object", `{"meta":{` + goodMeta + `},"draw":"function","setup":"object"}`, "setup is a object"},
		{"meta is a number", string(reported("5")), "meta is 5, not an object"},
		{"not JSON", `{`, "can't be read"},
		{"fps 0", with(`"fps":0`), "meta.fps is 0: it must be from 1 to 60"},
		{"fps 29.97", with(`"fps":29.97`), "must be a whole number"},
		{"fps NaN", with(`"fps":"NaN"`), `meta.fps is "NaN", not a number`},
		{"fps 120", with(`"fps":120`), "meta.fps is 120"},
		{"duration -1", with(`"duration":-1`), "meta.duration is -1: it must be from 0.1 to 600 seconds"},
		{"duration missing", string(reported(`{"width":1920,"height":1080,"fps":30}`)), "meta.duration is missing"},
		{"100,000 frames", with(`"duration":3333.4`), "meta.duration is 3333.4"},
		{"as many as allowed", string(reported(`{"width":1920,"height":1080,"fps":60,"duration":600,"seed":0}`)), ""},
		{"odd width", with(`"width":1921`), "meta.width is 1921: the film's format needs an even number"},
		{"8K", with(`"width":7680`), "meta.width is 7680"},
		{"square 4K", string(reported(`{"width":3840,"height":3840,"fps":30,"duration":1}`)), "larger than 4K"},
		{"huge number", with(`"width":1e300`), "meta.width is 1e+300"},
		{"typo", with(`"durration":5`), `meta has no field "durration"`},
		{"kind", with(`"kind":"svg"`), `meta.kind is "svg"`},
		{"style", with(`"style":"baroque"`), "there is no such style"},
		{"seed", with(`"seed":-1`), "meta.seed is -1"},
		{"colour", with(`"background":"rgba(0,0,0,.5)"`), "meta.background is"},
		{"sequential", with(`"sequential":"yes"`), "must be true or false"},
		{"asset out", with(`"assets":{"a":"../secret.png"}`), "it leaves the scene's folder"},
		{"asset absolute", with(`"assets":{"a":"/etc/passwd"}`), "it is absolute"},
		{"asset address", with(`"assets":{"a":"https://example.org/a.png"}`), "it is an address"},
		{"asset name", with(`"assets":{"a b":"a.png"}`), "has the name"},
		{"asset list", with(`"assets":["a.png"]`), "not an object of file names"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scene.ParseMeta([]byte(c.raw))
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != fault.SceneMeta {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(f.Message, c.want) {
				t.Fatalf("%q lacks %q", f.Message, c.want)
			}
		})
	}
}

// Whatever a hostile page reports, what comes out is within the limits.
func FuzzParseMeta(f *testing.F) {
	f.Add(reported(`{` + goodMeta + `}`))
	f.Add(reported(`{` + goodMeta + `,"assets":{"a":"b/../../c"},"background":"#fff","seed":9007199254740991}`))
	f.Add([]byte(`{"meta":{"width":"NaN"},"draw":"function"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := scene.ParseMeta(raw)
		if err != nil {
			return
		}
		if m.Width%2 != 0 || m.Height%2 != 0 || m.Width < 2 || m.Height < 2 || m.Width*m.Height > scene.MaxPixels {
			t.Fatalf("size %d x %d", m.Width, m.Height)
		}
		if m.FPS < 1 || m.FPS > scene.MaxFPS || math.IsNaN(m.Duration) || m.Frames() < 1 || m.Frames() > scene.MaxFrames {
			t.Fatalf("%d frames at %d", m.Frames(), m.FPS)
		}
		for name, file := range m.Assets {
			if strings.HasPrefix(file, "/") || file == ".." || strings.HasPrefix(file, "../") {
				t.Fatalf("asset %s is %q", name, file)
			}
		}
	})
}
