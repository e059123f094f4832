package renderer

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
)

// PreviewOptions say what is shown, and where.
type PreviewOptions struct {
	Source
	Port int // on 127.0.0.1; 0: a free one
	// Ready is told the page's address once it can be opened. It may be nil.
	Ready func(url string)
}

// PreviewResult is the answer of scene preview, once it has ended.
type PreviewResult struct {
	Scene   string `json:"scene"`
	URL     string `json:"url"`
	Reloads int    `json:"reloads"` // times that the scene was saved meanwhile
}

//go:embed page
var page embed.FS

// The preview's policy: its own files and nothing else, in no other page.
const previewPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Preview shows a scene on a page of this machine until ctx ends, which is its
// ordinary end. The page's address holds a secret: other users of this machine,
// and other pages in the same browser, can't open it.
func (s *Studio) Preview(ctx context.Context, o PreviewOptions) (PreviewResult, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return PreviewResult{}, fault.Wrap(err, fault.InvalidValue, "Choose another --port, or none.", "port %d can't be used", o.Port)
	}
	secret := make([]byte, 18)
	_, _ = rand.Read(secret) // it never fails, by its documentation
	token := base64.RawURLEncoding.EncodeToString(secret)
	url := fmt.Sprintf("http://%s/%s/", listener.Addr(), token)

	ctx, cancel := context.WithCancel(ctx)
	v := newViewer(s, o.Source)
	server := &http.Server{
		Handler:           guarded(v.handler(), listener.Addr().String(), token),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		v.watch(ctx)
	}()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if o.Ready != nil {
		o.Ready(url)
	}
	select {
	case <-ctx.Done():
	case err = <-served:
	}
	cancel() // streams end with it
	err = errors.Join(err, server.Close())
	<-watched
	v.close()
	if err != nil {
		return PreviewResult{}, fmt.Errorf("serve the preview: %w", err)
	}
	return PreviewResult{Scene: o.Scene, URL: url, Reloads: v.reloads()}, nil
}

// guarded lets in who knows the token and asks for this very address: a page
// that has its own name point to 127.0.0.1 asks for that name.
func guarded(inner http.Handler, host, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", previewPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		prefix := "/" + token + "/"
		path := r.URL.Path
		known := len(path) >= len(prefix) && subtle.ConstantTimeCompare([]byte(path[:len(prefix)]), []byte(prefix)) == 1
		if r.Host != host || !known || r.Method != http.MethodGet {
			http.NotFound(w, r)
			return
		}
		http.StripPrefix(prefix[:len(prefix)-1], inner).ServeHTTP(w, r)
	})
}
