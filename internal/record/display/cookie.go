package display

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// Families of addresses in an Xauthority file (Xauth.h of libXau).
const (
	familyLocal = 256
	familyWild  = 65535
)

const (
	cookieName  = "MIT-MAGIC-COOKIE-1"
	cookieBytes = 16
	// maxAuthority is the largest Xauthority file that is read.
	maxAuthority = 1 << 20
)

// authEntry is one entry of an Xauthority file.
type authEntry struct {
	family                uint16
	address, number, name string
	data                  []byte
}

func newCookie() []byte {
	c := make([]byte, cookieBytes)
	_, _ = rand.Read(c) // never fails (crypto/rand)
	return c
}

// writeAuthority writes an Xauthority file that only its owner can read.
func writeAuthority(path string, entries ...authEntry) error {
	var b bytes.Buffer
	field := func(s string) {
		_ = binary.Write(&b, binary.BigEndian, uint16(len(s)))
		b.WriteString(s)
	}
	for _, e := range entries {
		_ = binary.Write(&b, binary.BigEndian, e.family)
		field(e.address)
		field(e.number)
		field(e.name)
		field(string(e.data))
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the cookie file: %w", err)
	}
	return nil
}

// parseAuthority reads the entries of an Xauthority file.
func parseAuthority(raw []byte) ([]authEntry, error) {
	var out []authEntry
	field := func() (string, error) {
		if len(raw) < 2 {
			return "", io.ErrUnexpectedEOF
		}
		n := int(binary.BigEndian.Uint16(raw))
		if len(raw) < 2+n {
			return "", io.ErrUnexpectedEOF
		}
		s := string(raw[2 : 2+n])
		raw = raw[2+n:]
		return s, nil
	}
	for len(raw) > 0 {
		if len(raw) < 2 {
			return out, io.ErrUnexpectedEOF
		}
		e := authEntry{family: binary.BigEndian.Uint16(raw)}
		raw = raw[2:]
		var data string
		for _, dst := range []*string{&e.address, &e.number, &e.name, &data} {
			s, err := field()
			if err != nil {
				return out, fmt.Errorf("parse the cookie file: %w", err)
			}
			*dst = s
		}
		e.data = []byte(data)
		out = append(out, e)
	}
	return out, nil
}

// findCookie looks up the cookie of a local display the way libXau does: the
// first entry whose address and number fit. None found gives nil.
func findCookie(path, number, host string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the cookie file: %w", err)
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxAuthority))
	if err != nil {
		return nil, fmt.Errorf("read the cookie file %s: %w", path, err)
	}
	entries, err := parseAuthority(raw)
	for _, e := range entries {
		fits := e.family == familyWild || e.family == familyLocal && e.address == host
		if fits && (e.number == "" || e.number == number) && e.name == cookieName && len(e.data) == cookieBytes {
			return e.data, nil
		}
	}
	return nil, err
}

// writeServerCookie writes the file that the X server reads at its start.
func writeServerCookie(path string, cookie []byte) error {
	return writeAuthority(path, authEntry{family: familyWild, name: cookieName, data: cookie})
}

// writeClientCookie writes the file for clients: by host name, which is what
// libXau and xcb look for on a local socket, and for any host, so that it
// still fits when the host is renamed.
func writeClientCookie(path string, number int, cookie []byte) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read the host's name: %w", err)
	}
	n := strconv.Itoa(number)
	return writeAuthority(path,
		authEntry{family: familyLocal, address: host, number: n, name: cookieName, data: cookie},
		authEntry{family: familyWild, number: n, name: cookieName, data: cookie})
}
