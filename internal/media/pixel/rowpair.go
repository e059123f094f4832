package pixel

// Coefficients in Q15, see the package comment.
const (
	yR, yG, yB = 5983, 20127, 2032
	uR, uG, uB = -3298, -11094, 14392
	vR, vG, vB = 14392, -13073, -1319

	// lumaBias is the offset 16 and the rounding half, in Q15; chromaBias is
	// 128 and the half in Q17, because chroma sums four pixels.
	lumaBias   = 16<<15 + 1<<14
	chromaBias = 128<<17 + 1<<16
)

// rowPairGo is the reference: plain Go, bit for bit what the assembly does.
func rowPairGo(y0, y1, u, v, src0, src1 []byte, n int) (first, last int) {
	first, last = -1, -1
	for start := 0; start < n; start += block {
		w := min(block, n-start)
		changed := blockGo(y0[start:start+w], y1[start:start+w], u[start/2:(start+w)/2], v[start/2:(start+w)/2],
			src0[4*start:4*(start+w)], src1[4*start:4*(start+w)])
		if !changed {
			continue
		}
		last = start / block
		if first < 0 {
			first = last
		}
	}
	return first, last
}

// blockGo converts len(y0) pixels of two rows and says whether any sample
// differs from what was there.
func blockGo(y0, y1, u, v, src0, src1 []byte) bool {
	var diff byte
	for i := range u {
		p, q := src0[8*i:8*i+8:8*i+8], src1[8*i:8*i+8:8*i+8]
		a, b := y0[2*i:2*i+2:2*i+2], y1[2*i:2*i+2:2*i+2]
		a0, a1 := luma(p[0], p[1], p[2]), luma(p[4], p[5], p[6])
		b0, b1 := luma(q[0], q[1], q[2]), luma(q[4], q[5], q[6])

		blue := int32(p[0]) + int32(p[4]) + int32(q[0]) + int32(q[4])
		green := int32(p[1]) + int32(p[5]) + int32(q[1]) + int32(q[5])
		red := int32(p[2]) + int32(p[6]) + int32(q[2]) + int32(q[6])
		cb := byte((uR*red + uG*green + uB*blue + chromaBias) >> 17)
		cr := byte((vR*red + vG*green + vB*blue + chromaBias) >> 17)

		diff |= (a[0] ^ a0) | (a[1] ^ a1) | (b[0] ^ b0) | (b[1] ^ b1) | (u[i] ^ cb) | (v[i] ^ cr)
		a[0], a[1], b[0], b[1], u[i], v[i] = a0, a1, b0, b1, cb, cr
	}
	return diff != 0
}

func luma(b, g, r byte) byte {
	return byte((yR*int32(r) + yG*int32(g) + yB*int32(b) + lumaBias) >> 15)
}
