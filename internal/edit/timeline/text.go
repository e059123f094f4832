package timeline

import (
	"fmt"
	"time"
	"unicode"
)

// Reading time: 1 s to notice a caption and 0.29 s a word, in bounds.
const (
	noticeTime = time.Second
	wordTime   = 290 * time.Millisecond
	minReading = 2 * time.Second
	maxReading = 6 * time.Second
)

// longWord is how many characters of one word are read like a word: a path or
// a hash takes longer than "the".
const longWord = 15

// ReadingTime is for how long a caption must be up: 1 s and 0.29 s a word, at
// least 2 s and at most 6 s. Where words are not set apart by spaces,
// characters count: two of Chinese or Japanese, or four of Thai, Lao, Khmer or
// Burmese, make a word.
func ReadingTime(text string) time.Duration {
	return min(max(noticeTime+time.Duration(words(text))*wordTime, minReading), maxReading)
}

// words counts words; a part of a word counts as one.
func words(text string) int {
	const enough = int((maxReading-noticeTime)/wordTime) + 1
	n, run, per := 0, 0, 0 // characters in the running word, and how many make one
	flush := func() {
		if run > 0 {
			n += (run + per - 1) / per
		}
		run = 0
	}
	for _, r := range text {
		size := wordSize(r)
		if size != per {
			flush()
		}
		if per = size; per > 0 {
			run++
		}
		if n > enough {
			return n
		}
	}
	flush()
	return n
}

// wordSize is how many characters like r make a word; 0 for what is in none.
func wordSize(r rune) int {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return 2
	case unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return 4
	case unicode.IsSpace(r), unicode.IsControl(r):
		return 0
	default:
		return longWord
	}
}

// Duration says a length of time in words as a mark shows it: "18 s",
// "2 min 5 s", "1 h 20 min". It is rounded to the second, from an hour on to
// the minute.
func Duration(d time.Duration) string {
	d = d.Round(time.Second)
	if d >= time.Hour {
		d = d.Round(time.Minute)
		return pair(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "min")
	}
	if d >= time.Minute {
		return pair(int(d/time.Minute), "min", int(d%time.Minute/time.Second), "s")
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

func pair(a int, unitA string, b int, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, unitA)
	}
	return fmt.Sprintf("%d %s %d %s", a, unitA, b, unitB)
}
