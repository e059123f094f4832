package exit

import "encoding/binary"

// node is a box that may stand in another one. It has a reader or children.
type node struct {
	typ   string
	least int // how often it must stand there; at most once
	read  func(body []byte) error
	inner []node
}

// movie is the tree of boxes that a moov box may hold. With moov and mdat's
// file around it no box is deeper than 8.
func (x *index) movie() []node {
	return []node{
		{typ: "mvhd", least: 1, read: x.movieHeader},
		{typ: "trak", least: 1, inner: []node{
			{typ: "tkhd", least: 1, read: x.trackHeader},
			{typ: "edts", inner: []node{{typ: "elst", least: 1, read: x.editList}}},
			{typ: "mdia", least: 1, inner: []node{
				{typ: "mdhd", least: 1, read: x.mediaHeader},
				{typ: "hdlr", least: 1, read: handler},
				{typ: "minf", least: 1, inner: []node{
					{typ: "vmhd", least: 1, read: videoHeader},
					{typ: "dinf", least: 1, inner: []node{{typ: "dref", least: 1, read: dataReference}}},
					{typ: "stbl", least: 1, inner: x.tables()},
				}},
			}},
		}},
		{typ: "udta", read: noUserData},
	}
}

func (x *index) tables() []node {
	return []node{
		{typ: "stsd", least: 1, read: x.descriptions},
		{typ: "stts", least: 1, read: x.durations},
		{typ: "ctts", read: x.offsets},
		{typ: "stss", read: x.keyframes},
		{typ: "stsc", least: 1, read: x.chunkRuns},
		{typ: "stsz", least: 1, read: x.sizes},
		{typ: "stco", read: x.chunkOffsets32},
		{typ: "co64", read: x.chunkOffsets64},
	}
}

// descend reads the boxes in body, which they must tile, as the nodes say.
func descend(body []byte, nodes []node) error {
	seen := make([]bool, len(nodes))
	for len(body) > 0 {
		if len(body) < 8 {
			return refuse(BoxSize, "moov")
		}
		size := uint64(binary.BigEndian.Uint32(body))
		if size < 8 || size > uint64(len(body)) {
			return refuse(BoxSize, "moov")
		}
		i := find(nodes, string(body[4:8]))
		if i < 0 {
			return refuse(BoxUnknown, "moov")
		}
		if seen[i] {
			return repeated(nodes[i].typ)
		}
		seen[i] = true
		if err := nodes[i].enter(body[8:size]); err != nil {
			return err
		}
		body = body[size:]
	}
	for i, n := range nodes {
		if n.least > 0 && !seen[i] {
			return missing(n.typ)
		}
	}
	return nil
}

func (n node) enter(body []byte) error {
	if n.read != nil {
		return n.read(body)
	}
	return descend(body, n.inner)
}

func find(nodes []node, typ string) int {
	for i, n := range nodes {
		if n.typ == typ {
			return i
		}
	}
	return -1
}

func repeated(typ string) error {
	if typ == "trak" {
		return refuse(Tracks, typ)
	}
	return refuse(BoxRepeated, typ)
}

func missing(typ string) error {
	if typ == "trak" {
		return refuse(Tracks, typ)
	}
	return refuse(BoxMissing, typ)
}
