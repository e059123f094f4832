// Command beaconread says which painted frames of the test rig a film holds, which
// more than once, and which are missing. It judges nothing: its exit code is 1 only
// when the film cannot be read.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/proofreel/proofreel/web/rig/beacon"
)

func main() {
	asJSON := flag.Bool("json", false, "print the whole report as one JSON object")
	ffmpeg := flag.String("ffmpeg", "ffmpeg", "the ffmpeg `binary`, 5.1 or later")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: beaconread [-json] [-ffmpeg BINARY] FILM")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Stdout, *ffmpeg, flag.Arg(0), *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "beaconread:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, ffmpeg, film string, asJSON bool) error {
	report, err := beacon.Scan(ctx, ffmpeg, film)
	if err != nil {
		return err
	}
	if !asJSON {
		_, err = fmt.Fprintln(out, report)
		return err
	}
	return json.NewEncoder(out).Encode(report)
}
