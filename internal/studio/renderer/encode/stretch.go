package encode

// Stretch is a part of a film that one encoder makes: the frames From
// (inclusive) to To (exclusive).
type Stretch struct{ Index, From, To int }

const (
	// maxSeconds bounds a stretch. It begins with a keyframe, so this is also
	// how far apart the places are to which players can seek.
	maxSeconds = 2.5
	// minFrames is the shortest stretch for which another encoder is started:
	// ffmpeg takes the CPU time of about two 1080p frames to start.
	minFrames = 24
	// even is what the number of stretches is a multiple of, where the film is
	// long enough: on 2 and on 4 processors all end together.
	even = 4
)

// Stretches cuts a film. The rule knows the film alone: its bytes depend on
// where it is cut, and so may not depend on the machine. Lengths differ by one
// frame at most.
func Stretches(frames, fps int) []Stretch {
	longest := max(int(maxSeconds*float64(fps)), 1)
	n := (frames + longest - 1) / longest
	switch {
	case frames >= even*minFrames:
		n = (n + even - 1) / even * even
	case frames >= 2*minFrames:
		n = max(n, 2)
	}
	all := make([]Stretch, n)
	for i := range all {
		all[i] = Stretch{Index: i, From: i * frames / n, To: (i + 1) * frames / n}
	}
	return all
}

// Len is the number of frames.
func (s Stretch) Len() int { return s.To - s.From }
