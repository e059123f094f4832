package exit

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// rewrite writes the film anew: an index of our own in front, then the slices
// and nothing else. Everything in the index follows from the number of
// samples, their order, sizes and keys, the parameter sets and what was
// ordered. Rewriting a rewritten film gives the same bytes.
func (f *film) rewrite(r io.ReaderAt, w io.Writer) error {
	sizes := make([]uint32, len(f.samples))
	total := uint64(0)
	err := f.pictures(r, func(i int, slices [][]byte) error {
		for _, nal := range slices {
			sizes[i] += uint32(4 + len(nal))
		}
		total += uint64(sizes[i])
		return nil
	})
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 256<<10)
	if _, err := out.Write(f.head(sizes, total)); err != nil {
		return fmt.Errorf("write the film's index: %w", err)
	}
	err = f.pictures(r, func(_ int, slices [][]byte) error {
		for _, nal := range slices {
			_, _ = out.Write(words(uint32(len(nal)))) // a bufio.Writer keeps its first error
			if _, err := out.Write(nal); err != nil {
				return fmt.Errorf("write the film: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the film: %w", err)
	}
	return nil
}

// unitsPerPicture is how many units of the time scale a picture takes.
const unitsPerPicture = 512

// head gives all bytes before the first sample.
func (f *film) head(sizes []uint32, total uint64) []byte {
	ftyp := box("ftyp", []byte("isom\x00\x00\x02\x00isomiso2avc1mp41"))
	// The offsets in the index depend on its size, not the other way round.
	moov := f.moov(sizes, 0)
	at := uint64(len(ftyp) + len(moov) + 8)
	head := slices.Concat(ftyp, f.moov(sizes, at))
	head = binary.BigEndian.AppendUint32(head, uint32(total+8)) // at most 1 GiB
	return append(head, "mdat"...)
}

func (f *film) moov(sizes []uint32, at uint64) []byte {
	scale := uint32(f.want.FPS * unitsPerPicture)
	length := uint32(len(sizes) * unitsPerPicture)
	matrix := words(identityMatrix()...)
	shift, ctts := f.ctts()
	var edts []byte
	if ctts != nil {
		edts = box("edts", full("elst", 0, 0, words(1, length, shift*unitsPerPicture, 0x00010000)))
	}
	return box("moov",
		full("mvhd", 0, 0, words(0, 0, scale, length, 0x00010000, 0x01000000, 0, 0), matrix, make([]byte, 24), words(2)),
		box("trak",
			full("tkhd", 0, 3, words(0, 0, 1, 0, length, 0, 0, 0, 0), matrix,
				words(uint32(f.want.Width)<<16, uint32(f.want.Height)<<16)),
			edts,
			box("mdia",
				full("mdhd", 0, 0, words(0, 0, scale, length, 0x55c40000)), // language "und"
				full("hdlr", 0, 0, words(0), []byte("vide"), make([]byte, 13)),
				box("minf",
					full("vmhd", 0, 1, make([]byte, 8)),
					box("dinf", full("dref", 0, 0, words(1), full("url ", 0, 1))),
					box("stbl", f.stsd(), full("stts", 0, 0, words(1, uint32(len(sizes)), unitsPerPicture)),
						ctts, f.stss(), f.chunks(sizes, at),
						full("stsz", 0, 0, words(0, uint32(len(sizes))), words(sizes...)),
					)))))
}

func (f *film) stsd() []byte {
	var entry []byte
	entry = append(entry, words(0, 1, 0, 0, 0, 0)...)
	entry = binary.BigEndian.AppendUint16(entry, uint16(f.want.Width))
	entry = binary.BigEndian.AppendUint16(entry, uint16(f.want.Height))
	entry = append(entry, words(0x00480000, 0x00480000, 0)...)
	entry = append(entry, 0, 1)
	entry = append(entry, make([]byte, 32)...)
	entry = append(entry, 0, 0x18, 0xff, 0xff)
	colr := box("colr", []byte("nclx"), []byte{0, 1, 0, 1, 0, 1, 0})
	avc1 := box("avc1", entry, box("avcC", f.sets.record), colr, box("pasp", words(1, 1)))
	return full("stsd", 0, 0, words(1), avc1)
}

// stss is left out when every sample is a key.
func (f *film) stss() []byte {
	var keys []uint32
	for i, s := range f.samples {
		if s.key {
			keys = append(keys, uint32(i+1))
		}
	}
	if len(keys) == len(f.samples) {
		return nil
	}
	return full("stss", 0, 0, words(uint32(len(keys))), words(keys...))
}

// chunks is stsc and stco: a chunk a second.
func (f *film) chunks(sizes []uint32, at uint64) []byte {
	per := f.want.FPS
	var starts []uint32
	for i, size := range sizes {
		if i%per == 0 {
			starts = append(starts, uint32(min(at, math.MaxUint32))) // films are at most 1 GiB
		}
		at += uint64(size)
	}
	whole, rest := len(sizes)/per, len(sizes)%per
	var runs []uint32
	if whole > 0 {
		runs = append(runs, 1, uint32(per), 1)
	}
	if rest > 0 {
		runs = append(runs, uint32(whole+1), uint32(rest), 1)
	}
	return append(full("stsc", 0, 0, words(uint32(len(runs)/3)), words(runs...)),
		full("stco", 0, 0, words(uint32(len(starts))), words(starts...))...)
}

// ctts gives the box of composition offsets, nil when pictures are shown in
// the order in which they are decoded, and the delay in pictures that keeps
// the offsets from being negative.
func (f *film) ctts() (shift uint32, ctts []byte) {
	delay := int32(0)
	for i, at := range f.show {
		delay = max(delay, int32(i)-at)
	}
	if delay == 0 {
		return 0, nil
	}
	var runs []uint32
	for i, at := range f.show {
		by := uint32(at-int32(i)+delay) * unitsPerPicture
		if n := len(runs); n > 0 && runs[n-1] == by {
			runs[n-2]++
			continue
		}
		runs = append(runs, 1, by)
	}
	return uint32(delay), full("ctts", 0, 0, words(uint32(len(runs)/2)), words(runs...))
}

// box makes a box out of parts. It must fit 32 bits.
func box(typ string, parts ...[]byte) []byte {
	n := 8
	for _, p := range parts {
		n += len(p)
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, n), uint32(n))
	b = append(b, typ...)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// full makes a box with version and flags.
func full(typ string, version byte, flags uint32, parts ...[]byte) []byte {
	return box(typ, append([][]byte{words(uint32(version)<<24 | flags)}, parts...)...)
}

func words(values ...uint32) []byte {
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}
