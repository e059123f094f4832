package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// canary is what is to be smuggled out.
const canary = "CANARY-film"

// film changes the good film and leaves it where the film should be.
func film(how string) error {
	good, err := os.ReadFile("/attack/good.mp4")
	if err != nil {
		return fmt.Errorf("read the good film: %w", err)
	}
	edit, ok := films()[how]
	if !ok {
		return fmt.Errorf("no film %q", how)
	}
	bad, err := edit(good)
	if err != nil {
		return err
	}
	if err := os.WriteFile("/work/out/final.mp4", bad, 0o644); err != nil { //nolint:gosec // the box has one user
		return fmt.Errorf("write the film: %w", err)
	}
	say(how, "%d bytes", len(bad))
	return nil
}

type edit func([]byte) ([]byte, error)

func films() map[string]edit {
	behind := func(b ...byte) edit {
		return func(good []byte) ([]byte, error) { return append(good, b...), nil }
	}
	return map[string]edit{
		"good":        func(good []byte) ([]byte, error) { return good, nil },
		"html":        behind([]byte("<html><script>alert('" + canary + "')</script>")...),
		"zip":         behind([]byte("PK\x03\x04\x14\x00\x00\x00\x00\x00" + canary)...),
		"free":        behind(box("free", append([]byte(canary), make([]byte, 1<<20)...))...),
		"skip":        behind(box("skip", []byte(canary))...),
		"uuid":        behind(box("uuid", []byte(canary+"-sixteen-bytes"))...),
		"unknown-box": behind(box("evil", []byte(canary))...),
		"second-mdat": behind(box("mdat", []byte(canary))...),
		"second-moov": func(good []byte) ([]byte, error) {
			at, n, err := find(good, "moov")
			return append(good, good[at:at+n]...), err
		},
		"nested": behind(nested(2000)...),
		"udta":   into("moov", box("udta", box("\xa9nam", []byte(canary)))),
		"meta":   into("moov", box("meta", []byte("\x00\x00\x00\x00"+canary))),
		"gap": func(good []byte) ([]byte, error) {
			at, n, err := find(good, "mdat")
			if err != nil || at+n != len(good) {
				return nil, errors.Join(err, errors.New("mdat is not the last box"))
			}
			good = append(good, canary...)
			binary.BigEndian.PutUint32(good[at:], uint32(n+len(canary)))
			return good, nil
		},
		"open-ended":    mdatSize(0),
		"size-8":        mdatSize(7),
		"size-large":    mdatSize(0xfffffff0),
		"size-64":       wide(8),
		"size-64-huge":  wide(1<<64 - 1),
		"brand":         patch("ftyp", 8, []byte("<svg")),
		"stts-count":    patch("stts", 12, []byte{0x80, 0, 0, 0}),
		"stsz-count":    patch("stsz", 16, []byte{0x80, 0, 0, 0}),
		"stco-outside":  patch("stco", 16, []byte{0xff, 0xff, 0xff, 0xf0}),
		"stsc-zero":     patch("stsc", 20, []byte{0, 0, 0, 0}),
		"mdhd-duration": patch("mdhd", 24, []byte{0xff, 0xff, 0xff, 0xff}),
		"mvhd-version":  patch("mvhd", 8, []byte{9}),
		"elst-negative": patch("elst", 20, []byte{0xff, 0xff, 0, 0}),
		"dref-outside":  patch("url ", 8, []byte{0, 0, 0, 0}),
		"hdlr-name":     patch("hdlr", 32, []byte("CANARY-film\x00")),
		"vendor":        patch("avc1", 16, []byte(canary)),
		"sps":           patch("avcC", 16, []byte{0xff, 0xff, 0xff, 0xff}),
		"nal-length":    patchMedia(0, []byte{0xff, 0xff, 0xff, 0x00}),
		"truncated":     func(good []byte) ([]byte, error) { return good[:len(good)-1000], nil },
		"garbage":       func(good []byte) ([]byte, error) { return bytes.Repeat([]byte(canary), len(good)/len(canary)), nil },
		"empty":         func([]byte) ([]byte, error) { return nil, nil },
		"noise":         noise,
	}
}

func box(typ string, body []byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), typ...), body...)
}

func nested(depth int) []byte {
	b := []byte{}
	for range depth {
		b = box("moov", b)
	}
	return b
}

