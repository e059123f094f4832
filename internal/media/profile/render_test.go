package profile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every one of these arguments was measured or is relied on by another
// package, so a change must be seen: docs/render-quality.md says why.
func TestRenderArgs(t *testing.T) {
	f, ok := Render(Standard)
	if !ok {
		t.Fatal("there is no standard")
	}
	want := "-c:v libx264 -preset ultrafast -crf 23 -profile:v high -pix_fmt yuv420p -threads 1" +
		" -x264-params 8x8dct=1:deblock=1:aq-mode=1:bframes=0:ref=1:weightp=1:open-gop=0:keyint=infinite:stitchable=1:cpu-independent=1:threads=1:sliced-threads=0:force-cfr=1" +
		" -color_range tv -colorspace bt709 -color_primaries bt709 -color_trc bt709"
	if diff := cmp.Diff(want, strings.Join(f.Args(), " ")); diff != "" {
		t.Error(diff)
	}
}

// What a quality adds may not undo what the renderer relies on: the last of two
// equal x264 parameters counts.
func TestConstraintsComeLast(t *testing.T) {
	args := strings.Join(Film{Preset: "medium", CRF: 1, Params: []string{"bframes=3", "ref=4"}}.Args(), " ")
	if strings.LastIndex(args, "bframes=0") < strings.LastIndex(args, "bframes=3") || strings.LastIndex(args, "ref=1") < strings.LastIndex(args, "ref=4") {
		t.Error(args)
	}
}

// A quality that is listed has a profile, and no other has.
func TestQualities(t *testing.T) {
	for _, q := range Qualities() {
		if f, ok := Render(q); !ok || f.CRF < 1 || f.CRF > 51 || f.Preset == "" {
			t.Errorf("%s: %+v, %v", q, f, ok)
		}
	}
	if f, ok := Render("best"); ok {
		t.Errorf("%+v", f)
	}
}
