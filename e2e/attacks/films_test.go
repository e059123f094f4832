package attacks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/exit"
)

// film is one way to get something else out than a film.
type film struct {
	name  string
	steps []call
	want  string // a reason, or published, without the canary
	mode  exit.Mode
}

// made are films that the hostile program makes of the good one by changing
// bytes; all other bytes are right.
func made() []film {
	var all []film
	for name, want := range map[string]string{
		"html": "box_size", "zip": "box_size", "free": "padding", "skip": "box_unknown", "uuid": "box_unknown", "unknown-box": "box_unknown",
		"second-mdat": "box_repeated", "second-moov": "box_repeated", "nested": "box_repeated", "udta": "box_repeated", "meta": "box_unknown",
		"gap": "media_layout", "open-ended": "box_size", "size-8": "box_size", "size-large": "box_size", "size-64": "box_size", "size-64-huge": "box_size",
		"brand": "brand", "stts-count": "frame_rate", "stsz-count": "sample_table", "stco-outside": "media_layout", "stsc-zero": "sample_table",
		"mdhd-duration": "duration", "mvhd-version": "box_fields", "elst-negative": "edit_list", "dref-outside": "external_data",
		"hdlr-name": "box_text", "vendor": "box_fields", "sps": "parameter_set", "nal-length": "nal_unit",
		"truncated": "box_size", "garbage": "box_size", "empty": "too_large", "noise": "undecodable",
	} {
		all = append(all, film{name: name, steps: []call{hostile("film", name)}, want: want})
	}
	return all
}

// shelled are films and files that a shell makes.
func shelled() []film {
	sh := func(name, command, want string) film {
		return film{name: name, steps: []call{bash("cd /work; G=/attack/good.mp4; F=out/final.mp4; " + command)}, want: want}
	}
	const made = "ffmpeg -v error -y -i $G "
	const tail = " -map_metadata -1 -fflags +bitexact -flags:v +bitexact -movflags +faststart $F"
	x264 := func(filter string) string { return made + filter + " -c:v libx264 -pix_fmt yuv420p" + tail }
	return []film{
		sh("nothing", "true", "generate_failed"),
		sh("link", "ln -s /etc/passwd $F", "link"),
		sh("link-inside", "cp $G x.mp4; ln -s ../x.mp4 $F", "link"),
		sh("link-to-proc", "ln -s /proc/1/environ $F", "link"),
		sh("folder-is-a-link", "mkdir y; cp $G y/final.mp4; rm -r out; ln -s y out", "link"),
		sh("folder", "mkdir $F", "not_regular"),
		sh("fifo", "mkfifo $F", "not_regular"),
		sh("socket", "/attack/hostile do socket", "not_regular"),
		sh("hard-link", "cp $G x.mp4; ln x.mp4 $F", "link"),
		sh("sparse", "truncate -s 40M $F", "sparse"),
		sh("terabyte", "truncate -s 1T $F", "sparse"),
		sh("newline", "cp $G $'out/final.mp4\\n'", "generate_failed"),
		sh("set-user-id", "cp $G $F; chmod 4755 $F", "file_mode"),
		sh("unreadable", "cp $G $F; chmod 0 $F", words(os.Getuid() == 0, "published", "file_mode")), // root reads it, and it is a film
		sh("matroska", made+"-c copy -f matroska $F", "box_size"),
		sh("two-tracks", made+"-i $G -map 0 -map 1 -c copy"+tail, "tracks"),
		sh("audio", made+"-f lavfi -i anullsrc -t 1 -map 0 -map 1 -c:v copy -c:a aac"+tail, "tracks"),
		sh("subtitles", "printf '1\\n00:00:00,000 --> 00:00:01,000\\nCANARY-film\\n' >s.srt; "+made+"-i s.srt -map 0 -map 1 -c:v copy -c:s mov_text"+tail, "tracks"),
		sh("other-codec", made+"-c:v mpeg4"+tail, "codec"),
		sh("other-size", x264("-vf scale=640:360"), "frame_size"),
		sh("other-rate", x264("-r 60"), "frame_rate"),
		sh("too-long", x264("-vf tpad=stop_mode=clone:stop_duration=5"), "duration"),
		sh("4096-pixels", x264("-vf scale=4096:2304 -frames:v 2 -threads 1 -preset ultrafast"), "frame_size"),
		sh("10-bit", made+"-c:v libx264 -pix_fmt yuv420p10le"+tail, "parameter_set"),
		sh("message", made+"-c copy -bsf:v h264_metadata=sei_user_data=086f3693-b7b3-4f2c-9653-21492feee5b8+CANARY-film"+tail, "user_data"),
		sh("fragments", made+"-c copy -map_metadata -1 -movflags +frag_keyframe+empty_moov $F", "box_unknown"),
		sh("title", made+"-c copy -metadata title=CANARY-film -movflags +faststart $F", "box_text"),
		{name: "swapped", steps: []call{hostile("film", "good"), hostile("do", "swap"), bash("sleep 1")}, want: "swapped"},
	}
}

// posters are the author's, which only a remux lets out.
func posters() []film {
	var all []film
	for name, want := range map[string]string{
		"good": "published", "zip": "jpeg_tail", "two": "jpeg_tail", "com": "jpeg_marker", "exif": "jpeg_marker", "app5": "jpeg_marker",
		"png": "jpeg_marker", "huge": "jpeg_size", "empty": "too_large",
	} {
		all = append(all, film{name: "poster-" + name, steps: []call{hostile("film", "good"), hostile("poster", name)}, want: want, mode: exit.Remux})
	}
	return all
}

// films: whatever lies where the film should be, only a film leaves.
func (l *lab) films(t *testing.T) {
	slots := make(chan struct{}, 2)
	var running sync.WaitGroup
	defer running.Wait()
	for _, part := range [][]film{made(), shelled(), posters()} {
		for _, f := range part {
			running.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				l.film(t, f)
			})
		}
	}
}

func (l *lab) film(t *testing.T, f film) {
	o := l.run(t, job{name: "film-" + strings.ToLower(f.name), steps: [][]call{f.steps}, mode: f.mode})
	seen := o.code()
	if l.guest && (f.name == "fifo" || f.name == "socket") {
		f.want = "generate_failed" // its kernel makes none outside of itself: there is nothing
	}
	if f.want == "swapped" { // by luck the good one, or a refusal; never the other
		f.want = seen
		if seen != "published" {
			seen, f.want = "refused", words(o.film == nil, "refused", "published")
		}
	}
	sum := sha256.Sum256(o.film)
	switch {
	case o.err != nil && o.film != nil:
		seen += ", and published"
	case o.err == nil && hex.EncodeToString(sum[:]) != o.res.Film.SHA256:
		seen += ", other bytes than were examined"
	case bytes.Contains(o.film, []byte("CANARY")):
		seen += ", with the canary"
	}
	if poster, err := os.ReadFile(strings.TrimSuffix(l.dir+"/film-"+f.name, ".mp4") + ".jpg"); err == nil && bytes.Contains(poster, []byte("CANARY")) {
		seen += ", with the canary in the poster"
	}
	l.table.add("exit", f.name, f.want, seen, "the good film is published")
}
