package ffmpeg

import (
	"bufio"
	"bytes"
	"strings"
)

// parseList reads the listings of encoders, decoders, muxers, demuxers and
// devices (fftools/opt_common.c): a legend, a line of dashes as wide as the
// flags, then rows of a space, the flags and the names. The flags' width
// differs between listings and versions, and flags may be blanks, so the
// dashes tell where the names begin. A flag other than 0 keeps the rows that
// have it.
//
// Since version 7 the devices have three dashes over two flags and a blank:
// the names still begin behind the dashes.
func parseList(out []byte, flag byte) []string {
	var names []string
	width := 0 // of the flags; 0: still in the legend
	for _, line := range lines(out) {
		if t := strings.TrimSpace(line); width == 0 {
			if t != "" && strings.Trim(t, "-") == "" {
				width = len(t)
			}
			continue
		}
		if len(line) <= 1+width {
			continue
		}
		if flag != 0 && strings.IndexByte(line[:1+width], flag) < 0 {
			continue
		}
		if f := strings.Fields(line[1+width:]); len(f) > 0 {
			names = append(names, strings.Split(f[0], ",")...)
		}
	}
	return names
}

// parseFilters reads the listing of filters. Some versions print a line of
// dashes and some do not, and the flags have two or three columns; the field
// with the arrow is in all of them: " T.C crop V->V Crop the input video."
func parseFilters(out []byte) []string {
	var names []string
	for _, line := range lines(out) {
		if f := strings.Fields(line); len(f) >= 3 && strings.Contains(f[2], "->") {
			names = append(names, f[1])
		}
	}
	return names
}

// parseOptions reads a help text: an option's line begins with its dash. A
// stream specifier as in "-c[:<stream_spec>]" is cut off.
func parseOptions(out []byte) []string {
	var names []string
	for _, line := range lines(out) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		name, ok := strings.CutPrefix(f[0], "-")
		if !ok {
			continue
		}
		if cut := strings.IndexAny(name, "[:<"); cut >= 0 {
			name = name[:cut]
		}
		if name != "" && strings.Trim(name, "-") != "" {
			names = append(names, name)
		}
	}
	return names
}

func lines(out []byte) []string {
	var ls []string
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		ls = append(ls, strings.TrimRight(sc.Text(), "\r"))
	}
	return ls // what follows a line of more than 1 MiB is no listing
}
