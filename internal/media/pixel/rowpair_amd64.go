package pixel

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run . -out ../rowpair_amd64.s -stubs ../rowpair_stub_amd64.go -pkg pixel"

// hasSIMD says whether this processor runs rowPairSIMD.
func hasSIMD() bool {
	return cpu.X86.HasAVX2
}

// rowPairSIMD needs n >= block. The last, partial block is done as a whole one
// that ends at n: the pixels that it does again are equal by then, so they do
// not count as changed.
func rowPairSIMD(y0, y1, u, v, src0, src1 []byte, n int) (first, last int) {
	// The assembly checks no bounds; these do it for it.
	y0, y1, u, v = y0[:n], y1[:n], u[:n/2], v[:n/2]
	src0, src1 = src0[:4*n], src1[:4*n]

	first, last = rowPairAVX2(&y0[0], &y1[0], &u[0], &v[0], &src0[0], &src1[0], n/block)
	if n%block == 0 {
		return first, last
	}
	t := n - block
	f, _ := rowPairAVX2(&y0[t], &y1[t], &u[t/2], &v[t/2], &src0[4*t], &src1[4*t], 1)
	if f < 0 {
		return first, last
	}
	last = n / block
	if first < 0 {
		first = last
	}
	return first, last
}
