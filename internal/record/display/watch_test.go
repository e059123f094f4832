package display

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A grabber that goes on with a dead screen's last picture is told by this
// channel alone, so it must close, and not before.
func TestWatch(t *testing.T) {
	ctx := testContext(t)
	d := start(t, ctx, testOptions(t, 320, 240))
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	ended, err := Watch(own, d.Name, d.Xauthority)
	if err != nil {
		t.Fatal(err)
	}
	lost, err := Watch(ctx, d.Name, d.Xauthority)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		t.Fatal("closed while the display is there")
	case <-lost:
		t.Fatal("closed while the display is there")
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	<-ended
	if err := d.Xvfb.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-lost
	var open *OpenError
	if _, err := Watch(ctx, ":4711", ""); !errors.As(err, &open) || open.Reason != NoDisplay {
		t.Errorf("Watch of no display: %v", err)
	}
	if _, err := Watch(ctx, "otherhost:0", ""); !errors.As(err, &open) || open.Reason != NotLocal {
		t.Errorf("Watch of another machine's display: %v", err)
	}
}
