package x11

import (
	"fmt"
	"reflect"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/shm"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"
)

// missing says why an extension is not there; nil: it is.
type missing struct{ xfixes, damage, shm error }

// initExtensions makes the server's extensions usable, and agrees on the
// versions without which XFIXES and DAMAGE take no other request.
func initExtensions(conn *xgb.Conn) missing {
	m := missing{
		xfixes: initExtension(conn, "XFIXES"),
		damage: initExtension(conn, "DAMAGE"),
		shm:    initExtension(conn, "MIT-SHM"),
	}
	if m.xfixes == nil {
		_, m.xfixes = xfixes.QueryVersion(conn, 5, 0).Reply()
	}
	if m.damage == nil {
		_, m.damage = damage.QueryVersion(conn, 1, 1).Reply()
	}
	if m.shm == nil {
		_, m.shm = shm.QueryVersion(conn).Reply()
	}
	return m
}

// initExtension does what the Init functions of xgb's packages do, but for one
// thing: they write into maps of the whole process, without a lock, also when
// it is all there already, while other connections read them at each event.
// Here only what is not there is written: by the first connection alone.
func initExtension(conn *xgb.Conn, name string) error {
	reply, err := xproto.QueryExtension(conn, uint16(len(name)), name).Reply()
	if err != nil {
		return fmt.Errorf("ask for %s: %w", name, err)
	}
	if !reply.Present {
		return fmt.Errorf("it has no %s", name)
	}
	conn.ExtLock.Lock()
	conn.Extensions[name] = reply.MajorOpcode
	conn.ExtLock.Unlock()
	for n, event := range xgb.NewExtEventFuncs[name] {
		if n += int(reply.FirstEvent); !same(xgb.NewEventFuncs[n], event) {
			xgb.NewEventFuncs[n] = event
		}
	}
	for n, failure := range xgb.NewExtErrorFuncs[name] {
		if n += int(reply.FirstError); !same(xgb.NewErrorFuncs[n], failure) {
			xgb.NewErrorFuncs[n] = failure
		}
	}
	return nil
}

// same compares functions.
func same(a, b any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}
