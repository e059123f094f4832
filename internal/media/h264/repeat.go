package h264

// repeatPicture is the coded picture that repeats the one before it: one P
// slice in which every macroblock is skipped. A skipped macroblock copies
// reference 0, the picture before, with a zero vector (8.4.1.1: at the
// picture's edge neighbours are missing, inside they have zero vectors), has
// no residual, and its edges have filter strength 0 (8.7.2.1), so that the
// copy is exact even where the PPS does not let us switch deblocking off.
type repeatPicture struct {
	rbsp       []byte // NAL header included, not escaped
	frameNumAt int
	pocLsbAt   int
}

// repeatQP is the highest QP: it starts the context of mb_skip_flag in the
// state in which skipping costs least. No residual is scaled by it.
const repeatQP = 51

func newRepeatPicture(sps *SPS, pps *PPS) repeatPicture {
	var p repeatPicture
	w := &bitWriter{}
	w.u(2<<5|uint32(TypeSlice), 8) // nal_ref_idc 2: the next picture refers to it
	w.ue(0)                        // first_mb_in_slice
	w.ue(5)                        // slice_type: every slice of the picture is P
	w.ue(pps.ID)
	p.frameNumAt = w.pos()
	w.u(0, sps.FrameNumBits)
	if sps.POCType == 0 {
		p.pocLsbAt = w.pos()
		w.u(0, sps.POCLsbBits)
		if pps.BottomPOCPresent {
			w.se(0)
		}
	}
	writeOneReference(w, sps, pps)
	w.bit(0) // adaptive_ref_pic_marking_mode_flag
	if pps.CABAC {
		w.ue(repeatInitIDC)
	}
	w.se(repeatQP - pps.InitQP)
	if pps.DeblockingControl {
		w.ue(1) // disable_deblocking_filter_idc: off
	}
	writeSkips(w, sps.WidthMbs*sps.HeightMbs, pps.CABAC)
	p.rbsp = w.data
	return p
}

// writeOneReference writes the part of the header that makes the previous
// picture the only reference, with weights that change nothing.
func writeOneReference(w *bitWriter, sps *SPS, pps *PPS) {
	if pps.NumRefIdxL0 == 1 {
		w.bit(0) // num_ref_idx_active_override_flag
	} else {
		w.bit(1)
		w.ue(0)
	}
	w.bit(0) // ref_pic_list_modification_flag_l0
	if !pps.WeightedPred {
		return
	}
	chroma := sps.ChromaFormat != 0
	w.ue(0) // luma_log2_weight_denom
	if chroma {
		w.ue(0) // chroma_log2_weight_denom
	}
	w.bit(0) // luma_weight_l0_flag
	if chroma {
		w.bit(0) // chroma_weight_l0_flag
	}
}

func writeSkips(w *bitWriter, mbs int, useCABAC bool) {
	if !useCABAC {
		w.ue(uint32(mbs)) // mb_skip_run
		w.trailing()
		return
	}
	w.align(1) // cabac_alignment_one_bit
	c := newCABAC(w)
	state := repeatInitState
	for i := range mbs {
		// ctxIdxInc is 0 for all: neighbours are missing or skipped (9.3.3.1.1.1).
		state = c.mps(state)
		c.terminate(i == mbs-1)
	}
	w.align(0)
}

// Initialisation of the context of mb_skip_flag, ctxIdx 11, for cabac_init_idc
// 2 (table 9-13: m 29, n 16) at repeatQP (9-5). preCtxState is 108, over 63,
// so that the most probable symbol is 1, "skipped".
const (
	repeatInitIDC   = 2
	repeatInitState = 29*repeatQP>>4 + 16 - 64
)

// append appends to dst the picture as an access unit with a 4-byte length.
func (p *repeatPicture) append(dst []byte, sps *SPS, frameNum, pocLsb uint32) []byte {
	setBits(p.rbsp, p.frameNumAt, sps.FrameNumBits, frameNum)
	if sps.POCType == 0 {
		setBits(p.rbsp, p.pocLsbAt, sps.POCLsbBits, pocLsb)
	}
	return appendEscaped(dst, p.rbsp)
}
