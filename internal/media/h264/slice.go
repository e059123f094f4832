package h264

// SliceHeader is what this package uses of a slice header (7.3.3). Positions
// are in bits of the unescaped NAL unit, its header byte included.
type SliceHeader struct {
	IDR           bool
	RefIDC        byte
	FirstMb       uint32
	Type          SliceType
	FrameNum      uint32
	FrameNumAt    int // position of frame_num
	IDRPicID      uint32
	IDRPicIDAt    int // position and end of idr_pic_id, IDR only
	IDRPicIDEnd   int
	POCLsb        uint32
	POCLsbAt      int // position of pic_order_cnt_lsb, POC type 0 only
	NumRefIdxL0   int // references in use, P and B slices
	ModifiesList  bool
	AdaptiveMarks bool // memory management operations, or a long-term IDR
	QP            int32
	End           int // position of slice_data
}

// SliceType is slice_type modulo 5 (table 7-6).
type SliceType byte

// The slice types.
const (
	SliceP SliceType = iota
	SliceB
	SliceI
	SliceSP
	SliceSI
)

// maxHeader bounds the bytes searched for the end of a slice header. A
// header with 32 weighted references of both lists stays under it.
const maxHeader = 2048

// ParseSliceHeader reads the header of a slice NAL unit of type 1 or 5 that
// refers to pps, which refers to sps. It returns a [SyntaxError] for bytes
// that are none, and an [UnsupportedError] for a slice of another PPS and for
// SP and SI slices.
func ParseSliceHeader(nal []byte, sps *SPS, pps *PPS) (SliceHeader, error) {
	t := Type(nal)
	if t != TypeSlice && t != TypeIDR {
		return SliceHeader{}, malformed("slice", "NAL unit of type %d", t)
	}
	if len(nal) > maxHeader {
		nal = nal[:maxHeader]
	}
	var buf [maxHeader]byte
	r := &bitReader{data: Unescape(buf[:0], nal), pos: 8}
	h := SliceHeader{IDR: t == TypeIDR, RefIDC: RefIDC(nal), FirstMb: r.ue()}
	sliceType := r.ue()
	if r.failed || sliceType > 9 {
		return SliceHeader{}, malformed("slice", "slice_type %d", sliceType)
	}
	h.Type = SliceType(sliceType % 5)
	if h.Type >= SliceSP {
		return SliceHeader{}, unsupported("SP and SI slices")
	}
	if h.FirstMb >= uint32(sps.WidthMbs*sps.HeightMbs) {
		return SliceHeader{}, malformed("slice", "first_mb_in_slice %d of %d", h.FirstMb, sps.WidthMbs*sps.HeightMbs)
	}
	if id := r.ue(); id != pps.ID {
		return SliceHeader{}, unsupported("slice of PPS %d in a stream of PPS %d", id, pps.ID)
	}
	h.readOrder(r, sps, pps)
	if err := h.readRefs(r, sps, pps); err != nil {
		return SliceHeader{}, err
	}
	if err := h.readRest(r, pps); err != nil {
		return SliceHeader{}, err
	}
	if r.failed {
		return SliceHeader{}, malformed("slice", "header cut short")
	}
	h.End = r.pos
	return h, nil
}

func (h *SliceHeader) readOrder(r *bitReader, sps *SPS, pps *PPS) {
	h.FrameNumAt = r.pos
	h.FrameNum = r.u(sps.FrameNumBits)
	if h.IDR {
		h.IDRPicIDAt = r.pos
		h.IDRPicID = r.ue()
		h.IDRPicIDEnd = r.pos
	}
	if sps.POCType != 0 {
		return
	}
	h.POCLsbAt = r.pos
	h.POCLsb = r.u(sps.POCLsbBits)
	if pps.BottomPOCPresent {
		r.se() // delta_pic_order_cnt_bottom
	}
}

func (h *SliceHeader) readRefs(r *bitReader, sps *SPS, pps *PPS) error {
	if h.Type == SliceB {
		r.bit() // direct_spatial_mv_pred_flag
	}
	var lists int
	switch h.Type {
	case SliceP:
		lists = 1
	case SliceB:
		lists = 2
	default:
		return nil
	}
	active := [2]int{pps.NumRefIdxL0, pps.NumRefIdxL1}
	if r.flag() { // num_ref_idx_active_override_flag
		for i := range lists {
			n := r.ue()
			if n > 31 {
				return malformed("slice", "more than 32 active references")
			}
			active[i] = int(n) + 1
		}
	}
	h.NumRefIdxL0 = active[0]
	for range lists {
		h.readModification(r)
	}
	if pps.WeightedPred && h.Type == SliceP || pps.WeightedBipred == 1 && h.Type == SliceB {
		skipWeights(r, sps.ChromaFormat != 0, active[:lists])
	}
	return nil
}

// readModification reads one ref_pic_list_modification (7.3.3.1).
func (h *SliceHeader) readModification(r *bitReader) {
	if !r.flag() {
		return
	}
	h.ModifiesList = true
	for !r.failed && r.ue() != 3 {
		r.ue()
	}
}

// skipWeights reads past a pred_weight_table (7.3.3.2).
func skipWeights(r *bitReader, chroma bool, active []int) {
	r.ue()
	if chroma {
		r.ue()
	}
	for _, n := range active {
		for range n {
			if r.flag() {
				r.se()
				r.se()
			}
			if chroma && r.flag() {
				for range 4 {
					r.se()
				}
			}
		}
	}
}

func (h *SliceHeader) readRest(r *bitReader, pps *PPS) error {
	if h.RefIDC != 0 {
		h.readMarking(r)
	}
	if pps.CABAC && h.Type != SliceI {
		if idc := r.ue(); idc > 2 {
			return malformed("slice", "cabac_init_idc %d", idc)
		}
	}
	h.QP = pps.InitQP + r.se()
	if !pps.DeblockingControl {
		return nil
	}
	if r.ue() != 1 { // disable_deblocking_filter_idc
		r.se()
		r.se()
	}
	return nil
}

// readMarking reads a dec_ref_pic_marking (7.3.3.3).
func (h *SliceHeader) readMarking(r *bitReader) {
	if h.IDR {
		r.bit() // no_output_of_prior_pics_flag
		h.AdaptiveMarks = r.flag()
		return
	}
	if !r.flag() {
		return
	}
	h.AdaptiveMarks = true
	for !r.failed {
		op := r.ue()
		if op == 0 {
			return
		}
		if op != 5 {
			r.ue()
		}
		if op == 3 {
			r.ue()
		}
	}
}
