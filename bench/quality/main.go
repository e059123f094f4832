// Command quality compares encoder settings on what recordings show: small text and
// coloured edges. It takes the test rig's page from a real browser, converts it to
// BT.709 in one step of its own, encodes a still and a scrolling take with each
// setting, decodes them and measures.
//
// Here live the settings under study, the measures and the table. The recorder's own
// profile is in the product and follows docs/encode-profile.md, which quotes this
// command's output; nothing imports this package.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/proofreel/proofreel/bench/internal/gauge"
)

// rate is the frame rate of both takes, in frames a second.
const rate = 60

type options struct {
	ffmpeg, chromium, jsonFile string
	seconds, repeats           int
}

func main() {
	var o options
	flag.StringVar(&o.ffmpeg, "ffmpeg", "ffmpeg", "the ffmpeg `binary`")
	flag.StringVar(&o.chromium, "chromium", "chromium", "the browser `binary`")
	flag.StringVar(&o.jsonFile, "json", "bench-quality.json", "where the figures go as JSON; empty for nowhere")
	flag.IntVar(&o.seconds, "seconds", 2, "length of each take, 1 to 10")
	flag.IntVar(&o.repeats, "repeats", 3, "encodes of each take, 1 to 10; the least CPU time counts")
	flag.Parse()
	if flag.NArg() > 0 || o.seconds < 1 || o.seconds > 10 || o.repeats < 1 || o.repeats > 10 {
		flag.Usage()
		os.Exit(2)
	}
	gauge.Main("quality", func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "bench-quality-")
	if err != nil {
		return fmt.Errorf("make a directory for the takes: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fmt.Fprintln(os.Stderr, "taking the page's pictures")
	pages, err := takePages(ctx, o.chromium, dir)
	if err != nil {
		return err
	}
	study := study{ffmpeg: o.ffmpeg, dir: dir, repeats: o.repeats}
	still, scroll := stillTake(pages, o.seconds*rate), scrollTake(pages, o.seconds*rate)
	result := result{Seconds: o.seconds}
	if result.PipeOnlyCPU, err = study.pipeOnly(ctx, still); err != nil {
		return fmt.Errorf("pipe alone: %w", err)
	}
	for _, s := range settings() {
		fmt.Fprintln(os.Stderr, s.Name)
		r := row{Setting: s}
		if r.Still, err = study.measure(ctx, s, still); err != nil {
			return fmt.Errorf("%s, still: %w", s.Name, err)
		}
		if r.Scroll, err = study.measure(ctx, s, scroll); err != nil {
			return fmt.Errorf("%s, scrolling: %w", s.Name, err)
		}
		result.Rows = append(result.Rows, r)
	}
	printTable(os.Stdout, result)
	return gauge.Save(o.jsonFile, result)
}
