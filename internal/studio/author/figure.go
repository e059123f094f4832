package author

import (
	"regexp"
	"strconv"
	"strings"
)

// figure is a number that the brief gives, with what it is about.
type figure struct {
	Value    float64 `json:"value"`
	Decimals int     `json:"decimals"`
	Prefix   string  `json:"prefix"`
	Suffix   string  `json:"suffix"`
	Label    string  `json:"label"`
}

var number = regexp.MustCompile(`(?i)(^|[\s(:=~])([$€£¥]?)(\d{1,3}(?:,\d{3})+|\d{1,9})(\.\d{1,2})?\s?(%|percent\b|x\b|×|ms\b|km\b|kg\b|GB\b|TB\b|MB\b|fps\b|k\b|m\b|bn\b|million\b|billion\b|thousand\b|seconds?\b|minutes?\b|hours?\b|days?\b|years?\b|°C?)?(?:$|[\s,.;:)!?])`)

// figures takes a sentence's number in. A sentence that is long, or whose
// number is a year, is none.
func (c *content) figures(s string) bool {
	m := number.FindStringSubmatchIndex(s)
	if m == nil || len([]rune(s)) > 60 || len(c.Figures) == mostFigures {
		return false
	}
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return s[m[2*i]:m[2*i+1]]
	}
	whole, fraction, unit := strings.ReplaceAll(group(3), ",", ""), group(4), strings.ToLower(group(5))
	value, err := strconv.ParseFloat(whole+fraction, 64)
	if err != nil || group(2) == "" && unit == "" && value >= 1900 && value <= 2100 {
		return false
	}
	// The number stands at the edge of its words, or it can't be taken out.
	from, to := m[6], m[1]
	if group(2) != "" {
		from = m[4]
	}
	for _, i := range []int{7, 9, 11} {
		if m[i] >= 0 {
			to = m[i]
		}
	}
	before, after := strings.Trim(s[:from], " :=~—–"), strings.Trim(s[to:], " :=~—–")
	if before != "" && after != "" {
		return false
	}
	if regexp.MustCompile(`(?i)^(?:st|nd|rd|th|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|am|pm|o.clock)`).MatchString(after) && group(2) == "" && unit == "" {
		return false // a date, or a time
	}
	label := regexp.MustCompile(`(?i)\s+(?:by|to|of|at|in|is|are|was|over|under|about|up|down)$|^(?:of|in|is|are|at|by|per)\s+`).ReplaceAllString(before+after, "")
	f := figure{Value: value, Prefix: group(2), Decimals: max(0, len(fraction)-1), Label: short(sentence(label), 34)}
	switch unit {
	case "percent":
		f.Suffix = "%"
	case "x", "×":
		f.Suffix = "×"
	case "%", "°", "°c", "k", "m", "bn":
		f.Suffix = map[string]string{"°c": "°C", "m": "M", "k": "k"}[unit]
		if f.Suffix == "" {
			f.Suffix = unit
		}
	case "":
	default:
		f.Suffix = " " + group(5)
	}
	if !hasLetter(f.Label) {
		return false
	}
	c.Figures = append(c.Figures, f)
	return true
}
