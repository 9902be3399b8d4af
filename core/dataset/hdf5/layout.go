package hdf5

import "fmt"

// layout is where the numbers of an array are.
type layout struct {
	kind    int
	inside  []byte // of a compact array: its numbers
	address uint64 // of a contiguous one, or the tree of chunks
	size    uint64 // bytes of a contiguous one
	chunk   []uint64
}

// The kinds of layouts.
const (
	compact    = 0
	contiguous = 1
	chunked    = 2
)

// Newest is the error of an array in chunks of a kind that HDF5 1.10 brought.
const Newest = Refusal("its chunks are stored as only the newest HDF5 does (libver='latest')")

func readLayout(c *cursor) (layout, error) {
	version, kind := c.u8(), c.u8()
	l := layout{kind: kind}
	switch {
	case c.err != nil:
		return l, c.err
	case version < 3:
		return l, Refusal("its layout is of a version from before 2004")
	case version > 4 || kind > 3:
		return l, damaged(fmt.Sprintf("a layout of version %d, kind %d", version, kind))
	case kind == 3:
		return l, Refusal("it is put together from other files")
	case kind == compact:
		l.inside = c.take(c.u16())
	case kind == contiguous:
		l.address, l.size = c.address(), c.length()
	case version == 4:
		return l, Newest
	default:
		rank := c.u8() - 1
		l.address = c.address()
		if rank < 1 || rank > 32 {
			return l, damaged(fmt.Sprintf("chunks of %d dimensions", rank))
		}
		for range rank {
			l.chunk = append(l.chunk, c.uint(4))
		}
		c.skip(4) // bytes of an element
	}
	return l, c.err
}

// filter is one that a chunk passed through when it was written.
type filter struct {
	id     int
	client []uint64
}

// The filters that are read.
const (
	deflate  = 1
	shuffle  = 2
	fletcher = 3
)

var otherFilters = map[int]string{4: "szip", 5: "nbit", 6: "scaleoffset", 32000: "lzf", 32001: "blosc", 32004: "lz4", 32015: "zstd"}

func readFilters(c *cursor) (all []filter, err error) {
	version, n := c.u8(), c.u8()
	switch {
	case c.err != nil:
		return nil, c.err
	case version != 1 && version != 2 || n > 32:
		return nil, damaged(fmt.Sprintf("%d filters of version %d", n, version))
	case version == 1:
		c.skip(6)
	}
	for range n {
		f := filter{id: c.u16()}
		name := 0
		if version == 1 || f.id >= 256 {
			name = c.u16()
		}
		c.skip(2)
		values := c.u16()
		if version == 1 {
			name = (name + 7) / 8 * 8
		}
		c.skip(name)
		for range values {
			if c.err != nil {
				break
			}
			f.client = append(f.client, c.uint(4))
		}
		if version == 1 && values%2 == 1 {
			c.skip(4)
		}
		all = append(all, f)
	}
	return all, c.err
}
