package author

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// content is what a film says: the brief's own words, in parts.
type content struct {
	Kicker  string   `json:"kicker"` // what kind of film; may be empty
	Title   string   `json:"title"`
	Lead    string   `json:"lead"` // one sentence below it; may be empty
	Points  []string `json:"points"`
	Figures []figure `json:"figures"`
	Closing string   `json:"closing"`
}

// Bounds of a film's texts.
const (
	mostTitle   = 56 // characters
	mostLead    = 110
	mostPoint   = 84
	mostPoints  = 8
	mostFigures = 5
)

// read takes a brief apart.
func (a *Author) read(brief string) content {
	var c content
	var rest []string
	for line := range strings.SplitSeq(a.tidy(brief), "\n") {
		if key, value, ok := keyed(line); ok {
			c.set(key, value)
			continue
		}
		item := regexp.MustCompile(`^\s*(?:[-–—•·+]|\d{1,2}[.)])\s+`).ReplaceAllString(line, "")
		if item != line {
			rest = append(rest, item)
			continue
		}
		rest = append(rest, c.quotes(line))
	}
	clauses := clausesOf(rest)
	if len(clauses) > 0 {
		clauses = slices.Concat(c.open(clauses[0]), clauses[1:])
	}
	for _, s := range clauses {
		c.add(s)
	}
	return c.finish()
}

// keyed reads a line such as "Title: Lumen".
func keyed(line string) (key, value string, ok bool) {
	m := regexp.MustCompile(`(?i)^\s*(title|headline|name|subtitle|tagline|claim|slogan|closing|end card|style|mood|tone|colou?rs?|palette|music|format|aspect|length|duration|size|fonts?|audience)\s*:\s*(.+)$`).FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return strings.ToLower(m[1]), m[2], true
}

func (c *content) set(key, value string) {
	value = sentence(strings.Trim(value, "“”"))
	switch key {
	case "title", "headline", "name":
		c.Title = value
	case "subtitle", "tagline", "claim", "slogan":
		c.Lead = value
	case "closing", "end card":
		c.Closing = value
	default: // how it should look: not what it says
	}
}

// quotes takes what stands in quotation marks out of a line: those are texts
// that were ordered word by word.
func (c *content) quotes(line string) string {
	quoted := regexp.MustCompile(`[“«„]([^“”«»„]{2,90})[”»“]`)
	for _, m := range quoted.FindAllStringSubmatchIndex(line, -1) {
		before, text := strings.ToLower(line[:m[0]]), sentence(line[m[2]:m[3]])
		tail := before[max(0, len(before)-24):]
		switch {
		case c.Title == "" && len([]rune(text)) <= mostTitle:
			c.Title = text
		case regexp.MustCompile(`\b(?:end|ends|closing|close|finally|last)\b`).MatchString(tail):
			c.Closing = text
		default:
			c.Points = append(c.Points, text)
		}
	}
	return quoted.ReplaceAllString(line, " ")
}

// clausesOf splits lines at the ends of sentences and of their larger parts.
func clausesOf(lines []string) []string {
	var all []string
	for _, line := range lines {
		for s := range strings.SplitSeq(regexp.MustCompile(`([.!?…。！？])(?:\s+|$)`).ReplaceAllString(line, "$1\n"), "\n") {
			if strings.TrimSpace(s) != "" {
				all = append(all, strings.TrimSpace(s))
			}
		}
	}
	return all
}

// lead-ins: what an order says before it says what the film is about.
var (
	asks = regexp.MustCompile(`(?i)^(?:(?:please|kindly|can you|could you|i want|i need|i'd like|i’d like|we need|we want|make|create|generate|produce|design|build|animate|draw|give|do)\s+(?:me\s+|us\s+)?)+`)
	kind = regexp.MustCompile(`(?i)^(?:an?|the|my|our|one)?\s*((?:[\pL\d–-]+[\s,]+){0,5}?)(?:film|video|clip|animation|movie|trailer|teaser|promo|reel|ad|spot|loop|motion graphic|explainer)s?\b\s*(?:(?:for|about|of|on|that|which|to|with|showing|explaining|announcing|introducing|celebrating|presenting)\b\s*)?(?:(?:shows?|explains?|announces?|introduces?|celebrates?|presents?|says?|tells?)\s+(?:about\s+|that\s+)?)?[:,]?\s*`)
	call = regexp.MustCompile(`\b(?:called|named|titled|entitled)\s+((?:[\p{Lu}\d][\pL\d.+&’-]*\s?){1,4})`)
	head = regexp.MustCompile(`^((?:[\p{Lu}\d][\pL\d.+&’-]*\s?){1,4})(?:,|:|\s—)\s*(.+)$`)
)

