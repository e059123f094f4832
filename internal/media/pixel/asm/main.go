// Command asm writes the AVX2 conversion of two rows from BGRX to I420; run it
// through go generate in the folder above. It is a module of its own so that
// the generator is no dependency of the product.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The coefficients of package pixel; its tests hold both to the same result.
const (
	yR, yG, yB = 5983, 20127, 2032
	uR, uG, uB = -3298, -11094, 14392
	vR, vG, vB = 14392, -13073, -1319

	lumaBias   = 16<<15 + 1<<14
	chromaBias = 128<<17 + 1<<16
)

// consts holds the vectors that the loop needs. Pairs of words fit VPMADDWD:
// blue and red in one, green and nothing (times the unused byte) in the other.
type consts struct {
	even             reg.VecVirtual
	yBR, yGX         Mem
	yBias            Mem
	uBR, uGX         Mem
	vBR, vGX         Mem
	cBias            Mem
	lumaOrder, words Mem
}

func main() {
	TEXT("rowPairAVX2", NOSPLIT, "func(y0, y1, u, v, src0, src1 *byte, blocks int) (first, last int)")
	Pragma("noescape")
	Doc("rowPairAVX2 converts blocks*32 pixels of two rows; blocks is at least 1.",
		"It returns the first and last block of which a sample changed, or -1, -1.")
	y0, y1 := Load(Param("y0"), GP64()), Load(Param("y1"), GP64())
	u, v := Load(Param("u"), GP64()), Load(Param("v"), GP64())
	src0, src1 := Load(Param("src0"), GP64()), Load(Param("src1"), GP64())
	blocks := Load(Param("blocks"), GP64())
	first, last, index := GP64(), GP64(), GP64()
	MOVQ(I32(-1), first)
	MOVQ(I32(-1), last)
	XORQ(index, index)

	c := loadConsts()

	Label("loop")
	h0 := half(c, Mem{Base: src0}, Mem{Base: src1})
	h1 := half(c, Mem{Base: src0, Disp: 64}, Mem{Base: src1, Disp: 64})
	luma0 := packLuma(c, h0.y0, h1.y0)
	luma1 := packLuma(c, h0.y1, h1.y1)
	chroma := packChroma(c, h0, h1)

	// Compare with what is there, and store only where something differs.
	diff, t, old := YMM(), YMM(), YMM()
	VPXOR(Mem{Base: y0}, luma0, diff)
	VPXOR(Mem{Base: y1}, luma1, t)
	VPOR(t, diff, diff)
	VMOVDQU(Mem{Base: u}, old.AsX())
	VINSERTI128(Imm(1), Mem{Base: v}, old, old)
	VPXOR(chroma, old, t)
	VPOR(t, diff, diff)
	VPTEST(diff, diff)
	JZ(LabelRef("next"))
	VMOVDQU(luma0, Mem{Base: y0})
	VMOVDQU(luma1, Mem{Base: y1})
	VMOVDQU(chroma.AsX(), Mem{Base: u})
	VEXTRACTI128(Imm(1), chroma, Mem{Base: v})
	MOVQ(index, last)
	TESTQ(first, first)
	CMOVQLT(index, first)

	Label("next")
	ADDQ(Imm(128), src0)
	ADDQ(Imm(128), src1)
	ADDQ(Imm(32), y0)
	ADDQ(Imm(32), y1)
	ADDQ(Imm(16), u)
	ADDQ(Imm(16), v)
	INCQ(index)
	CMPQ(index, blocks)
	JLT(LabelRef("loop"))

	VZEROUPPER()
	Store(first, ReturnIndex(0))
	Store(last, ReturnIndex(1))
	RET()
	Generate()
}

func loadConsts() consts {
	c := consts{
		even:      YMM(), // the rest stays in memory: 16 registers are just enough
		yBR:       dwords("yBR", wordPair(yB, yR)),
		yGX:       dwords("yGX", wordPair(yG, 0)),
		yBias:     dwords("lumaBias", lumaBias),
		uBR:       dwords("uBR", wordPair(uB, uR)),
		uGX:       dwords("uGX", wordPair(uG, 0)),
		vBR:       dwords("vBR", wordPair(vB, vR)),
		vGX:       dwords("vGX", wordPair(vG, 0)),
		cBias:     dwords("chromaBias", chromaBias),
		lumaOrder: table("lumaOrder", []uint32{0, 4, 1, 5, 2, 6, 3, 7}),
		// Bytes 0 1 8 9 2 3 10 11 4 5 12 13 6 7 14 15, in each lane.
		words: table("chromaOrder", []uint32{
			0x09080100, 0x0b0a0302, 0x0d0c0504, 0x0f0e0706,
			0x09080100, 0x0b0a0302, 0x0d0c0504, 0x0f0e0706}),
	}
	VMOVDQU(dwords("evenBytes", 0x00ff00ff), c.even)
	return c
}

