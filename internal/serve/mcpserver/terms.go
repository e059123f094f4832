package mcpserver

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// terms puts a text of the command line into the tool's terms: its flags are
// the tool's arguments, its commands the tool's actions. What the tool lacks
// stays as it is.
func terms(s string) string {
	s = regexp.MustCompile(`--[a-z][a-z-]*[a-z]`).ReplaceAllStringFunc(s, func(flag string) string {
		name := camel(strings.TrimPrefix(flag, "--"))
		if name == "id" {
			return "recordingId"
		}
		if slices.Contains([]string{"url", "display", "size", "browser", "fps", "maxDuration", "name", "stills", "speed", "position"}, name) {
			return name
		}
		return flag
	})
	return regexp.MustCompile(`\bproofreel (start|step|result|status|stop|list|recover)\b`).ReplaceAllStringFunc(s, func(command string) string {
		name := strings.TrimPrefix(command, "proofreel ")
		if name == "recover" {
			name = "stop" // which does the same
		}
		return "action " + name
	})
}

// quote shows a foreign value in a message: in quotes, cut at 80 characters,
// without the password of a URL.
func quote(s string) string {
	s = regexp.MustCompile(`//[^/\s"]*@`).ReplaceAllString(s, "//***@")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:79]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
