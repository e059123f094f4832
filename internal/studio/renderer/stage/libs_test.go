package stage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

// libraryCalls uses each library once, by a value that is known.
var libraryCalls = map[string]string{
	"three":               "import { Vector3 } from 'three'\nconst three = () => new Vector3(3, 4, 0).length() === 5",
	"d3":                  "import { scaleLinear } from 'd3'\nconst d3 = () => scaleLinear([0, 10], [0, 100])(3) === 30",
	"d3-sankey":           "import { sankey } from 'd3-sankey'\nconst d3_sankey = () => sankey().size([100, 50])({ nodes: [{}, {}], links: [{ source: 0, target: 1, value: 7 }] }).nodes[1].value === 7",
	"animejs":             "import { createTimeline } from 'animejs'\nconst animejs = () => { const o = { x: 0 }; createTimeline({ autoplay: false }).add(o, { x: 800, ease: 'linear', duration: 1000 }).seek(250); return o.x === 200 }",
	"flubber":             "import { interpolate } from 'flubber'\nconst flubber = () => interpolate('M0 0L10 0L10 10Z', 'M0 0L20 0L20 20Z')(1) === 'M0 0L20 0L20 20Z'",
	"svg-path-properties": "import { svgPathProperties } from 'svg-path-properties'\nconst svg_path_properties = () => new svgPathProperties('M0 0L30 40').getTotalLength() === 50",
	"roughjs":             "import rough from 'roughjs'\nconst roughjs = () => rough.generator().rectangle(0, 0, 10, 10, { seed: 1 }).sets.length > 0",
	"simplex-noise":       "import { createNoise2D } from 'simplex-noise'\nconst simplex_noise = () => createNoise2D(() => 0.5)(0, 0) === 0",
	"culori":              "import { formatHex, parse } from 'culori'\nconst culori = () => formatHex(parse('rgb(255 0 16)')) === '#ff0010'",
	"bezier-easing":       "import BezierEasing from 'bezier-easing'\nconst bezier_easing = () => BezierEasing(0, 0, 1, 1)(0.25) === 0.25",
	"topojson-client":     "import { feature } from 'topojson-client'\nconst topojson_client = () => feature(world_data, world_data.objects.land).features.length === 1",
	"world-atlas":         "import world_data from 'world-atlas/land-110m.json'\nconst world_atlas = () => world_data.type === 'Topology'",
}

// A library that bundles may still want something that a worker or our realm
// has not: each is called, in both.
func TestLibrariesRun(t *testing.T) {
	all, err := scene.Libraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []scene.Kind{scene.Kind2D, scene.KindDOM} {
		t.Run(string(kind), func(t *testing.T) {
			var src, list strings.Builder
			for _, l := range all {
				call, ok := libraryCalls[l.Name]
				if !ok {
					t.Errorf("no call of %s", l.Name)
				}
				src.WriteString(call + "\n")
				fmt.Fprintf(&list, "%q: %s, ", l.Name, strings.ReplaceAll(l.Name, "-", "_"))
			}
			fmt.Fprintf(&src, "export const meta = { width: 64, height: 64, fps: 10, duration: 1, kind: %q }\n", kind)
			fmt.Fprintf(&src, "const all = { %s}\nexport function draw() { for (const [name, call] of Object.entries(all)) if (!call()) throw new Error(name + ' gives something else') }\n", list.String())
			s := open2(t, load(t, src.String(), nil), nil)
			if err := s.Frames(testContext(t), 0, 0, 2, drop); err != nil {
				t.Error(err)
			}
			if n := s.Notes(); len(n) > 0 || s.lanes[0].sequential {
				t.Errorf("notes %v, or it is taken for sequential", n)
			}
		})
	}
}
