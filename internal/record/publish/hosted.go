package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Bounds of a look at the hosted film.
const (
	lookTimeout  = 30 * time.Second
	maxRedirects = 3
)

// checkHosted looks at the hosted film as a player would: HEAD gives 200,
// video/mp4 and the film's length, and ranges work, so that it can be seeked.
// Failures of the network and of the server are *transient.
func (u uploads) checkHosted(ctx context.Context, address string, f Film) error {
	at, err := publicURL(address)
	if err != nil {
		return err
	}
	head, err := u.look(ctx, http.MethodHead, at)
	if err != nil {
		return err
	}
	if head.status != http.StatusOK {
		return statusError("HEAD", head)
	}
	media, _, err := mime.ParseMediaType(head.header.Get("Content-Type"))
	if err != nil || media != "video/mp4" {
		return fmt.Errorf("the hosted film has the content type %q, not video/mp4", head.header.Get("Content-Type"))
	}
	if e := head.header.Get("Content-Encoding"); e != "" && e != "identity" {
		return fmt.Errorf("the hosted film has the content encoding %q", e)
	}
	if head.length != f.Bytes {
		return fmt.Errorf("the hosted film has the length %d, not %d", head.length, f.Bytes)
	}
	if strings.EqualFold(strings.TrimSpace(head.header.Get("Accept-Ranges")), "bytes") {
		return nil
	}
	return u.checkRange(ctx, at, f)
}

// checkRange asks for the first byte: a server may serve ranges and not say so.
func (u uploads) checkRange(ctx context.Context, at *url.URL, f Film) error {
	got, err := u.look(ctx, http.MethodGet, at)
	if err != nil {
		return err
	}
	want := "bytes 0-0/" + strconv.FormatInt(f.Bytes, 10)
	switch {
	case got.status == http.StatusOK:
		return errors.New("the host of the film serves no ranges, so it can't be seeked")
	case got.status != http.StatusPartialContent:
		return statusError("GET of a range", got)
	case got.header.Get("Content-Range") != want:
		return fmt.Errorf("the host answers a range with %q, not %q", got.header.Get("Content-Range"), want)
	}
	return nil
}

// answer is what matters of a response.
type answer struct {
	status int
	header http.Header
	length int64 // -1: not said
	moved  *url.URL
}

// look makes a request. Redirects are followed by hand: each address on the
// way must be one that may be given to anybody.
func (u uploads) look(ctx context.Context, method string, at *url.URL) (answer, error) {
	client := *u.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	for range maxRedirects + 1 {
		var got answer
		err := beating(u.Beat, lookTimeout, func() (err error) {
			got, err = once(ctx, &client, method, at)
			return err
		})
		if err != nil {
			return answer{}, err
		}
		switch got.status {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return got, nil
		}
		if got.moved == nil {
			return answer{}, fmt.Errorf("%s %s: a redirect to nowhere", method, redactURLs(at.String()))
		}
		if at, err = publicURL(got.moved.String()); err != nil {
			return answer{}, fmt.Errorf("a redirect: %w", err)
		}
	}
	return answer{}, fmt.Errorf("more than %d redirects", maxRedirects)
}

// once makes one request; of the body no more than a byte is read.
func once(ctx context.Context, client *http.Client, method string, at *url.URL) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, at.String(), nil)
	if err != nil {
		return answer{}, fmt.Errorf("look at the hosted film: %w", err)
	}
	req.Header.Set("Accept-Encoding", "identity") // a compressed answer has another length
	req.Header.Set("User-Agent", "proofreel")
	if method == http.MethodGet {
		req.Header.Set("Range", "bytes=0-0")
	}
	res, err := client.Do(req)
	if err != nil {
		return answer{}, &transient{err: fmt.Errorf("look at the hosted film: %w", err)}
	}
	defer func() { _ = res.Body.Close() }()
	if method == http.MethodGet {
		_, _ = io.CopyN(io.Discard, res.Body, 1)
	}
	moved, err := res.Location()
	if err != nil {
		moved = nil // no redirect, or one to nowhere
	}
	return answer{status: res.StatusCode, header: res.Header, length: res.ContentLength, moved: moved}, nil
}

// statusError is *transient for a server's fault and for too many requests.
func statusError(what string, got answer) error {
	err := fmt.Errorf("%s of the hosted film gives %d %s", what, got.status, http.StatusText(got.status))
	if got.status >= 500 || got.status == http.StatusTooManyRequests {
		return &transient{err: err, after: retryAfter(got.header.Get("Retry-After"), time.Now())}
	}
	return err
}

// retryAfter reads the header's two forms (RFC 9110, 10.2.3): seconds or a
// date. Nonsense and the past are 0.
func retryAfter(value string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
		return time.Duration(min(max(n, 0), 86400)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
