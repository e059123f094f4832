// Command renderquality compares encoder settings on what scenes draw: gradients,
// moving shapes, text, fades. It draws two short takes, encodes each with every
// setting, decodes them and measures; beside them stand models of what others
// do, who take screenshots as JPEG and encode these.
//
// Here live the takes, the settings under study and the table. The renderer's own
// profiles are in the product and follow docs/render-quality.md, which quotes this
// command's output; nothing imports this package.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/proofreel/proofreel/bench/internal/gauge"
)

// rate is the frame rate of the takes, in frames a second.
const rate = 30

type options struct {
	ffmpeg, jsonFile, only, keep string
	takes                        []string
	frames, repeats              int
}

func main() {
	var o options
	flag.StringVar(&o.ffmpeg, "ffmpeg", "ffmpeg", "the ffmpeg `binary`")
	flag.StringVar(&o.jsonFile, "json", "bench-renderquality.json", "where the figures go as JSON; empty for nowhere")
	flag.StringVar(&o.only, "only", "", "settings whose names this `pattern` finds; the others' models are always measured")
	flag.StringVar(&o.keep, "keep", "", "the `folder` in which takes and films are kept, to be looked at; empty: they are removed")
	flag.IntVar(&o.frames, "frames", 60, "length of each take that is drawn, 2 to 600")
	flag.IntVar(&o.repeats, "repeats", 2, "encodes of each take, 1 to 10; the least CPU time counts")
	flag.Func("take", "a lossless `film` to measure instead of the takes that are drawn; may be repeated", func(s string) error {
		o.takes = append(o.takes, s)
		return nil
	})
	flag.Parse()
	if flag.NArg() > 0 || o.frames < 2 || o.frames > 600 || o.repeats < 1 || o.repeats > 10 {
		flag.Usage()
		os.Exit(2)
	}
	gauge.Main("renderquality", func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	dir := o.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "bench-renderquality-"); err == nil {
			defer func() { _ = os.RemoveAll(dir) }()
		}
	} else {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return fmt.Errorf("make a directory for the takes: %w", err)
	}
	s := study{ffmpeg: o.ffmpeg, dir: dir, repeats: o.repeats}
	takes, err := s.takes(ctx, o)
	if err != nil {
		return err
	}
	var results []result
	for _, t := range takes {
		res := result{Take: t.name, Frames: t.frames}
		for _, set := range settings() {
			if set.Feed == feedYUV && !only.MatchString(set.Name) {
				continue
			}
			f, err := s.measure(ctx, set, t)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.name, set.Name, err)
			}
			fmt.Fprintf(os.Stderr, "%s: %s %+v\n", t.name, set.Name, f)
			res.Rows = append(res.Rows, row{set, f})
		}
		results = append(results, res)
	}
	printTables(os.Stdout, results)
	return gauge.Save(o.jsonFile, results)
}

// takes draws the takes, or takes those that were named.
func (s study) takes(ctx context.Context, o options) ([]take, error) {
	var all []take
	for _, path := range o.takes {
		t, err := s.open(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("take %s: %w", path, err)
		}
		all = append(all, t)
	}
	if len(all) > 0 {
		return all, nil
	}
	for _, d := range drawn() {
		fmt.Fprintln(os.Stderr, "drawing", d.name)
		path := s.dir + "/" + strings.ReplaceAll(d.name, " ", "-") + ".mkv"
		if err := s.draw(ctx, path, d, o.frames); err != nil {
			return nil, fmt.Errorf("draw %s: %w", d.name, err)
		}
		t, err := s.open(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("take %s: %w", d.name, err)
		}
		t.name = d.name
		all = append(all, t)
	}
	return all, nil
}
