package hdf5

import "fmt"

// link is a member of a group.
type link struct {
	name    string
	address uint64
}

const maxName = 1 << 16 // bytes

// Members returns the objects of a group by their names. Links to other files, and those that are
// paths, are left out.
func (o *Object) Members() (map[string]*Member, error) {
	links := o.links
	var err error
	switch {
	case !o.group:
		return nil, Refusal("an array has no members")
	case o.table != nil:
		links, err = o.f.symbols(o.table)
	case o.dense != nil && o.dense.heap != none:
		links, err = o.f.denseNames(o.dense)
	}
	if err != nil {
		return nil, err
	}
	all := make(map[string]*Member, len(links))
	for _, l := range links {
		if all[l.name] != nil {
			return nil, damaged(fmt.Sprintf("two members of the name %q", l.name))
		}
		all[l.name] = &Member{o.f, l.address}
	}
	return all, nil
}

// Member is an object of a group that was not read yet.
type Member struct {
	f       *File
	address uint64
}

// Open reads the object's header.
func (m *Member) Open() (*Object, error) { return m.f.object(m.address) }

// symbolTable is where the members of a group of the old kind are.
type symbolTable struct{ tree, heap uint64 }

// symbols reads the members of a group of the old kind.
func (f *File) symbols(t *symbolTable) ([]link, error) {
	names, err := f.localHeap(t.heap)
	if err != nil {
		return nil, err
	}
	var all []link
	err = f.walkTree(t.tree, treeOfGroup, 0, func(_ *cursor, child uint64) error {
		c, err := f.structure(child, 8)
		if err != nil {
			return err
		}
		c.signature("SNOD", 1)
		c.skip(1)
		n := c.u16()
		if c.err != nil {
			return c.err
		}
		entry := 2*f.offsets + 24
		if c, err = f.structure(child+8, n*entry); err != nil {
			return err
		}
		for range n {
			at, address, kind := c.address(), c.address(), c.u32()
			c.skip(20)
			if c.err != nil {
				return c.err
			}
			if kind == 2 { // the entry is a path
				continue
			}
			name, err := names.text(at)
			if err != nil {
				return err
			}
			all = append(all, link{name, address})
		}
		return nil
	})
	return all, err
}

// localHeap is the text in which the names of a group of the old kind are.
type localHeap []byte

func (f *File) localHeap(address uint64) (localHeap, error) {
	c, err := f.structure(address, 8+2*f.lengths+f.offsets)
	if err != nil {
		return nil, err
	}
	c.signature("HEAP", 0)
	c.skip(3)
	size := c.length()
	c.skip(f.lengths)
	at := c.address()
	if c.err != nil {
		return nil, c.err
	}
	if size > maxStructure {
		return nil, damaged(fmt.Sprintf("names of %d bytes", size))
	}
	return f.at(at, int(size))
}

// text returns the name that begins there.
func (h localHeap) text(at uint64) (string, error) {
	if at < uint64(len(h)) {
		for i, b := range h[at:] {
			if b == 0 {
				return string(h[at : at+uint64(i)]), nil
			}
			if i == maxName {
				break
			}
		}
	}
	return "", damaged("a name without an end")
}

// readLink reads a link message; hard is false for a path, or a link to another file.
func readLink(c *cursor) (l link, hard bool, err error) {
	if v := c.u8(); c.err == nil && v != 1 {
		return l, false, damaged(fmt.Sprintf("a link of version %d", v))
	}
	flags, kind := c.u8(), 0
	if flags&8 != 0 {
		kind = c.u8()
	}
	if flags&4 != 0 {
		c.skip(8) // when it was made
	}
	if flags&16 != 0 {
		c.skip(1) // how its name is written
	}
	length := c.uint(1 << (flags & 3))
	if length > maxName {
		return l, false, damaged("a name without an end")
	}
	l.name = string(c.take(int(length)))
	if kind == 0 {
		l.address = c.address()
	}
	return l, kind == 0 && c.err == nil, c.err
}

// denseLinks is where the members of a group with many are.
type denseLinks struct{ heap, names uint64 }

func readLinkInfo(c *cursor) (*denseLinks, error) {
	if v := c.u8(); c.err == nil && v != 0 {
		return nil, damaged(fmt.Sprintf("a link info of version %d", v))
	}
	if c.u8()&1 != 0 {
		c.skip(8) // how many were made
	}
	d := &denseLinks{heap: c.address(), names: c.address()}
	return d, c.err
}

// denseNames reads the members of a group with many.
func (f *File) denseNames(d *denseLinks) ([]link, error) {
	heap, err := f.fractalHeap(d.heap)
	if err != nil {
		return nil, err
	}
	var all []link
	err = f.walkTree2(d.names, 5, func(record *cursor) error {
		record.skip(4) // hash of the name
		text, err := heap.object(record.rest)
		if err != nil {
			return err
		}
		l, hard, err := readLink(&cursor{f: f, rest: text})
		if hard {
			all = append(all, l)
		}
		return err
	})
	return all, err
}
