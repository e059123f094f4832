package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// request is one attack on the gateway. In Raw {{token}} stands for the job's
// token, {{length}} for the body's length, {{fill}} for Fill letters and
// {{deep}} for Fill opening brackets.
type request struct {
	ID    string
	Raw   []byte
	Fill  int
	Times int // at once; 0: once
	// Seconds, unless 0, is for how long it is sent as fast as can be.
	Seconds int
	// Read is how many bytes of the answer are read before the connection is
	// closed; 0: all.
	Read int
	// Slow sends the first half of the request and then nothing.
	Slow bool
	// By is "loopback" to go by the runner's forwarder instead of the socket.
	By string
	// Secrets are words, written backwards so that they are not in this file,
	// that no answer may hold.
	Secrets []string
}

const door = "/run/proofreel/door.sock"

func requests(path string) error {
	var list []request
	if err := load(path, &list); err != nil {
		return err
	}
	var order struct {
		Token string `json:"token"`
	}
	if err := load("/work/job.json", &order); err != nil {
		return err
	}
	var slow sync.WaitGroup
	var out sync.Mutex
	tell := func(id, text string) {
		out.Lock()
		defer out.Unlock()
		say(id, "%s", text)
	}
	for _, r := range list {
		raw := r.bytes(order.Token)
		if r.Slow {
			slow.Go(func() { tell(r.ID, r.send(raw[:len(raw)/2])) })
			continue
		}
		if r.Seconds > 0 {
			tell(r.ID, r.flood(raw))
			continue
		}
		if r.Times > 1 {
			tell(r.ID, r.crowd(raw))
			continue
		}
		tell(r.ID, r.send(raw))
		time.Sleep(60 * time.Millisecond) // the gateway sells so many a second
	}
	slow.Wait()
	return nil
}

func (r request) bytes(token string) []byte {
	head, body, _ := bytes.Cut(r.Raw, []byte("\r\n\r\n"))
	body = bytes.ReplaceAll(body, []byte("{{fill}}"), bytes.Repeat([]byte("a"), r.Fill))
	body = bytes.ReplaceAll(body, []byte("{{deep}}"), bytes.Repeat([]byte("["), r.Fill))
	head = bytes.ReplaceAll(head, []byte("{{fill}}"), bytes.Repeat([]byte("a"), r.Fill))
	head = bytes.ReplaceAll(head, []byte("{{token}}"), []byte(token))
	if cut := strings.LastIndexByte(token, '.'); cut > 0 {
		head = bytes.ReplaceAll(head, []byte("{{claims}}"), []byte(token[:cut]))
		head = bytes.ReplaceAll(head, []byte("{{mac}}"), []byte(token[cut+1:]))
	}
	head = bytes.ReplaceAll(head, []byte("{{length}}"), []byte(strconv.Itoa(len(body))))
	return slices.Concat(head, []byte("\r\n\r\n"), body)
}

func (r request) dial() (net.Conn, error) {
	var d net.Dialer
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if r.By != "loopback" {
		return d.DialContext(ctx, "unix", door) //nolint:wrapcheck // printed
	}
	for _, port := range []string{"80", "8080"} {
		if c, err := d.DialContext(ctx, "tcp", "llm.internal:"+port); err == nil {
			return c, nil
		}
	}
	return nil, errors.New("no forwarder")
}

// send sends the bytes and gives the status, and the rule that refused them.
func (r request) send(raw []byte) string {
	c, err := r.dial()
	if err != nil {
		return err.Error()
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(45 * time.Second))
	if _, err := c.Write(raw); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		// An answer may have come before all was taken.
		_ = err
	}
	if r.Read > 0 {
		n, err := io.ReadFull(c, make([]byte, r.Read))
		return fmt.Sprintf("left after %d %v", n, err == nil)
	}
	began := time.Now()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		if r.Slow && time.Since(began) < 40*time.Second {
			return "cut"
		}
		return "no answer"
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	text := strconv.Itoa(resp.StatusCode)
	if rule := resp.Header.Get("X-Proofreel-Rule"); rule != "" {
		text += " " + rule
	}
	if resp.StatusCode >= 400 && resp.Header.Get("X-Proofreel-Rule") != "" && !bytes.Contains(body, []byte(`"type":"error"`)) {
		text += " unreadable"
	}
	if err != nil {
		text += " cut"
	}
	var all bytes.Buffer
	_ = resp.Header.Write(&all)
	all.Write(body)
	for _, s := range r.Secrets {
		if bytes.Contains(all.Bytes(), []byte(backwards(s))) {
			text += " LEAK"
		}
	}
	if len(resp.Header.Values("Set-Cookie"))+len(resp.Header.Values("Anthropic-Organization-Id")) > 0 {
		text += " HEADERS"
	}
	if bytes.Contains(body, []byte("event: error")) {
		text += " event-error"
	}
	return text
}

// crowd sends the same many times at once and counts the answers.
func (r request) crowd(raw []byte) string {
	var mu sync.Mutex
	var all sync.WaitGroup
	count := map[string]int{}
	for range r.Times {
		all.Go(func() {
			got := r.send(raw)
			mu.Lock()
			defer mu.Unlock()
			count[got]++
		})
	}
	all.Wait()
	var keys []string
	for k, n := range count {
		keys = append(keys, fmt.Sprintf("%s x%d", k, n))
	}
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}

// flood sends the same for a while and gives how many answers came.
func (r request) flood(raw []byte) string {
	var all sync.WaitGroup
	var answers atomic.Int64
	end := time.Now().Add(time.Duration(r.Seconds) * time.Second)
	for range 16 {
		all.Go(func() {
			for time.Now().Before(end) {
				if got := r.send(raw); got[0] >= '1' && got[0] <= '5' {
					answers.Add(1)
				}
			}
		})
	}
	all.Wait()
	return strconv.FormatInt(answers.Load(), 10)
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
