package chromium

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// message is one message of the DevTools protocol, of either direction. On the
// pipe each ends with a zero byte (Chromium's devtools_pipe_handler.cc).
type message struct {
	ID      int64           `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    string `json:"data"`
	} `json:"error,omitempty"`
}

// into decodes the answer to a command.
func (m message) into(method string, result any) error {
	if m.Error != nil {
		text := m.Error.Message
		if m.Error.Data != "" {
			text += ": " + m.Error.Data
		}
		return &ProtocolError{Method: method, Code: m.Error.Code, Message: text}
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("read the answer to %s: %w", method, err)
	}
	return nil
}

// errPipe says that nothing can be sent any more.
var errPipe = errors.New("the pipe to the browser is closed")

// maxMessage is the longest message that is taken, in bytes. A frame of 4K as
// text has 44 MB.
const maxMessage = 128 << 20

// conn carries commands and their answers. Many goroutines may send.
type conn struct {
	in, out *os.File
	lost    chan struct{} // closed when nothing comes any more

	write   sync.Mutex // one message at a time
	mu      sync.Mutex
	last    int64
	pending map[int64]chan message
}

func newConn(in, out *os.File) *conn {
	return &conn{in: in, out: out, lost: make(chan struct{}), pending: map[int64]chan message{}}
}

// send sends a command. The answer comes on the channel; forget must be called
// when it is no longer waited for.
func (c *conn) send(session, method string, params any) (answer <-chan message, forget func(), err error) {
	m := message{Session: session, Method: method}
	if params != nil {
		if m.Params, err = json.Marshal(params); err != nil {
			return nil, nil, fmt.Errorf("write the parameters of %s: %w", method, err)
		}
	}
	ch := make(chan message, 1)
	c.mu.Lock()
	c.last++
	m.ID = c.last
	c.pending[m.ID] = ch
	c.mu.Unlock()
	forget = func() {
		c.mu.Lock()
		delete(c.pending, m.ID)
		c.mu.Unlock()
	}
	raw, err := json.Marshal(m)
	if err != nil {
		forget()
		return nil, nil, fmt.Errorf("write %s: %w", method, err)
	}
	c.write.Lock()
	_, err = c.out.Write(append(raw, 0))
	c.write.Unlock()
	if err != nil {
		forget()
		return nil, nil, fmt.Errorf("send %s: %w: %w", method, errPipe, err)
	}
	return ch, forget, nil
}

// read hands answers to those who wait and events to the function, until the
// pipe ends. A message that is no JSON is dropped: its command then runs into
// its deadline.
func (c *conn) read(event func(message)) {
	defer close(c.lost)
	r := bufio.NewReaderSize(c.in, 64<<10)
	var raw []byte
	for {
		part, err := r.ReadSlice(0)
		raw = append(raw, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(raw) < maxMessage {
			continue
		}
		if err != nil {
			return
		}
		var m message
		bad := json.Unmarshal(raw[:len(raw)-1], &m) != nil
		raw = raw[:0]
		if bad {
			continue
		}
		if m.ID == 0 {
			event(m)
			continue
		}
		c.mu.Lock()
		ch := c.pending[m.ID]
		delete(c.pending, m.ID)
		c.mu.Unlock()
		if ch != nil {
			ch <- m
		}
	}
}

// close ends the reading and every later send.
func (c *conn) close() { _, _ = c.in.Close(), c.out.Close() }