// open reads the first sentence: it names the film's subject. What is left of
// it is given back.
func (c *content) open(s string) []string {
	s = asks.ReplaceAllString(s, "")
	s = regexp.MustCompile(`(?i)^(?:explain|show|tell|visuali[sz]e|announce|introduce|celebrate|present|describe)\s+(?:me\s+|us\s+|that\s+)?`).ReplaceAllString(s, "")
	if m := kind.FindStringSubmatch(s); m != nil {
		c.Kicker = kickerOf(m[1])
		s = s[len(m[0]):]
	}
	if m := call.FindStringSubmatchIndex(s); m != nil && c.Title == "" {
		c.Title = sentence(s[m[2]:m[3]])
		return slices.Concat([]string{sentence(s[:m[0]])}, parts(strings.TrimLeft(s[m[1]:], " ,:—")))
	}
	if c.Title != "" {
		return parts(s)
	}
	if m := head.FindStringSubmatch(s); m != nil {
		c.Title = sentence(m[1])
		return parts(m[2])
	}
	first, rest := s, ""
	if at := regexp.MustCompile(`[,:;(]|\s—\s|\s(?:that|which|where|with|because|so that|showing|including)\s`).FindStringIndex(s); at != nil && at[0] >= 3 {
		first, rest = s[:at[0]], regexp.MustCompile(`(?i)^\s*(?:that|which|where|with|showing|including)\s+`).ReplaceAllString(strings.TrimLeft(s[at[0]:], " ,:;(—"), "")
	}
	c.Title = sentence(first)
	if len([]rune(c.Title)) > mostTitle {
		c.Title = short(c.Title, mostTitle)
		return append([]string{first}, parts(rest)...)
	}
	return parts(rest)
}

// kickerOf keeps what a film is called for.
func kickerOf(adjectives string) string {
	known := []string{
		"launch", "product", "release", "explainer", "announcement", "report", "recap", "intro", "invitation", "birthday",
		"event", "conference", "festival", "welcome", "tutorial", "demo", "title", "news", "quarterly", "annual", "weekly", "science", "history",
	}
	var kept []string
	for _, w := range words(adjectives) {
		if slices.Contains(known, strings.ToLower(w)) {
			kept = append(kept, w)
		}
	}
	return sentence(strings.Join(kept, " "))
}

// parts splits a sentence that is long, or a list, at its commas.
func parts(s string) []string {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil
	}
	var all []string
	for p := range strings.SplitSeq(regexp.MustCompile(`\s—\s|;|:\s`).ReplaceAllString(s, "\n"), "\n") {
		commas := strings.Count(p, ", ")
		if commas >= 2 || commas == 1 && (len([]rune(p)) > 60 || number.MatchString(p)) {
			p = regexp.MustCompile(`,\s+(?:and\s+|or\s+)?`).ReplaceAllString(p, "\n")
		}
		all = append(all, strings.Split(p, "\n")...)
	}
	return all
}

// directions are about the film, not what it says.
var directions = regexp.MustCompile(`(?i)^(?:please|use|using|with|without|in the style|style|keep|make|avoid|no|not|colou?rs?|fonts?|background|music|sound|end|ends|start|starts|begin|open (?:with|on)|the (?:film|video|clip|animation|style|look|mood|background)|it should|should|must|don't|don’t|do not|let|have|add|include|show|display|(?:the )?text|vertical|square|landscape|portrait)\b`)

// add sorts a sentence in: a figure, the lead, or a point.
func (c *content) add(s string) {
	for _, p := range parts(s) {
		text := sentence(p)
		switch {
		case len(words(text)) == 0 || directions.MatchString(text) || strings.EqualFold(text, c.Title):
			continue
		case c.figures(text):
		case c.Lead == "" && len(c.Points) == 0 && len(words(text)) > 2:
			c.Lead = short(text, mostLead)
		case !slices.Contains(c.Points, text):
			c.Points = append(c.Points, short(text, mostPoint))
		}
	}
}

// finish fills what is empty and cuts what is too much.
func (c content) finish() content {
	c.Title = strings.TrimRight(c.Title, ",;:")
	if len(words(c.Title)) == 0 {
		c.Title = "Untitled"
		if len(c.Points) > 0 {
			c.Title, c.Points = c.Points[0], c.Points[1:]
		}
	}
	c.Title = short(c.Title, mostTitle)
	for i, p := range c.Points {
		c.Points[i] = short(p, mostPoint)
	}
	c.Points = c.Points[:min(len(c.Points), mostPoints)]
	c.Figures = c.Figures[:min(len(c.Figures), mostFigures)]
	if len(c.Figures) == 1 && c.Figures[0].Label == "" { // a number alone says nothing
		c.Figures = nil
	}
	c.Closing = short(c.Closing, mostTitle)
	if c.Points == nil {
		c.Points = []string{}
	}
	if c.Figures == nil {
		c.Figures = []figure{}
	}
	return c
}

// hasLetter says whether there is something to read.
func hasLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }
