package gateway

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
)

// The real provider speaks TLS and HTTP/2; one whose certificate nobody signed
// gets neither the key nor the agent's text.
func TestTLS(t *testing.T) {
	up := gatewaytest.New(func(r gatewaytest.Request) gatewaytest.Reply {
		if r.Streaming() {
			return gatewaytest.Stream(gatewaytest.Usage(10, 1), gatewaytest.Usage(10, 20), "a")
		}
		return ok(r)
	})
	defer up.Close()
	server := httptest.NewUnstartedServer(up)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	stranger := open(t, options{config: func(c *Config) { c.Upstream.BaseURL, c.Upstream.Roots = server.URL, x509.NewCertPool() }})
	if r := stranger.post(pathMessages, ask(10)); r.rule() != "upstream_unreachable" || len(up.Seen()) != 0 {
		t.Errorf("%+v", r)
	}
	if s := stranger.spent(); s.Spent != 0 {
		t.Errorf("%+v", s)
	}
	d := open(t, options{config: func(c *Config) { c.Upstream.BaseURL, c.Upstream.Roots = server.URL+"/", roots }})
	for _, body := range []string{ask(100), askStream(100)} {
		if r := d.post(pathMessages, body); r.code != 200 || !strings.Contains(r.body, "usage") {
			t.Errorf("%+v", r)
		}
	}
	if s := d.spent(); s.Spent != 60+110 || len(up.Seen()) != 2 || up.Seen()[1].URI != pathMessages {
		t.Errorf("%+v, %+v", s, up.Seen())
	}
}

// A secret shows in nothing but what is meant to use it.
func TestSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	for _, c := range []struct {
		content string
		good    bool
	}{{" the-key \n", true}, {"", false}, {"\n", false}, {"two\nlines", false}} {
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := SecretFromFile(path)
		if (err == nil) != c.good || (c.good && s.Reveal() != "the-key") {
			t.Errorf("%q: %v", c.content, err)
		}
		if err != nil && strings.Contains(err.Error(), "two") {
			t.Errorf("the error tells: %v", err)
		}
	}
	s := NewSecret("the-key")
	raw, err := json.Marshal(map[string]any{"s": s, "p": &s})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(raw), fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q %x", s, s, s, s, s, s), fmt.Sprintf("%+v", struct{ S Secret }{s}), s.LogValue().String()} {
		if strings.Contains(text, "the-key") || strings.Contains(text, fmt.Sprintf("%x", "the-key")) {
			t.Errorf("it shows in %s", text)
		}
	}
	if _, err := SecretFromFile(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a key out of nothing")
	}
}

// An agent that opens connections and says nothing blocks its own door at
// most, and not for ever.
func TestConnectionsAreLimited(t *testing.T) {
	d := open(t, options{
		config: func(c *Config) { c.Timeouts.Header = time.Second },
		job:    func(j *JobConfig) { j.Caps = &Caps{Conns: 2} },
	})
	var held []net.Conn
	for range 2 {
		c, err := net.Dial("unix", d.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		held = append(held, c)
	}
	began := time.Now()
	if r := d.post(pathMessages, ask(10)); r.code != 200 {
		t.Errorf("%+v", r)
	}
	if waited := time.Since(began); waited < 500*time.Millisecond {
		t.Errorf("a third connection was served after %v beside %d", waited, len(held))
	}
}
