package scene

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Position finds the place in the author's files that a run-time stack speaks
// of: the innermost frame of the stack that lies in them, so an error thrown
// inside of a library is shown where the author called it. It also takes a bare
// "line:column" of the module, both from 1.
func (b *Bundle) Position(stack string) (Place, bool) {
	if b.mapping == nil {
		return Place{}, false
	}
	m, err := b.mapping()
	if err != nil {
		return Place{}, false
	}
	for _, at := range frames(stack) {
		source, line, col, ok := m.find(at.line-1, at.column-1)
		if !ok {
			continue
		}
		if file, mine := strings.CutPrefix(source, spaceScene+":"); mine {
			return Place{File: file, Line: line + 1, Column: col + 1}, true
		}
	}
	return Place{}, false
}

type spot struct{ line, column int }

const maxStack = 64 << 10 // bytes of a stack that are looked at

// frames lists the places in the module that a stack names, innermost first.
func frames(stack string) []spot {
	if len(stack) > maxStack {
		stack = stack[:maxStack]
	}
	var all []spot
	add := func(line, col string) {
		l, err1 := strconv.Atoi(line)
		c, err2 := strconv.Atoi(col)
		if err1 == nil && err2 == nil && l > 0 && c > 0 {
			all = append(all, spot{l, c})
		}
	}
	if bare := regexp.MustCompile(`^\s*(\d+):(\d+)\s*$`).FindStringSubmatch(stack); bare != nil {
		add(bare[1], bare[2])
		return all
	}
	named := regexp.MustCompile(regexp.QuoteMeta(ModuleName) + `(?:[?#][^\s:)]*)?:(\d+):(\d+)`)
	for _, m := range named.FindAllStringSubmatch(stack, 200) {
		add(m[1], m[2])
	}
	return all
}

// sourceMap is a source map of revision 3: for each line of the module its
// segments in order.
type sourceMap struct {
	sources []string
	lines   [][]segment
}

// segment says where a piece of a line comes from; all count from 0, columns in
// UTF-16 units.
type segment struct {
	column               int
	source, line, origin int // source -1: from nowhere
}

var errMap = errors.New("the source map is damaged")

func parseMap(raw []byte) (*sourceMap, error) {
	var doc struct {
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("reading the source map: %w", err)
	}
	m := &sourceMap{sources: doc.Sources}
	var last segment
	for line := range strings.SplitSeq(doc.Mappings, ";") {
		last.column = 0
		segments, err := parseLine(line, &last)
		if err != nil {
			return nil, err
		}
		m.lines = append(m.lines, segments)
	}
	return m, nil
}

// parseLine reads the segments of a line. last is the segment before: the
// numbers are differences to it.
func parseLine(line string, last *segment) ([]segment, error) {
	if line == "" {
		return nil, nil
	}
	all := make([]segment, 0, strings.Count(line, ",")+1)
	for field := range strings.SplitSeq(line, ",") {
		var v [5]int
		n := 0
		for field != "" && n < len(v) {
			value, rest, err := vlq(field)
			if err != nil {
				return nil, err
			}
			v[n], field, n = value, rest, n+1
		}
		last.column += v[0]
		if n < 4 {
			all = append(all, segment{column: last.column, source: -1})
			continue
		}
		last.source += v[1]
		last.line += v[2]
		last.origin += v[3]
		all = append(all, *last)
	}
	return all, nil
}

// vlq reads one number: base64 digits of five bits, lowest first, the lowest
// bit of all the sign.
func vlq(s string) (value int, rest string, err error) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	shift := 0
	for i := range len(s) {
		d := strings.IndexByte(digits, s[i])
		if d < 0 || shift > 30 {
			return 0, "", errMap
		}
		value |= (d & 31) << shift
		shift += 5
		if d&32 != 0 {
			continue
		}
		if value&1 != 0 {
			return -(value >> 1), s[i+1:], nil
		}
		return value >> 1, s[i+1:], nil
	}
	return 0, "", errMap
}

// find gives the source of a place in the module: the last segment at or
// before it in its line.
func (m *sourceMap) find(line, col int) (source string, srcLine, srcCol int, ok bool) {
	if line < 0 || line >= len(m.lines) {
		return "", 0, 0, false
	}
	segments := m.lines[line]
	i := sort.Search(len(segments), func(i int) bool { return segments[i].column > col })
	if i == 0 {
		return "", 0, 0, false
	}
	s := segments[i-1]
	if s.source < 0 || s.source >= len(m.sources) {
		return "", 0, 0, false
	}
	return m.sources[s.source], s.line, s.origin, true
}
