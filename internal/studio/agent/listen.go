package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Bounds of what a box may make us do by reporting. The runner sends a record
// when something changes, at most ten a second.
const (
	reportPause = 10 * time.Millisecond // between two records that are taken in
	reportConns = 32                    // connections of one job
)

// readReports reads a connection's records until its end, until what comes is
// no record (ErrRecord), or until ctx ends. use is called by this goroutine, at
// most a hundred times a second, and not after an end phase. The connection is
// closed.
func readReports(ctx context.Context, conn net.Conn, use func(Report)) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	var rec [RecordBytes]byte
	for {
		_, err := io.ReadFull(conn, rec[:])
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("read reports: %w", ctx.Err())
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%w: a part of one", ErrRecord)
		case err != nil:
			return fmt.Errorf("read reports: %w", err)
		}
		r, err := ParseReport(rec[:])
		if err != nil {
			return err
		}
		if use(r); r.Phase.Ended() {
			return nil
		}
		select { // whoever sends faster waits
		case <-time.After(reportPause):
		case <-ctx.Done():
			return fmt.Errorf("read reports: %w", ctx.Err())
		}
	}
}

// ServeReports takes a job's connections one after the other, reads them, and
// owns the listener. It returns when ctx ends, after an end phase, or after so
// many connections that no runner of ours makes them; the error says which.
// What a box sends that is no report is passed over.
func ServeReports(ctx context.Context, l net.Listener, use func(Report)) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer func() { _ = l.Close() }()
	ended := false
	for range reportConns {
		conn, err := l.Accept()
		if err != nil {
			return errors.Join(ctx.Err(), fmt.Errorf("wait for reports: %w", err))
		}
		err = readReports(ctx, conn, func(r Report) {
			ended = ended || r.Phase.Ended()
			use(r)
		})
		switch {
		case ended:
			return nil
		case ctx.Err() != nil:
			return err
		}
	}
	return fmt.Errorf("%w: %d connections", ErrRecord, reportConns)
}
