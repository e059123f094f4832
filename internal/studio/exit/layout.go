package exit

import "encoding/binary"

// layOut puts the tables together: samples fill chunks, chunks fill mdat, in
// order, from its first byte to its last. It also holds the times against
// each other, and against what was ordered.
func (x *index) layOut(mdat span) ([]sample, error) {
	if !x.placed {
		return nil, refuse(BoxMissing, "stco")
	}
	if err := x.times(); err != nil {
		return nil, err
	}
	if len(x.each) != 4*x.count {
		return nil, refuse(SampleTable, "stsz")
	}
	samples := make([]sample, x.count)
	if err := x.markKeys(samples); err != nil {
		return nil, err
	}
	per, err := x.perChunk()
	if err != nil {
		return nil, err
	}
	at, i := mdat.body, 0
	for chunk, n := range per {
		if x.chunks[chunk] != uint64(at) {
			return nil, refuse(MediaLayout, "stco")
		}
		for ; n > 0; n-- {
			size := int64(binary.BigEndian.Uint32(x.each[4*i:]))
			if size > x.want.maxSample() || size < 5 {
				return nil, refuse(SampleTable, "stsz")
			}
			if size > mdat.end-at {
				return nil, refuse(MediaLayout, "stsz")
			}
			samples[i].offset, samples[i].size = at, size
			at += size
			i++
		}
	}
	if at != mdat.end {
		return nil, refuse(MediaLayout, "mdat")
	}
	return samples, nil
}

// times checks the rate, and that each box says the same length.
func (x *index) times() error {
	fps, count := uint64(x.want.FPS), uint64(x.count)
	if x.delta == 0 || x.delta*fps != x.mediaScale {
		return refuse(FrameRate, "mdhd")
	}
	if x.mediaLength != count*x.delta {
		return refuse(Duration, "mdhd")
	}
	// The movie's scale may be too coarse to say it exactly.
	near := func(length uint64) bool {
		return length*fps < (count+1)*x.movieScale && (length+1)*fps > (count-1)*x.movieScale
	}
	if !near(x.movieLength) {
		return refuse(Duration, "mvhd")
	}
	if !near(x.trackLength) {
		return refuse(Duration, "tkhd")
	}
	if x.hasEdit && !near(x.editLength) {
		return refuse(EditList, "elst")
	}
	return nil
}

// markKeys marks the samples that stss lists; without it all are keys.
func (x *index) markKeys(samples []sample) error {
	if !x.hasKey {
		for i := range samples {
			samples[i].key = true
		}
		return nil
	}
	last := uint32(0)
	for k := 0; k < len(x.keys); k += 4 {
		n := binary.BigEndian.Uint32(x.keys[k:])
		if n <= last || uint64(n) > uint64(len(samples)) {
			return refuse(SampleTable, "stss")
		}
		samples[n-1].key = true
		last = n
	}
	if !samples[0].key {
		return refuse(SampleTable, "stss")
	}
	return nil
}

// perChunk gives the number of samples in each chunk. They add up to all
// samples.
func (x *index) perChunk() ([]int, error) {
	wrong := refuse(SampleTable, "stsc")
	per := make([]int, len(x.chunks))
	left, next := uint64(x.count), uint64(1)
	for k := 0; k < len(x.runs); k += 12 {
		first := uint64(binary.BigEndian.Uint32(x.runs[k:]))
		samples := uint64(binary.BigEndian.Uint32(x.runs[k+4:]))
		end := uint64(len(per)) + 1
		if k+12 < len(x.runs) {
			end = uint64(binary.BigEndian.Uint32(x.runs[k+12:]))
		}
		if first != next || end <= first || end > uint64(len(per))+1 ||
			samples == 0 || binary.BigEndian.Uint32(x.runs[k+8:]) != 1 {
			return nil, wrong
		}
		for ; next < end; next++ {
			if samples > left {
				return nil, wrong
			}
			per[next-1] = int(samples)
			left -= samples
		}
	}
	if left != 0 {
		return nil, wrong
	}
	return per, nil
}

// maxReorder bounds by how many pictures one may be shown later than it is
// decoded: what H.264's picture buffer can hold, and the delay that makes up
// for it.
const maxReorder = 32

// order gives each sample's place in the order of display. With the edit
// list, the first place is time 0, and each of the following has one picture.
func (x *index) order() ([]int32, error) {
	show := make([]int32, x.count)
	start := int64(0)
	if x.hasEdit {
		if x.editStart%x.delta != 0 {
			return nil, refuse(EditList, "elst")
		}
		start = int64(x.editStart / x.delta)
	}
	shifts, ok := x.compositionOffsets()
	if !ok {
		return nil, refuse(SampleTable, "ctts")
	}
	taken := make([]bool, x.count)
	for i := range show {
		at := int64(i) - start
		if shifts != nil {
			at += int64(shifts[i])
		}
		if at < 0 || at >= int64(x.count) || taken[at] {
			return nil, refuse(EditList, "ctts")
		}
		taken[at] = true
		show[i] = int32(at)
	}
	return show, nil
}

// compositionOffsets gives ctts in pictures, nil when there is none.
func (x *index) compositionOffsets() ([]int32, bool) {
	if x.shifts == nil {
		return nil, true
	}
	shifts := make([]int32, 0, x.count)
	for k := 0; k < len(x.shifts); k += 8 {
		n := binary.BigEndian.Uint32(x.shifts[k:])
		raw := binary.BigEndian.Uint32(x.shifts[k+4:])
		by := int64(raw)
		if x.signed {
			by = int64(int32(raw))
		}
		pictures := by / int64(x.delta)
		if n == 0 || uint64(n) > uint64(x.count-len(shifts)) || by%int64(x.delta) != 0 ||
			pictures < -maxReorder || pictures > maxReorder {
			return nil, false
		}
		for range n {
			shifts = append(shifts, int32(pictures))
		}
	}
	return shifts, len(shifts) == x.count
}