// find gives where the first box of a type begins, and its size.
func find(b []byte, typ string) (at, size int, err error) {
	from := 0
	if typ != "ftyp" { // which lists brands that are called as boxes are
		from = int(binary.BigEndian.Uint32(b))
	}
	i := from + bytes.Index(b[from:], []byte(typ))
	if i < from+4 {
		return 0, 0, fmt.Errorf("the good film has no %q", typ)
	}
	return i - 4, int(binary.BigEndian.Uint32(b[i-4:])), nil
}

// patch overwrites bytes of a box, counted from its first.
func patch(typ string, offset int, with []byte) edit {
	return func(good []byte) ([]byte, error) {
		at, size, err := find(good, typ)
		if err == nil && offset+len(with) > size {
			err = fmt.Errorf("%q has %d bytes only", typ, size)
		}
		if err != nil {
			return nil, err
		}
		copy(good[at+offset:], with)
		return good, nil
	}
}

func patchMedia(offset int, with []byte) edit { return patch("mdat", 8+offset, with) }

func mdatSize(n uint32) edit { return patch("mdat", 0, binary.BigEndian.AppendUint32(nil, n)) }

// wide writes mdat's size in 64 bits, as it should not be.
func wide(n uint64) edit {
	return func(good []byte) ([]byte, error) {
		at, _, err := find(good, "mdat")
		if err != nil {
			return nil, err
		}
		head := append([]byte{0, 0, 0, 1}, "mdat"...)
		head = binary.BigEndian.AppendUint64(head, n)
		return append(append(good[:at:at], head...), good[at+8:]...), nil
	}
}

// into adds a box at the end of another that lies before the media, and moves
// the chunk offsets, so that nothing but the box is wrong.
func into(parent string, b []byte) edit {
	return func(good []byte) ([]byte, error) {
		at, size, err := find(good, parent)
		if err != nil {
			return nil, err
		}
		offsets, _, err := find(good, "stco")
		if err != nil {
			return nil, err
		}
		for i := range int(binary.BigEndian.Uint32(good[offsets+12:])) {
			p := good[offsets+16+4*i:]
			binary.BigEndian.PutUint32(p, binary.BigEndian.Uint32(p)+uint32(len(b)))
		}
		binary.BigEndian.PutUint32(good[at:], uint32(size+len(b)))
		return append(append(append([]byte{}, good[:at+size]...), b...), good[at+size:]...), nil
	}
}

// noise breaks bits of the first picture and leaves all sizes right: only a
// decoder can tell.
func noise(good []byte) ([]byte, error) {
	at, _, err := find(good, "mdat")
	if err != nil {
		return nil, err
	}
	for i := at + 8 + 1500; i < at+8+2500; i++ {
		good[i] = byte(0x55 + i%64)
	}
	return good, nil
}

// poster changes the good poster.
func poster(how string) error {
	good, err := os.ReadFile("/attack/good.jpg")
	if err != nil {
		return fmt.Errorf("read the good poster: %w", err)
	}
	segment := func(marker byte, text string) []byte {
		b := append([]byte{0xff, 0xd8, 0xff, marker}, byte((len(text)+2)>>8), byte(len(text)+2))
		return append(append(b, text...), good[2:]...)
	}
	all := map[string]func() []byte{
		"good":  func() []byte { return good },
		"zip":   func() []byte { return append(good, "PK\x03\x04"+canary...) },
		"two":   func() []byte { return append(good, good...) },
		"com":   func() []byte { return segment(0xfe, canary) },
		"exif":  func() []byte { return segment(0xe1, "Exif\x00\x00"+canary) },
		"app5":  func() []byte { return segment(0xe5, canary+string(make([]byte, 60_000))) },
		"png":   func() []byte { return append([]byte("\x89PNG\r\n\x1a\n"), good...) },
		"huge":  func() []byte { return sized(good) },
		"empty": func() []byte { return nil },
	}
	edit, ok := all[how]
	if !ok {
		return fmt.Errorf("no poster %q", how)
	}
	if err := os.WriteFile("/work/out/poster.jpg", edit(), 0o644); err != nil { //nolint:gosec // as above
		return fmt.Errorf("write the poster: %w", err)
	}
	say("poster-"+how, "written")
	return nil
}

// sized says in the frame header that the picture has 65500 lines of as many
// pixels.
func sized(good []byte) []byte {
	for i := 2; i+9 < len(good) && good[i] == 0xff; i += 2 + int(binary.BigEndian.Uint16(good[i+2:])) {
		if good[i+1] >= 0xc0 && good[i+1] <= 0xc2 {
			binary.BigEndian.PutUint16(good[i+5:], 65500)
			binary.BigEndian.PutUint16(good[i+7:], 65500)
			break
		}
	}
	return good
}
