//go:build !amd64

package pixel

// hasSIMD is false: this architecture has the plain conversion alone.
func hasSIMD() bool {
	return false
}

func rowPairSIMD(y0, y1, u, v, src0, src1 []byte, n int) (first, last int) {
	return rowPairGo(y0, y1, u, v, src0, src1, n)
}
