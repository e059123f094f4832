// Command gatewayd is a gateway with one job in a process of its own, for
// tests that kill it. It prints the job's token and serves until its standard
// input ends; then it prints the job's statement as the ledger has it.
package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway"
	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gatewayd:", err)
		os.Exit(1)
	}
}

func run() error {
	socket := flag.String("socket", "", "the job's door")
	dir := flag.String("dir", "", "where the journals are")
	upstream := flag.String("upstream", "", "address of the provider")
	model := flag.String("model", "", "the job's model, which costs $1 and $5 for a million tokens")
	budget := flag.Int64("budget", 0, "micro-dollars")
	flag.Parse()

	prices, err := price.Default()
	if err == nil {
		prices, err = prices.With(price.Model{Name: *model, MaxOutput: 100_000, Rates: price.Rates{
			Input: 1_000_000, Write5m: 1_250_000, Write1h: 2_000_000, Read: 100_000, Output: 5_000_000,
		}})
	}
	if err != nil {
		return fmt.Errorf("prices: %w", err)
	}
	g, err := gateway.New(gateway.Config{
		Upstream: gateway.Upstream{BaseURL: *upstream, Key: gateway.NewSecret("key")}, Dir: *dir, Prices: &prices,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return fmt.Errorf("make the gateway: %w", err)
	}
	l, err := net.Listen("unix", *socket) //nolint:noctx // at once
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	job, err := g.Open(gateway.JobConfig{
		ID: "crash", Model: *model, Budget: ledger.Micros(*budget), Calls: 100, Expiry: time.Now().Add(time.Hour),
	}, l)
	if err != nil {
		return fmt.Errorf("open the door: %w", err)
	}
	fmt.Println(job.Token())
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Printf("%+v\n", job.Close().Statement)
	return nil
}
