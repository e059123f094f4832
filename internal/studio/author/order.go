package author

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// order is a JOB.md that was read.
type order struct {
	brief         string
	width, height int
	fps           int
	seconds       float64
	style         string // empty: ours to choose
}

var errNoJob = errors.New("there is no JOB.md in this conversation")

// parseOrder reads the job that stands in the other side's texts, as agent
// writes it. The fixed values stand before the brief: what a brief says of
// them is behind, and not read.
func parseOrder(said string) (order, error) {
	const begin = "BEGIN BRIEF "
	brief, ok := between(said, begin, "END BRIEF ")
	if !ok {
		return order{}, errNoJob
	}
	before, _, _ := strings.Cut("\n"+said, "\n"+begin)
	m := regexp.MustCompile(`export const meta = \{ width: (\d{1,4}), height: (\d{1,4}), fps: (\d{1,2}), duration: ([0-9.]{1,8})`).FindStringSubmatch(before)
	if m == nil {
		return order{}, errNoJob
	}
	o := order{brief: brief}
	var err [4]error
	o.width, err[0] = strconv.Atoi(m[1])
	o.height, err[1] = strconv.Atoi(m[2])
	o.fps, err[2] = strconv.Atoi(m[3])
	o.seconds, err[3] = strconv.ParseFloat(m[4], 64)
	if errors.Join(err[:]...) != nil || o.width < 16 || o.height < 16 || o.fps < 1 || !(o.seconds > 0) || o.seconds > 600 {
		return order{}, errNoJob
	}
	if m := regexp.MustCompile("(?m)^The style is fixed: `style: '([a-z]{1,32})'`").FindStringSubmatch(before); m != nil {
		o.style = m[1]
	}
	return o, nil
}
