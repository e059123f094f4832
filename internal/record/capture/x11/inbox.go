package x11

import (
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"
)

// inbox keeps what the X server told us, with its time, until the loop looks.
// Events are folded together, so that it never grows and its pump never waits:
// a pump that waited would hold up the replies behind the events.
type inbox struct {
	now  func() time.Duration
	root xproto.Window
	wake chan struct{} // something is in the box

	mu   sync.Mutex
	news news
}

// news is what has come since the last look.
type news struct {
	damaged     bool
	first, last time.Duration // of the damage
	resized     bool
	cursor      bool // the pointer has another shape
	askPointer  bool // nobody else tells where the pointer is
	lost        bool // the connection has ended
}

func newInbox(root xproto.Window, now func() time.Duration) *inbox {
	return &inbox{now: now, root: root, wake: make(chan struct{}, 1)}
}

// pump reads events until the connection ends.
func (b *inbox) pump(conn *xgb.Conn) {
	for {
		event, xerr := conn.WaitForEvent()
		if event == nil && xerr == nil {
			b.put(func(n *news) { n.lost = true })
			return
		}
		switch ev := event.(type) {
		case damage.NotifyEvent:
			b.damage(b.now())
		case xproto.ConfigureNotifyEvent:
			if ev.Window == b.root {
				b.put(func(n *news) { n.resized = true })
			}
		case xfixes.CursorNotifyEvent:
			b.put(func(n *news) { n.cursor = true })
		}
	}
}

// damage notes damage at the time at.
func (b *inbox) damage(at time.Duration) {
	b.put(func(n *news) {
		if !n.damaged {
			n.damaged, n.first = true, at
		}
		n.last = at
	})
}

func (b *inbox) put(change func(*news)) {
	b.mu.Lock()
	change(&b.news)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take empties the box, but for the loss of the connection, which stays.
func (b *inbox) take() news {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.news
	b.news = news{lost: n.lost}
	return n
}
