// Command capture compares our recorder with ffmpeg's x11grab: one run, one
// display, one page, the recorders taking turns. It prints a table and ratios
// and keeps the figures as JSON.
//
// Here live the stage (display, browser, the test rig's page), the recorders
// under test, the reading of what they used and the judging of their films. How
// to read the table is in docs/capture-bench.md. Nothing imports this package.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/proofreel/proofreel/bench/internal/gauge"
)

type options struct {
	product, jsonFile, only, films string
	seconds, runs                  int
	width, height                  int
}

func main() {
	gauge.Main("capture", func(ctx context.Context) error {
		if len(os.Args) > 1 && os.Args[1] == childCommand {
			return child(ctx, os.Args[2:])
		}
		return bench(ctx, parse())
	})
}

func parse() options {
	o := options{width: 1920, height: 1080}
	flag.StringVar(&o.product, "proofreel", "bin/proofreel", "the proofreel `binary` that is measured")
	flag.StringVar(&o.jsonFile, "json", "bench/out/capture.json", "where the figures go as JSON; empty for nowhere")
	flag.StringVar(&o.only, "only", "", "measure only cases whose `words` (workload/recorder, comma separated) are part of their name")
	flag.StringVar(&o.films, "films", "", "a `directory` for the films; empty: they are not kept")
	flag.IntVar(&o.seconds, "seconds", 3, "length of each measured window, 1 to 60; figures to publish: 10")
	flag.IntVar(&o.runs, "runs", 3, "how often each case is run, 1 to 50; figures to publish: 5 at least")
	flag.Parse()
	if flag.NArg() > 0 || o.seconds < 1 || o.seconds > 60 || o.runs < 1 || o.runs > 50 {
		flag.Usage()
		os.Exit(2)
	}
	return o
}

func bench(ctx context.Context, o options) error {
	cases := selected(allCases(), o.only)
	if len(cases) == 0 {
		return fmt.Errorf("no case is called like %q", o.only)
	}
	b, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	rows, err := b.measureAll(ctx, cases, o)
	if err != nil {
		return err
	}
	result := summarize(o, rows)
	result.print(os.Stdout)
	return gauge.Save(o.jsonFile, result)
}

// selected are the cases whose name holds one of the words.
func selected(all []benchCase, only string) []benchCase {
	if only == "" {
		return all
	}
	words := strings.Split(only, ",")
	return slices.DeleteFunc(all, func(c benchCase) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(c.name(), w) })
	})
}

// measureAll runs every case once, then every case again, and so on, so that
// what slows the machine for a while slows all recorders alike.
func (b *stage) measureAll(ctx context.Context, cases []benchCase, o options) ([]row, error) {
	var rows []row
	for n := range o.runs {
		for _, c := range cases {
			r, err := b.measure(ctx, c, n, o)
			if err != nil {
				return nil, fmt.Errorf("%s, run %d: %w", c.name(), n+1, err)
			}
			fmt.Fprintf(os.Stderr, "run %d of %d  %-32s cpu %.3f s/s  page %.1f fps  others %.2f cores\n",
				n+1, o.runs, c.name(), r.CPU, r.PageFPS, r.Others)
			rows = append(rows, r)
		}
	}
	return rows, nil
}
