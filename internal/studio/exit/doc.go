// Package exit is the only way out of a box: it takes the film and the poster
// that a hijacked agent may have made, believes nothing of them, and publishes
// bytes that this package has written and read back itself.
//
// A film passes these steps, and a fault in any of them is a [RefusedError]:
//
//  1. collect: one descriptor, regular file, no link, one capped copy;
//  2. walk: our own reader of boxes, tables, parameter sets and NAL units, by
//     allow-lists;
//  3. rewrite: a container of our own around the slices, nothing else kept;
//  4. encode afresh in a second box, and steps 1 to 3 with what comes out of
//     it ([Reencode]; [Remux] leaves this out);
//  5. decode the whole in a box, which also draws the poster;
//  6. walk once more, compare hashes, and link that very inode into place.
//
// Everything that judges or rewrites foreign bytes on the way out lives here.
// How a box is made does not ([Runner] is the port), nor does anything that
// draws, talks to a model or counts money. No decoder written in C runs
// outside a box, and no box library takes part in the judgement.
//
// Box and clause names in comments are those of ISO/IEC 14496-12 and -15, and
// of ITU-T Rec. H.264 (08/2021) and T.81 for what is inside.
package exit
