package cli

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// dollars is an amount of US dollars in millionths, from min to max.
type dollars int64

func (dollars) kind() string { return "dollars" }

const microDollars = 1_000_000

// Decode takes an amount such as 2 or 0.75.
func (d *dollars) Decode(ctx *kong.DecodeContext) error {
	t, err := take(ctx)
	if err != nil {
		return err
	}
	v, ok := parseDollars(t.value)
	if !ok {
		return t.bad("Give dollars, such as 2 or 0.75.", "is no amount of money")
	}
	if v < int64(intTag(t.tag, "min"))*microDollars || v > int64(intTag(t.tag, "max"))*microDollars {
		return t.bad(t.rangeHint(), "is out of range")
	}
	*d = dollars(v)
	return nil
}

// parseDollars reads an amount without rounding it.
func parseDollars(s string) (int64, bool) {
	m := regexp.MustCompile(`^([0-9]{1,9})(?:\.([0-9]{1,6}))?$`).FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	whole, _ := strconv.ParseInt(m[1], 10, 64) // nine digits fit
	part, _ := strconv.ParseInt(m[2]+strings.Repeat("0", 6-len(m[2])), 10, 64)
	return whole*microDollars + part, true
}
