// Command render compares proofreel render with Remotion and HyperFrames: the
// same scene, size, length and machine, the renderers taking turns. It prints a
// table and ratios and keeps the figures as JSON.
//
// Here live the scenes, the peers' projects with their pinned versions, the
// measuring of whole process trees and the judging of the films. What the
// figures mean is in docs/render-bench.md. Nothing imports this package, and
// nothing of the peers is in the product.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/proofreel/proofreel/bench/internal/gauge"
)

type options struct {
	product, jsonFile, work string
	scenes, settings, only  string
	runs                    int
	films                   bool
}

func main() {
	gauge.Main("render", func(ctx context.Context) error {
		switch {
		case len(os.Args) > 1 && os.Args[1] == measuredCommand:
			return measured(ctx, os.Args[2:])
		case len(os.Args) > 1 && os.Args[1] == partCommand:
			return part(ctx, os.Args[2:])
		default:
			return compare(ctx, parse())
		}
	})
}

func parse() options {
	var o options
	flag.StringVar(&o.product, "proofreel", "bin/proofreel", "the proofreel `binary` that is measured")
	flag.StringVar(&o.jsonFile, "json", "bench/out/render.json", "where the figures go as JSON; empty for nowhere")
	flag.StringVar(&o.work, "work", "bench/out/render", "where the peers are installed and the films are made")
	flag.StringVar(&o.scenes, "scenes", strings.Join(allScenes(), ","), "the `scenes`, comma separated")
	flag.StringVar(&o.settings, "settings", strings.Join(allSettings(), ","), "the `settings`, comma separated")
	flag.StringVar(&o.only, "only", "", "measure only the renderers whose `words` (comma separated) begin their name")
	flag.IntVar(&o.runs, "runs", 3, "how often each case is run, 1 to 20; figures to publish: 3 at least")
	flag.BoolVar(&o.films, "films", false, "keep the films")
	flag.Parse()
	if flag.NArg() > 0 || o.runs < 1 || o.runs > 20 || !known(o.scenes, allScenes()) || !known(o.settings, allSettings()) {
		flag.Usage()
		os.Exit(2)
	}
	return o
}

// compare measures scene by scene: the exact frames of one fill a gigabyte.
func compare(ctx context.Context, o options) error {
	b, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	var rows []row
	for _, scene := range strings.Split(o.scenes, ",") {
		of, err := b.scene(ctx, scene, o)
		if err != nil {
			return fmt.Errorf("scene %s: %w", scene, err)
		}
		rows = append(rows, of...)
	}
	res := summarize(b.versions, o.runs, rows)
	res.print(os.Stdout)
	return gauge.Save(o.jsonFile, res)
}

// scene runs every case of a scene once, then every case again, and so on, so
// that what slows the machine for a while slows all renderers alike.
func (b *bench) scene(ctx context.Context, scene string, o options) (rows []row, err error) {
	truth, err := b.truth(ctx, scene)
	if err != nil {
		return nil, fmt.Errorf("make the exact frames: %w", err)
	}
	defer func() { _ = os.Remove(truth) }() // it can be made again
	cases := b.cases(scene, strings.Split(o.settings, ","), o.only, truth)
	for n := range o.runs {
		for _, c := range cases {
			r, err := b.run(ctx, c, n, truth, o.films)
			if err != nil {
				return nil, fmt.Errorf("%s, run %d: %w", c.title(), n+1, err)
			}
			fmt.Fprintf(os.Stderr, "run %d of %d  %-46s %6.2f frames/s  %5.0f ms CPU a frame  %5.0f MB  others %.2f cores\n",
				n+1, o.runs, c.title(), r.FPS, r.CPUms, r.PeakMB, r.Others)
			rows = append(rows, r)
		}
	}
	return rows, nil
}
