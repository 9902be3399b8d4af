package hdf5

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// fractalHeap is where links are kept of a group with many.
type fractalHeap struct {
	f                  *File
	offsetLen, sizeLen int    // bytes of an object's offset and size in its identifier
	bits               int    // of an offset in the heap
	width              uint64 // blocks of a row
	start, direct      uint64 // bytes of the first block and of the largest with objects
	checked            bool   // blocks with objects have a checksum
	blocks             []heapBlock
}

// heapBlock has the objects of a part of the heap.
type heapBlock struct{ offset, size, address uint64 }

func (f *File) fractalHeap(address uint64) (*fractalHeap, error) {
	c, err := f.structure(address, 26+12*f.lengths+3*f.offsets)
	if err != nil {
		return nil, err
	}
	whole := c.rest
	c.signature("FRHP", 0)
	c.skip(2) // bytes of an identifier
	filters, flags, largest := c.u16(), c.u8(), c.u32()
	c.skip(2*f.lengths + 2*f.offsets) // huge objects, free space
	c.skip(8 * f.lengths)             // how much is used
	h := &fractalHeap{f: f, checked: flags&2 != 0}
	h.width = uint64(c.u16())
	h.start, h.direct = c.length(), c.length()
	h.bits = c.u16()
	c.skip(2)
	root, rows := c.address(), c.u16()
	switch {
	case c.err != nil:
		return nil, c.err
	case filters > 0:
		return nil, Refusal("its names are compressed")
	case !power(h.width) || !power(h.start) || !power(h.direct) || h.direct < h.start || h.direct > maxStructure || h.bits > 64 || h.bits < 1:
		return nil, damaged(fmt.Sprintf("a heap of blocks from %d to %d bytes", h.start, h.direct))
	}
	if err := f.seal(whole, "FRHP"); err != nil {
		return nil, err
	}
	h.offsetLen = (h.bits + 7) / 8
	h.sizeLen = min((bits.Len64(h.direct)+6)/8, (bits.Len64(uint64(largest))-1)/8+1)
	if root == none {
		return h, nil
	}
	if rows == 0 {
		err = h.add(heapBlock{0, h.start, root})
	} else {
		err = h.indirect(root, 0, rows, 64)
	}
	slices.SortFunc(h.blocks, func(a, b heapBlock) int { return cmp.Compare(a.offset, b.offset) })
	return h, err
}

func power(n uint64) bool { return n > 0 && n&(n-1) == 0 }

// prefix is how many bytes a block has before its objects, or its addresses.
func (h *fractalHeap) prefix() int { return 5 + h.f.offsets + h.offsetLen }

// add takes a block with objects.
func (h *fractalHeap) add(b heapBlock) error {
	c, err := h.f.structure(b.address, h.prefix())
	if err != nil {
		return err
	}
	c.signature("FHDB", 0)
	c.skip(h.f.offsets)
	if at := c.uint(h.offsetLen); c.err == nil && at != b.offset {
		return damaged("a heap in disorder")
	}
	h.blocks = append(h.blocks, b)
	return c.err
}

// rowSize is the size of the blocks in a row: the first two rows have the smallest.
func (h *fractalHeap) rowSize(row int) uint64 {
	if up := max(row-1, 0); up < bits.LeadingZeros64(h.start) {
		return h.start << up
	}
	return 0
}

// indirect takes all blocks to which a block of addresses leads.
func (h *fractalHeap) indirect(address, offset uint64, rows, deepest int) error {
	direct := bits.Len64(h.direct) - bits.Len64(h.start) + 2 // rows of blocks with objects
	if deepest == 0 || rows > 64+2 {
		return damaged("a heap that does not end")
	}
	each := h.f.offsets
	entries := h.width * uint64(rows)
	if entries > maxStructure/8 {
		return damaged("a heap of too many blocks")
	}
	c, err := h.f.structure(address, h.prefix()+int(entries)*each+4)
	if err != nil {
		return err
	}
	if err := h.f.seal(c.rest, "FHIB"); err != nil {
		return err
	}
	c.signature("FHIB", 0)
	c.skip(h.f.offsets)
	if at := c.uint(h.offsetLen); c.err == nil && at != offset {
		return damaged("a heap in disorder")
	}
	for row := range rows {
		size := h.rowSize(row)
		for range h.width {
			child := c.address()
			switch {
			case c.err != nil:
				return c.err
			case child == none:
			case size == 0:
				return damaged("a heap of too many blocks")
			case row < direct:
				err = h.add(heapBlock{offset, size, child})
			default:
				below := bits.Len64(size) - bits.Len64(h.start*h.width) + 1
				if below >= rows || below < 1 { // so that no block leads to itself
					return damaged("a heap that does not end")
				}
				err = h.indirect(child, offset, below, deepest-1)
			}
			if err != nil {
				return err
			}
			offset += size
		}
	}
	return nil
}

// object returns the bytes of an object.
func (h *fractalHeap) object(id []byte) ([]byte, error) {
	c := cursor{f: h.f, rest: id}
	if flags := c.u8(); c.err == nil && flags&0xf0 != 0 {
		return nil, Refusal("a group has names that are too long")
	}
	offset, size := c.uint(h.offsetLen), c.uint(h.sizeLen)
	if c.err != nil {
		return nil, c.err
	}
	i, found := slices.BinarySearchFunc(h.blocks, offset, func(b heapBlock, at uint64) int { return cmp.Compare(b.offset, at) })
	if !found {
		i--
	}
	if i < 0 || offset-h.blocks[i].offset > h.blocks[i].size || size > h.blocks[i].size-(offset-h.blocks[i].offset) {
		return nil, damaged("a name that is nowhere")
	}
	return h.f.at(h.blocks[i].address+offset-h.blocks[i].offset, int(size))
}
