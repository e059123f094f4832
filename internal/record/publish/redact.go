package publish

import (
	"net/url"
	"regexp"
	"strings"
)

const redacted = "[redacted]"

// redactor takes secrets out of texts that others wrote.
type redactor struct{ values []string }

// newRedactor learns the secrets of an environment: the values of variables
// whose names say that they hold one.
func newRedactor(env []string) redactor {
	secret := regexp.MustCompile(`(?i)TOKEN|SECRET|PASS|KEY|AUTH|CREDENTIAL`)
	var r redactor
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		// A short value would blacken half of the text and is no secret.
		if len(value) >= 6 && secret.MatchString(name) {
			r.values = append(r.values, value)
		}
	}
	return r
}

// clean takes out the known secrets and what looks like one.
func (r redactor) clean(text string) string {
	for _, v := range r.values {
		text = strings.ReplaceAll(text, v, redacted)
		text = strings.ReplaceAll(text, url.QueryEscape(v), redacted)
	}
	text = redactURLs(text)
	// Tokens of uploads.sh: up_<workspace>_..., ups_<workspace>_...
	text = regexp.MustCompile(`\bups?_[a-z0-9-]+_[A-Za-z0-9_-]+`).ReplaceAllString(text, redacted)
	text = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}`).ReplaceAllString(text, "$1 "+redacted)
	text = regexp.MustCompile(`(?i)((?:token|secret|password|passwd|api[_-]?key|signature|credential)s?["']?\s*[=:]\s*["']?)[^\s"',;}&]+`).ReplaceAllString(text, "${1}"+redacted)
	return regexp.MustCompile(`(--token)[ =]\S+`).ReplaceAllString(text, "$1 "+redacted)
}

// redactURLs takes user names, passwords and queries out of addresses.
func redactURLs(text string) string {
	text = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)[^/\s"'<>@]+@`).ReplaceAllString(text, "${1}"+redacted+"@")
	return regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://[^\s"'<>?]*)\?[^\s"'<>]+`).ReplaceAllString(text, "${1}?"+redacted)
}