func wordPair(lo, hi int) uint32 {
	return uint32(uint16(lo)) | uint32(uint16(hi))<<16
}

func dwords(name string, v uint32) Mem {
	return table(name, []uint32{v, v, v, v, v, v, v, v})
}

func table(name string, v []uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i, d := range v {
		DATA(4*i, U32(d))
	}
	return m
}

// sixteen is 16 columns of both rows: luma as words in pack order, chroma as
// dwords in horizontal-add order.
type sixteen struct {
	y0, y1, u, v reg.VecVirtual
}

// half converts 16 columns: two vectors of 8 pixels from each row.
func half(c consts, src0, src1 Mem) sixteen {
	a0, a1, aBR, aGX := eight(c, src0, src1)
	b0, b1, bBR, bGX := eight(c, src0.Offset(32), src1.Offset(32))
	VPACKUSDW(b0, a0, a0)
	VPACKUSDW(b1, a1, a1)
	// Dword adds are word adds here: sums stay below 1021, nothing carries.
	VPHADDD(bBR, aBR, aBR)
	VPHADDD(bGX, aGX, aGX)
	return sixteen{
		y0: a0, y1: a1,
		u: chroma(c.uBR, c.uGX, c.cBias, aBR, aGX),
		v: chroma(c.vBR, c.vGX, c.cBias, aBR, aGX),
	}
}

// eight converts the luma of 8 columns and returns the column sums of blue and
// red, and of green.
func eight(c consts, src0, src1 Mem) (y0, y1, sumBR, sumGX reg.VecVirtual) {
	sumBR, sumGX = split(c, src0)
	y0 = YMM()
	t := YMM()
	VPMADDWD(c.yBR, sumBR, y0)
	VPMADDWD(c.yGX, sumGX, t)
	luma(c, y0, t)

	y1, t = split(c, src1)
	VPADDW(y1, sumBR, sumBR)
	VPADDW(t, sumGX, sumGX)
	VPMADDWD(c.yBR, y1, y1)
	VPMADDWD(c.yGX, t, t)
	luma(c, y1, t)
	return y0, y1, sumBR, sumGX
}

// split loads 8 pixels as words: blue and red, green and the unused byte.
func split(c consts, src Mem) (br, gx reg.VecVirtual) {
	br, gx = YMM(), YMM()
	VMOVDQU(src, gx)
	VPAND(c.even, gx, br)
	VPSRLW(Imm(8), gx, gx)
	return br, gx
}

// luma rounds the sum of y and t to 8 dwords in y.
func luma(c consts, y, t reg.VecVirtual) {
	VPADDD(t, y, y)
	VPADDD(c.yBias, y, y)
	VPSRLD(Imm(15), y, y)
}

func chroma(coefBR, coefGX, bias Mem, br, gx reg.VecVirtual) reg.VecVirtual {
	s, t := YMM(), YMM()
	VPMADDWD(coefBR, br, s)
	VPMADDWD(coefGX, gx, t)
	VPADDD(t, s, s)
	VPADDD(bias, s, s)
	VPSRLD(Imm(17), s, s)
	return s
}

// packLuma narrows 32 luma words to bytes in screen order.
func packLuma(c consts, lo, hi reg.VecVirtual) reg.VecVirtual {
	order := YMM()
	VPACKUSWB(hi, lo, lo)
	VMOVDQU(c.lumaOrder, order)
	VPERMD(lo, order, lo)
	return lo
}

// packChroma narrows to 16 bytes of Cb in the low lane, of Cr in the high one.
func packChroma(c consts, lo, hi sixteen) reg.VecVirtual {
	VPACKUSDW(hi.u, lo.u, lo.u)
	VPACKUSDW(hi.v, lo.v, lo.v)
	VPACKUSWB(lo.v, lo.u, lo.u)
	VPERMQ(Imm(0xd8), lo.u, lo.u)
	VPSHUFB(c.words, lo.u, lo.u)
	return lo.u
}
