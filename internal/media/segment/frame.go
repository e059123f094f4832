package segment

// Frame is one encoded picture on the fps grid.
type Frame struct {
	Tick int64  // grid position: the time Tick/fps since the epoch
	Key  bool   // an IDR picture
	Data []byte // H.264 access unit, each NAL unit behind its length in 4 bytes, without parameter sets
}
