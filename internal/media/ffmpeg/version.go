package ffmpeg

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version is what a build calls itself. Builds from git have no number; theirs
// is taken from libavcodec's, which rises by one with each major release.
type Version struct {
	Text  string // as the binary says it, for instance "5.1.9-0+deb12u1" or "N-118000-g1a2b3c"
	Major int    // 0: unknown
	Minor int
	Patch int
	Git   bool // a build between releases: Major is the coming or the last release
}

func (v Version) String() string { return v.Text }

// AtLeast says whether the version is major.minor or newer. An unknown version
// counts as new: whoever builds from git seldom builds an old one.
func (v Version) AtLeast(major, minor int) bool {
	if v.Major == 0 {
		return true
	}
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// parseVersion reads the output of "ffmpeg -version" (fftools/cmdutils.c,
// print_program_info): "ffmpeg version TEXT Copyright ...", later one line for
// each library.
func parseVersion(out []byte) (Version, error) {
	first, rest, _ := bytes.Cut(out, []byte("\n"))
	text, ok := strings.CutPrefix(strings.TrimSpace(string(first)), "ffmpeg version ")
	if !ok {
		return Version{}, fmt.Errorf("no version in %.60q", first)
	}
	text, _, _ = strings.Cut(text, " ")
	if text == "" {
		return Version{}, fmt.Errorf("no version in %.60q", first)
	}
	v := Version{Text: text}
	// "5.1.9-0+deb12u1", "n7.1", "8.0-full_build", "n6.0-30-g1a2b3c"; a year
	// ("2025-01-02-git-...") is no release.
	release := regexp.MustCompile(`^n?(\d{1,2})\.(\d{1,3})(?:\.(\d{1,3}))?(?:$|[^\d])`)
	if m := release.FindStringSubmatch(text); m != nil {
		v.Major, v.Minor, v.Patch = number(m[1]), number(m[2]), number(m[3])
		v.Git = regexp.MustCompile(`-\d+-g[0-9a-f]+`).MatchString(text)
		return v, nil
	}
	v.Git = true
	if m := regexp.MustCompile(`(?m)^\s*libavcodec\s+(\d+)\.`).FindSubmatch(rest); m != nil {
		v.Major = max(number(string(m[1]))-54, 0) // 58 is ffmpeg 4, 59 is 5, ... 63 is 9
	}
	return v, nil
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0 // a part that is not there
	}
	return n
}
