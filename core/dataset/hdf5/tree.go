package hdf5

import (
	"fmt"
	"math/bits"
)

// The types of B-trees of version 1.
const (
	treeOfGroup  = 0
	treeOfChunks = 1
)

// walkTree visits the children of the leaves of a B-tree of version 1 in order, each with the key
// before it; rank is that of the keys of chunks.
func (f *File) walkTree(address uint64, kind, rank int, visit func(key *cursor, child uint64) error) error {
	key := f.lengths
	if kind == treeOfChunks {
		key = 8 + 8*(rank+1)
	}
	head := 8 + 2*f.offsets
	var node func(address uint64, below int) error
	node = func(address uint64, below int) error {
		c, err := f.structure(address, head)
		if err != nil {
			return err
		}
		if got := c.take(4); c.err == nil && string(got) != "TREE" {
			return damaged("no TREE where one should be")
		}
		got, level, n := c.u8(), c.u8(), c.u16()
		switch {
		case c.err != nil:
			return c.err
		case got != kind:
			return damaged("a tree of another kind")
		case level >= below: // so that no tree leads into itself
			return damaged("a tree that does not end")
		}
		if c, err = f.structure(address+uint64(head), n*(key+f.offsets)); err != nil {
			return err
		}
		for range n {
			k := &cursor{f: f, rest: c.take(key)}
			child := c.address()
			switch {
			case c.err != nil:
				return c.err
			case level > 0:
				err = node(child, level)
			default:
				err = visit(k, child)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return node(address, 64)
}

// walkTree2 visits the records of a B-tree of version 2 of that type.
func (f *File) walkTree2(address uint64, kind int, visit func(record *cursor) error) error {
	c, err := f.structure(address, 22+f.offsets+f.lengths)
	if err != nil {
		return err
	}
	if err := f.seal(c.rest, "BTHD"); err != nil {
		return err
	}
	c.signature("BTHD", 0)
	t := tree2{f: f, kind: kind, visit: visit}
	got := c.u8()
	t.node, t.record = c.u32(), c.u16()
	depth := c.u16()
	c.skip(2)
	root, records := c.address(), c.u16()
	switch {
	case c.err != nil:
		return c.err
	case got != kind:
		return damaged("an index of another kind")
	case t.node < 64 || t.node > maxStructure || t.record < 5 || t.record > t.node-10 || depth > 32:
		return damaged(fmt.Sprintf("an index of %d levels, with nodes of %d bytes and records of %d", depth, t.node, t.record))
	}
	if records == 0 {
		return nil
	}
	t.widths(depth)
	return t.walk(root, depth, uint64(records))
}

// tree2 is a B-tree of version 2.
type tree2 struct {
	f            *File
	kind         int
	node, record int // bytes
	most         []uint64
	count        int   // bytes of the count of a child's records
	total        []int // bytes of the count of all records below a child, by levels
	visit        func(record *cursor) error
}

// widths computes how wide the counts of an inner node are: as wide as the largest counts need.
func (t *tree2) widths(depth int) {
	leaf := uint64(t.node-10) / uint64(t.record)
	t.count = (bits.Len64(leaf)-1)/8 + 1
	t.most, t.total = []uint64{leaf}, []int{0}
	below := leaf // all records of a child
	for level := 1; level <= depth; level++ {
		pointer := uint64(t.f.offsets + t.count + t.total[level-1])
		most := uint64(0)
		if room := uint64(t.node - 10); room > pointer {
			most = (room - pointer) / (uint64(t.record) + pointer)
		}
		if below = min(below, 1<<48)*(most+1) + most; below == 0 {
			below = 1
		}
		t.most, t.total = append(t.most, most), append(t.total, (bits.Len64(below)-1)/8+1)
	}
}

// walk visits the records of a node, and of those below it, in order.
func (t *tree2) walk(address uint64, level int, records uint64) error {
	if records > t.most[level] {
		return damaged("a node of an index with too many records")
	}
	name, size := "BTLF", 6+int(records)*t.record+4
	pointer := 0
	if level > 0 {
		pointer = t.f.offsets + t.count + t.total[level-1]
		name, size = "BTIN", size+(int(records)+1)*pointer
	}
	c, err := t.f.structure(address, size)
	if err != nil {
		return err
	}
	if err := t.f.seal(c.rest, name); err != nil {
		return err
	}
	c.signature(name, 0)
	if kind := c.u8(); c.err == nil && kind != t.kind {
		return damaged("an index of another kind")
	}
	text := c.take(int(records) * t.record)
	for i := uint64(0); c.err == nil; i++ {
		if level > 0 {
			child, n := c.address(), c.uint(t.count)
			c.skip(t.total[level-1])
			if c.err != nil {
				break
			}
			if err := t.walk(child, level-1, n); err != nil {
				return err
			}
		}
		if i == records {
			break
		}
		record := text[int(i)*t.record : int(i+1)*t.record]
		if err := t.visit(&cursor{f: t.f, rest: record}); err != nil {
			return err
		}
	}
	return c.err
}
