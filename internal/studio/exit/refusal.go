package exit

import (
	"github.com/proofreel/proofreel/internal/fault"
)

// Reason says in one stable word why something may not leave. Reasons are
// never renamed.
type Reason string

// The reasons. Each has a row in [Reasons].
const (
	Missing      Reason = "missing"
	NotRegular   Reason = "not_regular"
	Link         Reason = "link"
	OtherMount   Reason = "other_mount"
	Owner        Reason = "owner"
	FileMode     Reason = "file_mode"
	Sparse       Reason = "sparse"
	TooLarge     Reason = "too_large"
	Changed      Reason = "changed"
	BoxSize      Reason = "box_size"
	BoxUnknown   Reason = "box_unknown"
	BoxRepeated  Reason = "box_repeated"
	BoxMissing   Reason = "box_missing"
	BoxFields    Reason = "box_fields"
	BoxText      Reason = "box_text"
	Brand        Reason = "brand"
	Padding      Reason = "padding"
	Tracks       Reason = "tracks"
	Codec        Reason = "codec"
	External     Reason = "external_data"
	EditList     Reason = "edit_list"
	FrameSize    Reason = "frame_size"
	FrameRate    Reason = "frame_rate"
	Duration     Reason = "duration"
	SampleTable  Reason = "sample_table"
	MediaLayout  Reason = "media_layout"
	ParameterSet Reason = "parameter_set"
	NALUnit      Reason = "nal_unit"
	NALType      Reason = "nal_type"
	UserData     Reason = "user_data"
	Slice        Reason = "slice"
	JPEGMarker   Reason = "jpeg_marker"
	JPEGData     Reason = "jpeg_data"
	JPEGSize     Reason = "jpeg_size"
	JPEGTail     Reason = "jpeg_tail"
	Undecodable  Reason = "undecodable"
)

// ReasonRow explains a reason.
type ReasonRow struct {
	Reason  Reason
	Meaning string
}

// Reasons lists all reasons, in the order of the docs.
func Reasons() []ReasonRow {
	return []ReasonRow{
		{Missing, "There is no such file, or its folder is none."},
		{NotRegular, "It is a folder, FIFO, socket or device."},
		{Link, "It is a symbolic link, lies behind one, or has more than one name."},
		{OtherMount, "Its path leaves the work directory or its file system."},
		{Owner, "It does not belong to the box's user."},
		{FileMode, "It is set-user-ID, set-group-ID or sticky, or may not be read."},
		{Sparse, "It has holes."},
		{TooLarge, "It is empty or larger than allowed."},
		{Changed, "It changed while it was copied."},
		{BoxSize, "A box's size is wrong: boxes must tile the file and each other exactly, without 64-bit or open-ended sizes where they are not needed."},
		{BoxUnknown, "A box that is not on the list, where it stands."},
		{BoxRepeated, "A box that may stand once stands twice."},
		{BoxMissing, "A box that must be there is not."},
		{BoxFields, "A version, flag or field of a box has a value that is not on the list, or bytes are left over in it."},
		{BoxText, "A box holds text other than the names that ffmpeg and Proofreel write."},
		{Brand, "A brand of the file type that is not on the list."},
		{Padding, "A free box is large or holds more than zeros."},
		{Tracks, "There is more or less than one track."},
		{Codec, "The track is not H.264 video in an avc1 entry."},
		{External, "The data reference points anywhere but into this file."},
		{EditList, "The edit list does more than start with the first picture."},
		{FrameSize, "The frame size is not the one that was ordered."},
		{FrameRate, "The frame rate is not exactly the one that was ordered, or not constant."},
		{Duration, "The film is shorter or longer than allowed."},
		{SampleTable, "A sample table is larger than its film, does not add up, or contradicts another."},
		{MediaLayout, "The samples don't fill the media box exactly: a gap, an overlap, or a place outside."},
		{ParameterSet, "The decoder configuration, SPS or PPS holds a value that is not on the list, or bytes are left over in it."},
		{NALUnit, "The NAL units don't tile a sample, stand in a wrong order, or are badly escaped."},
		{NALType, "A NAL unit of a type that is not on the list."},
		{UserData, "A message (SEI) other than x264's own description of itself."},
		{Slice, "A slice's header is malformed or contradicts the film."},
		{JPEGMarker, "The poster has a marker segment that is not on the list (any APPn but a plain JFIF, a comment, several scans or images), or a malformed one."},
		{JPEGData, "The poster does not decode."},
		{JPEGSize, "The poster does not have the film's size."},
		{JPEGTail, "The poster goes on after its end."},
		{Undecodable, "The film does not decode without a complaint, to exactly the pictures that its tables count."},
	}
}

// Item is what was refused.
type Item string

// The items.
const (
	Film   Item = "film"
	Poster Item = "poster"
)

// RefusedError says that something may not leave. It holds no byte of the file and
// no number from it: whoever reads it learns one of the [Reasons] and, for
// people who debug an author, which of our own rules spoke. It unwraps to a
// fault of code exit_refused.
type RefusedError struct {
	Item   Item
	Reason Reason
	// Rule is what the rule looks at, in our own words, such as "mvhd".
	Rule string
}

func (e *RefusedError) Error() string { return e.fault().Message }

func (e *RefusedError) Unwrap() error { return e.fault() }

func (e *RefusedError) fault() *fault.Error {
	hint := "The author made a file that is not let out. Run the job again."
	return fault.New(fault.ExitRefused, hint, "the %s is not let out: %s (%s)", e.Item, e.Reason, e.Rule)
}

// refuse makes a refusal of the film. Rule must be a constant: nothing of the
// file may get into it.
func refuse(reason Reason, rule string) error {
	return &RefusedError{Item: Film, Reason: reason, Rule: rule}
}
