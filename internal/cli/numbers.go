package cli

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

type (
	number   int           // a whole number from min to max
	fps      int           // frames a second from min to max; 0: auto
	duration time.Duration // from min to max
	size     int64         // bytes, from min to max
	geometry struct{ width, height int }
)

func (number) kind() string   { return "integer" }
func (fps) kind() string      { return "integer or auto" }
func (duration) kind() string { return "duration" }
func (size) kind() string     { return "size" }
func (geometry) kind() string { return "WIDTHxHEIGHT" }

// intTag reads a number of the tree; the tests read every one.
func intTag(tag *kong.Tag, name string) int {
	n, err := strconv.Atoi(tag.Get(name))
	if err != nil {
		panic("the command tree has a wrong tag " + name + ": " + err.Error())
	}
	return n
}

// rangeHint says which values are allowed.
func (t taken) rangeHint() string {
	return fmt.Sprintf("Use %s to %s.", t.tag.Get("min"), t.tag.Get("max"))
}

// whole reads a whole number within the tags min and max.
func (t taken) whole() (int, error) {
	if !regexp.MustCompile(`^-?[0-9]+$`).MatchString(t.value) {
		return 0, t.bad(t.rangeHint(), "is no whole number")
	}
	n, err := strconv.Atoi(t.value)
	if err != nil || n < intTag(t.tag, "min") || n > intTag(t.tag, "max") {
		return 0, t.bad(t.rangeHint(), "is out of range")
	}
	return n, nil
}

// Decode takes a whole number.
func (n *number) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	v, err := t.whole()
	*n = number(v)
	return err
}

// Decode takes a number of frames a second, or auto.
func (f *fps) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	if t.value == "auto" {
		*f = 0
		return nil
	}
	v, err := t.whole()
	*f = fps(v)
	return err
}

// Decode takes a duration with units, such as 90s, 1h30m or 7d.
func (d *duration) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	v, ok := parseDuration(t.value)
	if !ok {
		return t.bad("Give a number and a unit, such as 90s, 30m, 2h or 7d.", "is no duration")
	}
	low, _ := parseDuration(t.tag.Get("min"))
	high, _ := parseDuration(t.tag.Get("max"))
	if v < low || v > high {
		return t.bad(t.rangeHint(), "is out of range")
	}
	*d = duration(v)
	return nil
}

// parseDuration reads Go's durations, and days: 7d, 1d12h.
func parseDuration(s string) (time.Duration, bool) {
	var days time.Duration
	if head, tail, found := strings.Cut(s, "d"); found {
		n, err := strconv.Atoi(head)
		if err != nil || n < 0 || n > 36500 {
			return 0, false
		}
		days, s = time.Duration(n)*24*time.Hour, tail
		if s == "" {
			return days, true
		}
	}
	v, err := time.ParseDuration(s)
	if err != nil || days > 0 && v < 0 {
		return 0, false
	}
	return days + v, true
}

// Decode takes a number of bytes with a unit, such as 200MB or 1GiB.
func (b *size) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	v, ok := parseSize(t.value)
	if !ok {
		return t.bad("Give a number and a unit, such as 200MB or 1GiB.", "is no size")
	}
	low, _ := parseSize(t.tag.Get("min"))
	high, _ := parseSize(t.tag.Get("max"))
	if v < low || v > high {
		return t.bad(t.rangeHint(), "is out of range")
	}
	*b = size(v)
	return nil
}

// parseSize reads a size: B; kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB,
// TiB of 1024. It gives bytes.
func parseSize(s string) (int64, bool) {
	m := regexp.MustCompile(`^(-?[0-9]{1,12}(?:\.[0-9]{1,6})?) ?([A-Za-z]+)$`).FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	units := map[string]float64{
		"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	}
	unit, known := units[strings.ToUpper(m[2])]
	n, err := strconv.ParseFloat(m[1], 64)
	if !known || err != nil || n*unit > math.MaxInt64/2 {
		return 0, false
	}
	return int64(n * unit), true
}

// Decode takes a size in pixels, such as 1920x1080.
func (g *geometry) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	v, ok := parseGeometry(t.value)
	if !ok {
		return t.bad("Write WIDTHxHEIGHT, such as 1920x1080.", "is no size in pixels")
	}
	low, _ := parseGeometry(t.tag.Get("min"))
	high, _ := parseGeometry(t.tag.Get("max"))
	if v.width < low.width || v.height < low.height || v.width > high.width || v.height > high.height {
		return t.bad(t.rangeHint(), "is out of range")
	}
	*g = v
	return nil
}

func parseGeometry(s string) (geometry, bool) {
	m := regexp.MustCompile(`^([0-9]{1,6})x([0-9]{1,6})$`).FindStringSubmatch(s)
	if m == nil {
		return geometry{}, false
	}
	w, _ := strconv.Atoi(m[1]) // six digits fit
	h, _ := strconv.Atoi(m[2])
	return geometry{w, h}, true
}
