package overlay

// shrink resamples one plane to fewer samples: each is the mean of what it
// covers, weighted by distance, so that thin lines of text fade and don't
// vanish. A plane that isn't shrunk in one direction is interpolated there.
func shrink(dst []byte, dw, dh int, src []byte, sw, sh int, v View) {
	columns, rows := kernels(dw, sw, v.X, v.W), kernels(dh, sh, v.Y, v.H)
	lines := map[int][]uint16{} // source rows, resampled, in 1/128
	var spare [][]uint16
	sums := make([]uint32, dw)
	for y, k := range rows {
		for at, line := range lines {
			if at < k.from {
				spare = append(spare, line)
				delete(lines, at)
			}
		}
		clear(sums)
		for i, weight := range k.weights {
			line := lines[k.from+i]
			if line == nil {
				if n := len(spare); n > 0 {
					line, spare = spare[n-1], spare[:n-1]
				} else {
					line = make([]uint16, dw)
				}
				resample(line, src[(k.from+i)*sw:][:sw], columns)
				lines[k.from+i] = line
			}
			for x, s := range line {
				sums[x] += uint32(s) * weight
			}
		}
		for x, s := range sums {
			dst[y*dw+x] = uint8(min((s+1<<18)>>19, 255))
		}
	}
}

func resample(line []uint16, row []byte, columns []kernel) {
	for x, k := range columns {
		sum := uint32(0)
		for i, s := range row[k.from:][:len(k.weights)] {
			sum += uint32(s) * k.weights[i]
		}
		line[x] = uint16((sum + 1<<4) >> 5)
	}
}

// kernel is what one sample is made of: its weights are in 1/4096 and sum up
// to 1.
type kernel struct {
	from    int
	weights []uint32
}

// kernels of n samples out of the stretch of length from from, in a line of
// limit samples: triangles as wide as a sample of the result, at least of the
// source.
func kernels(n, limit int, from, length float64) []kernel {
	const one = 4096
	step := length / float64(n)
	reach := max(step, 1)
	all := make([]kernel, n)
	for i := range all {
		centre := from + (float64(i)+0.5)*step - 0.5
		first := min(max(int(centre-reach)+1, 0), limit-1)
		last := min(max(int(centre+reach), first), limit-1)
		raw, sum := make([]float64, last-first+1), 0.0
		for j := range raw {
			raw[j] = max(1-abs(float64(first+j)-centre)/reach, 1e-9)
			sum += raw[j]
		}
		k := kernel{first, make([]uint32, len(raw))}
		rest, best := uint32(one), 0
		for j, w := range raw {
			k.weights[j] = min(uint32(w/sum*one+0.5), rest)
			rest -= k.weights[j]
			if raw[j] > raw[best] {
				best = j
			}
		}
		k.weights[best] += rest // rounding
		all[i] = k
	}
	return all
}

func abs(v float64) float64 { return max(v, -v) }
