package exit

import (
	"bytes"
	"slices"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// parameterSets are those of one stream: the exact NAL units, and what slice
// headers need of them.
type parameterSets struct {
	nalSPS, nalPPS []byte
	record         []byte // the avcC payload that follows from them
	sps            h264.SPS
	pps            h264.PPS
}

// readConfig reads an avcC box (14496-15, 5.3.3.1). The record must be, byte
// for byte, the one that follows from its own SPS and PPS.
func readConfig(body []byte, want Want) (parameterSets, error) {
	config, err := h264.ParseConfig(body)
	if err != nil {
		return parameterSets{}, refuse(ParameterSet, "avcC")
	}
	if same, err := config.Marshal(); err != nil || !bytes.Equal(same, body) {
		return parameterSets{}, refuse(ParameterSet, "avcC")
	}
	p := parameterSets{nalSPS: config.SPS, nalPPS: config.PPS, record: body}
	if !checkSPS(config.SPS, want) {
		return p, refuse(ParameterSet, "SPS")
	}
	if !checkPPS(config.PPS) {
		return p, refuse(ParameterSet, "PPS")
	}
	if p.sps, err = h264.ParseSPS(config.SPS); err != nil {
		return p, refuse(ParameterSet, "SPS")
	}
	if p.pps, err = h264.ParsePPS(config.PPS); err != nil {
		return p, refuse(ParameterSet, "PPS")
	}
	if p.sps.Width != want.Width || p.sps.Height != want.Height {
		return p, refuse(FrameSize, "SPS")
	}
	return p, nil
}

// The profiles and levels that may leave: what x264 makes for up to 4096
// pixels a side.
func profiles() []uint32 { return []uint32{66, 77, 100} }

func levels() []uint32 {
	return []uint32{10, 11, 12, 13, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52}
}

// rbsp gives the bits of a parameter set after its header byte, or nil when
// the header or the escaping is not exactly what it has to be.
func rbsp(nal []byte, header byte) []byte {
	const longest = 128
	if len(nal) < 3 || len(nal) > longest || nal[0] != header {
		return nil
	}
	plain := h264.Unescape(nil, nal)
	if !bytes.Equal(h264.Escape(nil, plain), nal) {
		return nil
	}
	return plain[1:]
}

// checkSPS reads a whole sequence parameter set (7.3.2.1.1): every value from
// a list or a range, no scaling matrix, no interlacing, no bit left over.
func checkSPS(nal []byte, want Want) bool {
	r := &bits{b: rbsp(nal, 0x67)}
	profile := r.u(8)
	r.want(slices.Contains(profiles(), profile))
	r.u(6)              // constraint_set0..5_flag
	r.want(r.u(2) == 0) // reserved_zero_2bits
	r.want(slices.Contains(levels(), r.u(8)))
	r.ue(0) // seq_parameter_set_id
	if profile == 100 {
		r.want(r.ue(1) == 1) // chroma_format_idc: 4:2:0
		r.ue(0)              // bit_depth_luma_minus8
		r.ue(0)              // bit_depth_chroma_minus8
		r.want(!r.flag())    // qpprime_y_zero_transform_bypass_flag
		r.want(!r.flag())    // seq_scaling_matrix_present_flag
	}
	r.ue(12) // log2_max_frame_num_minus4
	order := r.ue(2)
	r.want(order != 1) // pic_order_cnt_type
	if order == 0 {
		r.ue(12) // log2_max_pic_order_cnt_lsb_minus4
	}
	r.ue(16)          // max_num_ref_frames
	r.want(!r.flag()) // gaps_in_frame_num_value_allowed_flag
	// The size is at most one macroblock over what is shown.
	r.want(int(r.ue(255)) == (want.Width+15)/16-1)
	r.want(int(r.ue(255)) == (want.Height+15)/16-1)
	r.want(r.flag()) // frame_mbs_only_flag
	r.bit()          // direct_8x8_inference_flag
	if r.flag() {    // frame_cropping_flag: right and bottom only
		r.ue(0)
		r.ue(7)
		r.ue(0)
		r.ue(7)
	}
	if r.flag() { // vui_parameters_present_flag
		checkVUI(r, want)
	}
	return r.whole()
}

// checkVUI reads the video usability information (E.1.1): square pixels,
// BT.709 or unspecified, limited range, the ordered rate, no buffering data.
func checkVUI(r *bits, want Want) {
	if r.flag() { // aspect_ratio_info_present_flag
		switch r.u(8) {
		case 0, 1:
		case 255: // Extended_SAR
			r.want(r.u(32) == 1<<16|1)
		default:
			r.bad = true
		}
	}
	if r.flag() { // overscan_info_present_flag
		r.want(!r.flag())
	}
	if r.flag() { // video_signal_type_present_flag
		r.want(r.u(3) == 5) // video_format: unspecified
		r.want(!r.flag())   // video_full_range_flag
		if r.flag() {
			for range 3 { // primaries, transfer, matrix
				v := r.u(8)
				r.want(v == 1 || v == 2)
			}
		}
	}
	if r.flag() { // chroma_loc_info_present_flag
		r.ue(5)
		r.ue(5)
	}
	if r.flag() { // timing_info_present_flag
		tick, scale := r.u(32), r.u(32)
		r.want(tick > 0 && uint64(scale) == 2*uint64(want.FPS)*uint64(tick))
		r.bit() // fixed_frame_rate_flag
	}
	r.want(!r.flag()) // nal_hrd_parameters_present_flag
	r.want(!r.flag()) // vcl_hrd_parameters_present_flag
	r.want(!r.flag()) // pic_struct_present_flag
	if r.flag() {     // bitstream_restriction_flag
		r.bit()
		for range 6 { // two sizes, two vector lengths, reordering, buffering
			r.ue(16)
		}
	}
}

// checkPPS reads a whole picture parameter set (7.3.2.2) in the same way.
func checkPPS(nal []byte) bool {
	r := &bits{b: rbsp(nal, 0x68)}
	r.ue(0)             // pic_parameter_set_id
	r.ue(0)             // seq_parameter_set_id
	r.bit()             // entropy_coding_mode_flag
	r.want(!r.flag())   // bottom_field_pic_order_in_frame_present_flag
	r.ue(0)             // num_slice_groups_minus1
	r.ue(15)            // num_ref_idx_l0_default_active_minus1
	r.ue(15)            // num_ref_idx_l1_default_active_minus1
	r.bit()             // weighted_pred_flag
	r.want(r.u(2) <= 2) // weighted_bipred_idc
	r.se(-26, 25)       // pic_init_qp_minus26
	r.se(-26, 25)       // pic_init_qs_minus26
	r.se(-12, 12)       // chroma_qp_index_offset
	r.bit()             // deblocking_filter_control_present_flag
	r.bit()             // constrained_intra_pred_flag
	r.want(!r.flag())   // redundant_pic_cnt_present_flag
	if r.more() {
		r.bit()           // transform_8x8_mode_flag
		r.want(!r.flag()) // pic_scaling_matrix_present_flag
		r.se(-12, 12)     // second_chroma_qp_index_offset
	}
	return r.whole()
}
