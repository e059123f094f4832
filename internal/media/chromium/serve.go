package chromium

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// answer decides on one request that the browser holds back: the caller's
// answer for what lies under its origin, and no for all else. The request's
// fate is the browser's to notice, so errors end here.
func (b *Browser) answer(m message) {
	var p struct {
		ID      string `json:"requestId"`
		Request struct {
			URL    string `json:"url"`
			Method string `json:"method"`
		} `json:"request"`
		Type string `json:"resourceType"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	b.mu.Lock()
	s := b.sessions[m.Session]
	b.mu.Unlock()
	ctx := context.Background() // the browser's end ends the call
	path, ours := strings.CutPrefix(p.Request.URL, b.o.Origin+"/")
	if !ours || b.o.Origin == "" || p.Request.Method != http.MethodGet {
		b.refuse(p.Request.URL, p.Type)
		refusal := map[string]any{"requestId": p.ID, "errorReason": "BlockedByClient"}
		_ = b.call(ctx, s, "Fetch.failRequest", refusal, nil)
		return
	}
	path, _, _ = strings.Cut(path, "?")
	res := Response{Status: http.StatusNotFound}
	if plain, err := url.PathUnescape(path); err == nil && b.o.Serve != nil {
		if got, ok := b.o.Serve("/" + plain); ok {
			res = got
		}
	}
	if res.Status == 0 {
		res.Status = http.StatusOK
	}
	headers := make([]map[string]string, 0, len(res.Header))
	for name, value := range res.Header {
		headers = append(headers, map[string]string{"name": name, "value": value})
	}
	_ = b.call(ctx, s, "Fetch.fulfillRequest", map[string]any{
		"requestId": p.ID, "responseCode": res.Status, "responseHeaders": headers,
		"body": base64.StdEncoding.EncodeToString(res.Body),
	}, nil)
}

func (b *Browser) refuse(address, typ string) {
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = u.Host
	}
	b.log.Warn("a request was refused", "host", host, "type", typ)
	if b.o.OnBlocked != nil {
		b.o.OnBlocked(Blocked{Host: host, Type: typ})
	}
}
