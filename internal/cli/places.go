package cli

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/proofreel/proofreel/internal/fault"
)

type (
	address string // a URL that a browser may open
	server  string // the URL of an API, to which paths are added
	screen  string // new, current, or an X11 display's name
	target  string // where a film goes; the publishers know which there are
)

func (address) kind() string { return "url" }
func (server) kind() string  { return "url" }
func (screen) kind() string  { return "display" }
func (target) kind() string  { return "publish target" }

// Decode takes a URL. Its text is never shown: it may hold a password.
func (a *address) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	if err := t.checkLength(); err != nil {
		return err
	}
	if why := urlFault(t.value); why != "" {
		return fault.New(fault.InvalidValue,
			"Give a whole URL, such as http://localhost:3000 or file:///srv/page.html.", "%s: %s", t.where, why)
	}
	*a = address(t.value)
	return nil
}

// Decode takes the URL of a server. Its text is never shown, as above.
func (a *server) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	if err := t.checkLength(); err != nil {
		return err
	}
	why := urlFault(t.value)
	if u, err := url.Parse(t.value); err == nil {
		switch {
		case u.Scheme != "http" && u.Scheme != "https":
			why = "only http and https"
		case u.User != nil:
			why = "the URL holds a user or a password; the key comes from --key-file or PROOFREEL_UPSTREAM_KEY"
		case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
			why = "the URL has a query or a fragment, and paths are added to it"
		}
	}
	if why != "" {
		return fault.New(fault.InvalidValue, "Give a server's URL, such as http://localhost:8080 or https://models.example.org/api.", "%s: %s", t.where, why)
	}
	*a = server(t.value)
	return nil
}

// urlFault says what is wrong with a URL, or nothing.
func urlFault(s string) string {
	if strings.ContainsAny(s, " <>\"`{}|\\^") {
		return "the URL holds a character that must be percent-encoded"
	}
	u, err := url.Parse(s)
	if err != nil {
		return "this is no URL" // url's error would show the text
	}
	switch u.Scheme {
	case "http", "https":
		if u.Hostname() == "" {
			return "the URL has no host"
		}
		if p := u.Port(); p == "0" || len(p) > 5 || len(p) == 5 && p > "65535" {
			return "the URL's port is out of range"
		}
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return "a file URL can't name another machine"
		}
		if !path.IsAbs(u.Path) {
			return "a file URL needs an absolute path"
		}
	case "about":
		if u.Opaque == "" {
			return "the URL names no page"
		}
	case "":
		return "the URL has no scheme"
	default:
		return "the scheme " + quote(u.Scheme) + " is not allowed; http, https, file and about are"
	}
	return ""
}

// Decode takes a display's name.
func (d *screen) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	*d = screen(t.value)
	switch {
	case t.value == "new", t.value == "current", regexp.MustCompile(`^:[0-9]{1,5}(\.[0-9]{1,2})?$`).MatchString(t.value):
		return nil
	case t.value == "desktop", strings.HasPrefix(t.value, "wayland-"):
		return t.bad("Use new, or the X11 display of the session, such as :0.", "can't be filmed by this version: it films X11 on Linux")
	default:
		return t.bad("Use new, current, or a name such as :0.", "is no display")
	}
}

// Decode takes where to publish. start asks the publishers whether they can.
func (p *target) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	*p = target(t.value)
	return t.checkLength()
}
