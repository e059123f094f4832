package h264

import "slices"

// SPS is what this package uses of a sequence parameter set (7.3.2.1.1).
// Only progressive streams get that far.
type SPS struct {
	ID                        uint32
	Profile, Compat, Level    byte // profile_idc, the constraint flags, level_idc
	ChromaFormat              uint32
	BitDepthLuma              int
	BitDepthChroma            int
	FrameNumBits              int // log2_max_frame_num, 4..16
	POCType                   uint32
	POCLsbBits                int // log2_max_pic_order_cnt_lsb, 4..16; POC type 0 only
	MaxNumRefFrames           uint32
	WidthMbs, HeightMbs       int // coded size in macroblocks
	Width, Height             int // size after cropping, in luma samples
	Colour                    Colour
	NumUnitsInTick, TimeScale uint32 // 0 when the stream carries no timing
}

// Colour is the video signal description of a stream's VUI (E.2.1), in the
// code points of ITU-T H.273.
type Colour struct {
	// Present tells whether the stream carries the description; without it
	// the code points are 2, "unspecified".
	Present                     bool
	FullRange                   bool
	Primaries, Transfer, Matrix byte
}

// maxMbs is MaxFS of the highest level (table A-1, level 6.2).
const maxMbs = 139264

// highProfiles have chroma_format_idc and what follows in their SPS (7.3.2.1.1).
func highProfile(p byte) bool {
	return slices.Contains([]byte{100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135}, p)
}

// ParseSPS reads a sequence parameter set NAL unit. It returns a [SyntaxError]
// for bytes that are none and an [UnsupportedError] for interlaced streams,
// separate colour planes and POC type 1.
func ParseSPS(nal []byte) (SPS, error) {
	if Type(nal) != TypeSPS || len(nal) < 5 {
		return SPS{}, malformed("SPS", "not a NAL unit of type 7")
	}
	r := &bitReader{data: Unescape(nil, nal), pos: 8}
	s := SPS{ChromaFormat: 1, BitDepthLuma: 8, BitDepthChroma: 8}
	s.Profile, s.Compat, s.Level = byte(r.u(8)), byte(r.u(8)), byte(r.u(8))
	s.ID = r.ue()
	if highProfile(s.Profile) {
		if err := s.readHigh(r); err != nil {
			return SPS{}, err
		}
	}
	if err := s.readOrder(r); err != nil {
		return SPS{}, err
	}
	if err := s.readSize(r); err != nil {
		return SPS{}, err
	}
	s.Colour = Colour{Primaries: 2, Transfer: 2, Matrix: 2}
	if r.flag() {
		s.readVUI(r)
	}
	if r.failed {
		return SPS{}, malformed("SPS", "cut short")
	}
	return s, nil
}

func (s *SPS) readHigh(r *bitReader) error {
	s.ChromaFormat = r.ue()
	if s.ChromaFormat > 3 {
		return malformed("SPS", "chroma_format_idc %d", s.ChromaFormat)
	}
	if s.ChromaFormat == 3 && r.flag() {
		return unsupported("separate_colour_plane_flag")
	}
	luma, chroma := r.ue(), r.ue()
	if luma > 6 || chroma > 6 {
		return malformed("SPS", "bit depth over 14")
	}
	s.BitDepthLuma, s.BitDepthChroma = 8+int(luma), 8+int(chroma)
	r.bit() // qpprime_y_zero_transform_bypass_flag
	if r.flag() {
		lists := 8
		if s.ChromaFormat == 3 {
			lists = 12
		}
		skipScalingLists(r, lists)
	}
	return nil
}

// skipScalingLists reads past n scaling lists, the first six of 16 and the
// others of 64 coefficients (7.3.2.1.1.1).
func skipScalingLists(r *bitReader, n int) {
	for i := range n {
		if !r.flag() {
			continue
		}
		size := 16
		if i >= 6 {
			size = 64
		}
		last, next := int32(8), int32(8)
		for range size {
			if next != 0 {
				next = (last + r.se()%256 + 256) % 256
			}
			if next != 0 {
				last = next
			}
		}
	}
}

func (s *SPS) readOrder(r *bitReader) error {
	frameNum := r.ue()
	if frameNum > 12 {
		return malformed("SPS", "log2_max_frame_num_minus4 %d", frameNum)
	}
	s.FrameNumBits = int(frameNum) + 4
	switch s.POCType = r.ue(); s.POCType {
	case 0:
		lsb := r.ue()
		if lsb > 12 {
			return malformed("SPS", "log2_max_pic_order_cnt_lsb_minus4 %d", lsb)
		}
		s.POCLsbBits = int(lsb) + 4
	case 1:
		return unsupported("pic_order_cnt_type 1")
	case 2:
	default:
		return malformed("SPS", "pic_order_cnt_type %d", s.POCType)
	}
	s.MaxNumRefFrames = r.ue()
	if s.MaxNumRefFrames > 16 {
		return malformed("SPS", "max_num_ref_frames %d", s.MaxNumRefFrames)
	}
	r.bit() // gaps_in_frame_num_value_allowed_flag
	return nil
}

func (s *SPS) readSize(r *bitReader) error {
	w, h := uint64(r.ue())+1, uint64(r.ue())+1
	if r.failed {
		return malformed("SPS", "cut short")
	}
	if !r.flag() {
		return unsupported("interlaced coding (frame_mbs_only_flag 0)")
	}
	if w > maxMbs || h > maxMbs || w*h > maxMbs {
		return malformed("SPS", "picture of %dx%d macroblocks", w, h)
	}
	r.bit() // direct_8x8_inference_flag
	s.WidthMbs, s.HeightMbs = int(w), int(h)
	s.Width, s.Height = 16*s.WidthMbs, 16*s.HeightMbs
	if !r.flag() {
		return nil
	}
	unitX, unitY := uint64(1), uint64(1) // CropUnitX, CropUnitY (7-19..7-22)
	if s.ChromaFormat == 1 || s.ChromaFormat == 2 {
		unitX = 2
	}
	if s.ChromaFormat == 1 {
		unitY = 2
	}
	cropX := (uint64(r.ue()) + uint64(r.ue())) * unitX
	cropY := (uint64(r.ue()) + uint64(r.ue())) * unitY
	if cropX >= 16*w || cropY >= 16*h {
		return malformed("SPS", "cropping takes the whole picture")
	}
	s.Width -= int(cropX)
	s.Height -= int(cropY)
	return nil
}

// readVUI reads as far as the timing (E.1.1); what follows is of no use here.
func (s *SPS) readVUI(r *bitReader) {
	if r.flag() { // aspect_ratio_info_present_flag
		if r.u(8) == 255 { // Extended_SAR
			r.u(32)
		}
	}
	if r.flag() { // overscan_info_present_flag
		r.bit()
	}
	if r.flag() { // video_signal_type_present_flag
		r.u(3)
		s.Colour.FullRange = r.flag()
		if r.flag() {
			s.Colour.Present = true
			s.Colour.Primaries, s.Colour.Transfer, s.Colour.Matrix = byte(r.u(8)), byte(r.u(8)), byte(r.u(8))
		}
	}
	if r.flag() { // chroma_loc_info_present_flag
		r.ue()
		r.ue()
	}
	if r.flag() { // timing_info_present_flag
		s.NumUnitsInTick, s.TimeScale = r.u(32), r.u(32)
	}
}
