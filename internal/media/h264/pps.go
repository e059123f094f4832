package h264

// PPS is what this package uses of a picture parameter set (7.3.2.2).
type PPS struct {
	ID, SPSID            uint32
	CABAC                bool // entropy_coding_mode_flag
	BottomPOCPresent     bool // bottom_field_pic_order_in_frame_present_flag
	NumRefIdxL0          int  // num_ref_idx_l0_default_active, 1..32
	NumRefIdxL1          int
	WeightedPred         bool
	WeightedBipred       uint32
	InitQP               int32 // 26 + pic_init_qp_minus26
	DeblockingControl    bool  // deblocking_filter_control_present_flag
	ConstrainedIntraPred bool
}

// ParsePPS reads a picture parameter set NAL unit as far as the flags of the
// slice header. It returns a [SyntaxError] for bytes that are none and an
// [UnsupportedError] for slice groups (FMO) and redundant pictures.
func ParsePPS(nal []byte) (PPS, error) {
	if Type(nal) != TypePPS {
		return PPS{}, malformed("PPS", "not a NAL unit of type 8")
	}
	r := &bitReader{data: Unescape(nil, nal), pos: 8}
	p := PPS{ID: r.ue(), SPSID: r.ue()}
	if p.ID > 255 || p.SPSID > 31 {
		return PPS{}, malformed("PPS", "ids %d, %d", p.ID, p.SPSID)
	}
	p.CABAC = r.flag()
	p.BottomPOCPresent = r.flag()
	if groups := r.ue(); groups != 0 && !r.failed {
		return PPS{}, unsupported("%d slice groups (FMO)", uint64(groups)+1)
	}
	l0, l1 := r.ue(), r.ue()
	if l0 > 31 || l1 > 31 {
		return PPS{}, malformed("PPS", "more than 32 active references")
	}
	p.NumRefIdxL0, p.NumRefIdxL1 = int(l0)+1, int(l1)+1
	p.WeightedPred = r.flag()
	p.WeightedBipred = r.u(2)
	initQP := r.se()
	if initQP < -62 || initQP > 25 {
		return PPS{}, malformed("PPS", "pic_init_qp_minus26 %d", initQP)
	}
	p.InitQP = 26 + initQP
	r.se() // pic_init_qs_minus26
	r.se() // chroma_qp_index_offset
	p.DeblockingControl = r.flag()
	p.ConstrainedIntraPred = r.flag()
	redundant := r.flag()
	if r.failed {
		return PPS{}, malformed("PPS", "cut short")
	}
	if redundant {
		return PPS{}, unsupported("redundant_pic_cnt_present_flag")
	}
	return p, nil
}
