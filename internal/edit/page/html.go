package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed page.css
var styleSheet string

//go:embed page.js
var script string

// MaxHTML is what a page stays under, in bytes.
const MaxHTML = 64 << 10

// HTML returns the page: one file that shows the video beside it, by name.
// It works from file: and in a sandboxed frame, asks the network for nothing
// else, and stays under MaxHTML whatever the steps are: with very many, texts
// are shortened first, then steps that passed are left to the transcript.
func HTML(c Clip) []byte {
	for _, limit := range []int{maxText, 400, 160, 80, 40} {
		c = shorten(c, limit)
		if page := render(c, len(c.Steps)); len(page) < MaxHTML {
			return page
		}
	}
	fits, over := 0, len(c.Steps) // rows that are known to fit, and not to
	for over-fits > 1 {
		if middle := (fits + over) / 2; len(render(c, middle)) < MaxHTML {
			fits = middle
		} else {
			over = middle
		}
	}
	return render(c, fits)
}

// shorten returns the clip with texts that may be shown, of at most limit
// characters.
func shorten(c Clip, limit int) Clip {
	c.Title = plain(c.Title, min(limit, 200))
	steps := make([]Step, len(c.Steps))
	for i, s := range c.Steps {
		s.Name, s.Result = plain(s.Name, limit), plain(s.Result, limit)
		steps[i] = s
	}
	c.Steps = steps
	return c
}

// render writes the page of a shortened clip with at most so many rows.
func render(c Clip, rows int) []byte {
	var b strings.Builder
	title := text(c.Title)
	// Media may come from anywhere, because 'self' is nothing in a frame of
	// opaque origin; what the page names is beside it all the same.
	fmt.Fprintf(&b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'; media-src * file: blob:; img-src * file: data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>%s</title>
<style>%s</style>
</head>
<body>
<main>
<header>
<h1><bdi>%s</bdi></h1>
%s</header>
<figure>
%s</figure>
`, hash(styleSheet), hash(script), title, styleSheet, title, badges(c), video(c))
	list(&b, c, rows)
	fmt.Fprintf(&b, `</main>
<footer><p><kbd>Space</kbd> play <kbd>←</kbd><kbd>→</kbd> 5 s <kbd>P</kbd><kbd>N</kbd> previous and next step <kbd>F</kbd> full screen</p></footer>
<script>%s</script>
</body>
</html>
`, script)
	return []byte(b.String())
}

// text escapes what stands between tags. Quotes may stay there, and in a page
// of bounded size they do.
func text(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// hash is a source expression of Content Security Policy.
func hash(asset string) string {
	sum := sha256.Sum256([]byte(asset))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// beside makes an address of a file's name that can't be a scheme, a host or
// another folder.
func beside(name string) string {
	return html.EscapeString("./" + url.PathEscape(path.Base("/"+name)))
}

func video(c Clip) string {
	poster := ""
	if c.Poster != "" {
		poster = fmt.Sprintf(` poster="%s"`, beside(c.Poster))
	}
	return fmt.Sprintf(`<video src="%s"%s width="%d" height="%d" autoplay muted loop controls playsinline preload="metadata" tabindex="0"><a href="%[1]s">%[5]s</a></video>
`, beside(c.Video), poster, max(c.Width, 1), max(c.Height, 1), text(plain(path.Base("/"+c.Video), 200)))
}

// badges is the line that says what the clip shows.
func badges(c Clip) string {
	passed, failed := c.count()
	var all []string
	add := func(class, format string, args ...any) {
		all = append(all, fmt.Sprintf(`<li class="%s">`, class)+fmt.Sprintf(format, args...)+"</li>")
	}
	if failed > 0 {
		add("failed", "✗ %d failed", failed)
	}
	if passed > 0 {
		add("passed", "✓ %d passed", passed)
	}
	length := clock(c.Length)
	if c.Recording > c.Length {
		length += " of " + clock(c.Recording)
	}
	add("", "%s", length)
	if c.Cut >= time.Second {
		add("", "%s of stillness cut", clock(c.Cut))
	}
	if c.Speed > 1 {
		add("", "%d×", c.Speed)
	}
	if c.Size > 0 {
		add("", "%s", size(c.Size))
	}
	if t := c.moment(0); t != nil {
		add("", `<time datetime="%s">%s UTC</time>`, t.Format(time.RFC3339), t.Format("2 Jan 2006, 15:04"))
	}
	return `<ul class="badges">` + strings.Join(all, "") + "</ul>\n"
}

func size(n int64) string {
	switch {
	case n < 1000*1000:
		return strconv.FormatInt((n+999)/1000, 10) + " kB"
	default:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
	}
}

// list writes the steps. Where rows are fewer, those that failed stay, and of
// the others the first.
func list(b *strings.Builder, c Clip, rows int) {
	if len(c.Steps) == 0 {
		return
	}
	_, failed := c.count()
	others := max(rows-failed, 0)
	b.WriteString("<ol>\n")
	left, written := 0, 0
	for i, s := range c.Steps {
		switch {
		case s.Outcome == Failed && written < rows:
		case s.Outcome != Failed && others > 0:
			others--
		default:
			left++
			continue
		}
		gap(b, left)
		left = 0
		written++
		row(b, c, i)
	}
	gap(b, left)
	if written < len(c.Steps) && c.Transcript != "" {
		fmt.Fprintf(b, `<li class="gap">All steps are in <a href="%s">the transcript</a>.</li>`+"\n", beside(c.Transcript))
	}
	b.WriteString("</ol>\n")
}

func gap(b *strings.Builder, left int) {
	if left > 0 {
		fmt.Fprintf(b, `<li class="gap">%d more</li>`+"\n", left)
	}
}

func row(b *strings.Builder, c Clip, i int) {
	s := c.Steps[i]
	fmt.Fprintf(b, `<li class="%s" value="%d"><button type="button" data-t="%s"><b>%s</b><span><bdi>%s</bdi>`,
		s.Outcome, i+1, strconv.FormatFloat(seconds(max(s.From, 0)), 'f', -1, 64), clock(s.From), text(s.Name))
	if s.Outcome != Open {
		fmt.Fprintf(b, `<i>%s <bdi>%s</bdi></i>`, mark(s.Outcome), text(s.Result))
	}
	b.WriteString("</span>")
	if t := c.moment(s.At); t != nil {
		fmt.Fprintf(b, `<time datetime="%s">%s</time>`, t.Format(time.RFC3339), t.Format("15:04:05"))
	} else {
		fmt.Fprintf(b, `<time datetime="PT%dS">+%s</time>`, int(max(s.At, 0)/time.Second), clock(s.At))
	}
	b.WriteString("</button></li>\n")
}
