package gateway

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A job's token is
//
//	pf1.<job>.<model>.<expiry, unix seconds>.<MAC>
//
// job and model in base64url, and the MAC an HMAC-SHA256 of all before it. It
// names no algorithm: there is one. It is the second factor; the first is the
// job's own socket, on which no other job's token is taken.
const tokenVersion = "pf1"

// claims are what a token says.
type claims struct {
	job, model string
	expiry     time.Time
}

var errToken = errors.New("the token is not one of this job's")

// newKey makes a server's signing key.
func newKey() ([]byte, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make the signing key: %w", err)
	}
	return key, nil
}

func sign(key []byte, text string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func mint(key []byte, c claims) string {
	b64 := base64.RawURLEncoding
	text := strings.Join([]string{
		tokenVersion, b64.EncodeToString([]byte(c.job)), b64.EncodeToString([]byte(c.model)),
		strconv.FormatInt(c.expiry.Unix(), 10),
	}, ".")
	return text + "." + sign(key, text)
}

// verify gives a token's claims. It looks at the MAC before anything else, in
// constant time, and on the text: two spellings of one MAC are two tokens.
func verify(key []byte, token string, now time.Time) (claims, error) {
	cut := strings.LastIndexByte(token, '.')
	if cut < 0 || !hmac.Equal([]byte(sign(key, token[:cut])), []byte(token[cut+1:])) {
		return claims{}, errToken
	}
	f := strings.Split(token[:cut], ".")
	if len(f) != 4 || f[0] != tokenVersion {
		return claims{}, errToken
	}
	job, err1 := base64.RawURLEncoding.DecodeString(f[1])
	model, err2 := base64.RawURLEncoding.DecodeString(f[2])
	sec, err3 := strconv.ParseInt(f[3], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return claims{}, errToken
	}
	c := claims{string(job), string(model), time.Unix(sec, 0)}
	if !now.Before(c.expiry) {
		return claims{}, errToken
	}
	return c, nil
}
