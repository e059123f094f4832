package h264

// cabac encodes what a picture of skipped macroblocks needs of the arithmetic
// coder (9.3.4.2): most probable symbols of one context, and terminate bins.
type cabac struct {
	w           *bitWriter
	low, rng    uint32
	first       bool
	outstanding int
}

func newCABAC(w *bitWriter) *cabac {
	return &cabac{w: w, rng: 510, first: true}
}

// mps encodes the most probable symbol in state and returns the next state.
func (c *cabac) mps(state int) int {
	c.rng -= uint32(rangeLPS[state][c.rng>>6&3])
	c.renorm()
	return min(state+1, 62) // transIdxMPS (table 9-45)
}

// terminate encodes end_of_slice_flag; after a set one the coder is flushed
// and rbsp_stop_one_bit is written (9.3.4.5).
func (c *cabac) terminate(end bool) {
	c.rng -= 2
	if !end {
		c.renorm()
		return
	}
	c.low += c.rng
	c.rng = 2
	c.renorm()
	c.put(c.low >> 9 & 1)
	c.w.u(c.low>>7&3|1, 2)
}

func (c *cabac) renorm() {
	for c.rng < 256 {
		switch {
		case c.low < 256:
			c.put(0)
		case c.low >= 512:
			c.low -= 512
			c.put(1)
		default:
			c.low -= 256
			c.outstanding++
		}
		c.rng <<= 1
		c.low <<= 1
	}
}

func (c *cabac) put(b uint32) {
	if c.first {
		c.first = false
	} else {
		c.w.bit(b)
	}
	for ; c.outstanding > 0; c.outstanding-- {
		c.w.bit(1 - b)
	}
}

// rangeLPS is table 9-44 by pStateIdx and qCodIRangeIdx.
//
//nolint:gochecknoglobals // a table that nothing writes to: Go has no constant arrays
var rangeLPS = [64][4]uint8{
	{128, 176, 208, 240},
	{128, 167, 197, 227},
	{128, 158, 187, 216},
	{123, 150, 178, 205},
	{116, 142, 169, 195},
	{111, 135, 160, 185},
	{105, 128, 152, 175},
	{100, 122, 144, 166},
	{95, 116, 137, 158},
	{90, 110, 130, 150},
	{85, 104, 123, 142},
	{81, 99, 117, 135},
	{77, 94, 111, 128},
	{73, 89, 105, 122},
	{69, 85, 100, 116},
	{66, 80, 95, 110},
	{62, 76, 90, 104},
	{59, 72, 86, 99},
	{56, 69, 81, 94},
	{53, 65, 77, 89},
	{51, 62, 73, 85},
	{48, 59, 69, 80},
	{46, 56, 66, 76},
	{43, 53, 63, 72},
	{41, 50, 59, 69},
	{39, 48, 56, 65},
	{37, 45, 54, 62},
	{35, 43, 51, 59},
	{33, 41, 48, 56},
	{32, 39, 46, 53},
	{30, 37, 43, 50},
	{29, 35, 41, 48},
	{27, 33, 39, 45},
	{26, 31, 37, 43},
	{24, 30, 35, 41},
	{23, 28, 33, 39},
	{22, 27, 32, 37},
	{21, 26, 30, 35},
	{20, 24, 29, 33},
	{19, 23, 27, 31},
	{18, 22, 26, 30},
	{17, 21, 25, 28},
	{16, 20, 23, 27},
	{15, 19, 22, 25},
	{14, 18, 21, 24},
	{14, 17, 20, 23},
	{13, 16, 19, 22},
	{12, 15, 18, 21},
	{12, 14, 17, 20},
	{11, 14, 16, 19},
	{11, 13, 15, 18},
	{10, 12, 15, 17},
	{10, 12, 14, 16},
	{9, 11, 13, 15},
	{9, 11, 12, 14},
	{8, 10, 12, 14},
	{8, 9, 11, 13},
	{7, 9, 11, 12},
	{7, 9, 10, 12},
	{7, 8, 10, 11},
	{6, 8, 9, 11},
	{6, 7, 9, 10},
	{6, 7, 8, 9},
	{2, 2, 2, 2},
}
