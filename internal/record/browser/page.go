package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mayHoldSecret says whether an address may hold what no other user should
// read: a password, or a token behind ? or #.
func mayHoldSecret(page string) bool {
	u, err := url.Parse(page)
	return err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != ""
}

// withoutPage takes the address out of a text where it may hold a secret.
func withoutPage(text, page string) string {
	if page == "" || !mayHoldSecret(page) {
		return text
	}
	text = strings.ReplaceAll(text, page, "[the page]")
	if u, err := url.Parse(page); err == nil && u.User != nil {
		text = strings.ReplaceAll(text, u.User.String()+"@", "[redacted]@")
	}
	return text
}

// openAtStart has a fresh profile open a page by itself: an argument can be
// read by every user of the machine for as long as the browser runs. The
// settings are those of "On startup: open a specific page" (restore_on_startup
// 4 in session_startup_pref.h of Chromium).
func openAtStart(profile, page string) error {
	settings, err := json.Marshal(map[string]any{
		"session": map[string]any{"restore_on_startup": 4, "startup_urls": []string{page}},
	})
	if err != nil {
		return fmt.Errorf("write the browser's settings: %w", err)
	}
	dir := filepath.Join(profile, "Default")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the browser's settings: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Preferences"), settings, 0o600); err != nil {
		return fmt.Errorf("write the browser's settings: %w", err)
	}
	return nil
}

// probe is a look from outside whether a page can be reached at all. Plain
// Chromium does not tell, and films its error page.
type probe struct {
	cancel context.CancelFunc
	done   chan struct{}
	note   string // written before done is closed
}

// startProbe looks in the background. No request is made: a connection is
// opened and closed.
func startProbe(ctx context.Context, page string, env []string) *probe {
	ctx, cancel := context.WithCancel(ctx)
	p := &probe{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.note = unreachable(ctx, page, env)
	}()
	return p
}

// stop ends the look and gives what is to be said of it; empty: nothing, or
// nothing is known. It may be called again.
func (p *probe) stop() string {
	p.cancel()
	<-p.done
	return p.note
}

// unreachable says that a page certainly can't be reached. What is behind a
// proxy, or merely slow, is left to the browser.
func unreachable(ctx context.Context, page string, env []string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	const film = ": the film may show the browser's error page."
	switch u.Scheme {
	case "file":
		if _, err := os.Stat(u.Path); errors.Is(err, fs.ErrNotExist) {
			return "There is no file " + u.Path + film
		}
		return ""
	case "http", "https":
	default:
		return ""
	}
	host, port := u.Hostname(), u.Port()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		host = "localhost" // the browser asks no name server for these
	}
	if ip := net.ParseIP(host); proxied(env) && host != "localhost" && !ip.IsLoopback() {
		return ""
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	dialer := net.Dialer{Timeout: 2 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	var unknown *net.DNSError
	switch {
	case err == nil:
		_ = conn.Close()
		return ""
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return "No server has the name " + host + film
	case errors.Is(err, unix.ECONNREFUSED):
		return "Nothing listened at " + net.JoinHostPort(host, port) + " when the browser was started" + film
	default:
		return ""
	}
}

// proxied says whether the environment has the browser go through a proxy.
func proxied(env []string) bool {
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "auto_proxy"} {
		if variable(env, name) != "" {
			return true
		}
	}
	return false
}
