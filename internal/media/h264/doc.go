// Package h264 reads and rewrites H.264 bitstreams without decoding pixels:
// NAL units, parameter sets, slice headers, the avcC record, and the
// [Sequencer] that writes pictures which repeat the one before them.
//
// It is pure arithmetic over bytes. No I/O, no containers, no codec library
// and no pixels may live here; boxes around the stream belong to mp4.
//
// Clause and table numbers in comments are those of ITU-T Rec. H.264 (08/2021).
package h264
