// Package mp4 reads, writes and checks MP4 files of one H.264 track: fragments
// as they are recorded, and films with the index before the media.
//
// Boxes live here, and so does the box library, which no other package may
// import. What is inside a sample belongs to h264; where files come from and
// go to, when they are synced or deleted, belongs to segment and recording.
//
// Time is counted in ticks of the frame rate: tick n is time n/FPS. Files hold
// it at a time scale of 1000 units a tick. Box and clause names in comments
// are those of ISO/IEC 14496-12.
package mp4
