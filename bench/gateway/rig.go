package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway"
	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// rig is the provider, the plain proxy and the gateway, each on a socket.
type rig struct {
	dir             string
	up              *http.Server
	plain           *http.Server
	gate            *gateway.Gateway
	job             *gateway.Job
	toPlain, toOurs *http.Client
	conns           int
}

// kind is a kind of call.
type kind struct {
	name  string
	body  []byte
	paced int // calls a second when latency is measured: far from saturation
}

func kinds() []kind {
	call := func(member, content string) []byte {
		return []byte(`{"model":"bench","max_tokens":1000,` + member + `"messages":[{"role":"user","content":` + content + `}]}`)
	}
	text := `"` + strings.Repeat("two kilobytes ", 140) + `"`
	return []kind{
		{"2 KB", call("", text), 400},
		{"1 MB image", call("", `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+picture()+`"}}]`), 20},
		{"stream of 50 events", call(`"stream":true,`, text), 100},
	}
}

// picture is a PNG of about a megabyte that does not pack.
func picture() string {
	img := image.NewGray(image.Rect(0, 0, 1024, 768))
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: noise that is the same in each run
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // into memory
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func newRig(conns int) (*rig, error) {
	dir, err := os.MkdirTemp("", "bench-gateway-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	r := &rig{dir: dir, conns: conns}
	if err := r.start(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *rig) start() error {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	upstream := "http://" + l.Addr().String()
	r.up = &http.Server{Handler: provider()}
	go func() { _ = r.up.Serve(l) }()

	target, err := url.Parse(upstream)
	if err != nil {
		return fmt.Errorf("the provider's address: %w", err)
	}
	plain, err := gatewaytest.Socket(filepath.Join(r.dir, "plain"))
	if err != nil {
		return err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(target) },
		ErrorLog:      log.New(io.Discard, "", 0), // failures are counted by the client
		FlushInterval: -1,
		Transport:     &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256, DisableCompression: true},
	}
	r.plain = &http.Server{Handler: proxy}
	go func() { _ = r.plain.Serve(plain) }()

	if err := r.startGateway(upstream); err != nil {
		return err
	}
	r.toPlain, r.toOurs = gatewaytest.Client(filepath.Join(r.dir, "plain")), gatewaytest.Client(filepath.Join(r.dir, "ours"))
	return nil
}

func (r *rig) startGateway(upstream string) error {
	prices, err := price.Default()
	if err == nil {
		prices, err = prices.With(price.Model{Name: "bench", MaxOutput: 1000, Rates: price.Rates{
			Input: 1_000_000, Write5m: 1_250_000, Write1h: 2_000_000, Read: 100_000, Output: 5_000_000,
		}})
	}
	if err != nil {
		return fmt.Errorf("prices: %w", err)
	}
	r.gate, err = gateway.New(gateway.Config{
		Upstream: gateway.Upstream{BaseURL: upstream, Key: gateway.NewSecret("key")}, Dir: r.dir, Prices: &prices,
		Caps: gateway.Caps{InFlight: r.conns, Conns: r.conns, Rate: 1e9, Burst: 1e9},
	})
	if err != nil {
		return fmt.Errorf("make the gateway: %w", err)
	}
	ours, err := gatewaytest.Socket(filepath.Join(r.dir, "ours"))
	if err != nil {
		return err
	}
	r.job, err = r.gate.Open(gateway.JobConfig{
		ID: "bench", Model: "bench", Budget: ledger.Micros(math.MaxInt64), Calls: math.MaxInt, Expiry: time.Now().Add(24 * time.Hour),
	}, ours)
	if err != nil {
		return fmt.Errorf("open the door: %w", err)
	}
	return nil
}

func (r *rig) close() {
	if r.job != nil {
		r.job.Close()
		r.gate.Close()
	}
	for _, s := range []*http.Server{r.plain, r.up} {
		if s != nil {
			_ = s.Close()
		}
	}
	_ = os.RemoveAll(r.dir)
}

// provider answers at once, as the Messages API does.
func provider() http.Handler {
	whole := gatewaytest.Message("an answer", gatewaytest.Usage(500, 100)).Body
	deltas := make([]string, 44)
	for i := range deltas {
		deltas[i] = "some words of it "
	}
	stream := gatewaytest.Stream(gatewaytest.Usage(500, 1), gatewaytest.Usage(500, 100), deltas...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		body.Grow(int(max(0, r.ContentLength)) + bytes.MinRead)
		if _, err := body.ReadFrom(r.Body); err != nil {
			return
		}
		if !bytes.Contains(body.Bytes()[:min(body.Len(), 300)], []byte(`"stream":true`)) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(whole))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		for _, e := range stream.Events {
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Name, e.Data)
			_ = rc.Flush()
		}
	})
}
