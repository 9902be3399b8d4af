package hdf5

import (
	"fmt"

	"pgrlab/core/dataset/element"
)

// The messages of an object's header that are read.
const (
	messageSpace    = 0x01 // how large an array is
	messageLinkInfo = 0x02 // where the links of a group are
	messageType     = 0x03 // what the elements of an array are
	messageLink     = 0x06 // a link of a group
	messageExternal = 0x07 // the array is in other files
	messageLayout   = 0x08 // where the numbers of an array are
	messageFilters  = 0x0b // how its chunks are stored
	messageMore     = 0x10 // where the header goes on
	messageTable    = 0x11 // where the symbol table of a group is
)

const maxMessages = 1 << 20 // of a header

// Object is a group or an array of a file.
type Object struct {
	f       *File
	address uint64
	group   bool
	links   []link // of a group, as far as its header has them
	table   *symbolTable
	dense   *denseLinks

	dims    []uint64 // of an array
	count   uint64   // elements of an array
	of      element.Type
	unread  error // why the elements cannot be read
	layout  layout
	filters []filter
}

// Root returns the group in which all else is.
func (f *File) Root() (*Object, error) { return f.object(f.root) }

// Group says whether o is a group; else it is an array.
func (o *Object) Group() bool { return o.group }

// Shape returns the dimensions of an array, none for a single number.
func (o *Object) Shape() []uint64 { return o.dims }

// Len is the number of elements of an array.
func (o *Object) Len() uint64 { return o.count }

// Type is what the elements of an array are, or why they cannot be read.
func (o *Object) Type() (element.Type, error) { return o.of, o.unread }

// message is one of a header.
type message struct {
	kind   int
	shared bool // the message is elsewhere, and this is its address
	data   *cursor
}

// object reads the header at an address.
func (f *File) object(address uint64) (*Object, error) {
	o := &Object{f: f, address: address}
	messages, err := f.header(address)
	if err != nil {
		return nil, err
	}
	array := false
	for _, m := range messages {
		array = array || m.kind == messageLayout
	}
	o.group = !array
	for _, m := range messages {
		if err := o.put(m); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// put takes what a message says. What an array's numbers need and cannot have is an error when
// they are read.
func (o *Object) put(m message) (err error) {
	c := m.data
	if m.shared && m.kind != messageLink {
		if m.kind == messageType {
			o.refuse(Refusal("its type is a named one"))
		}
		return nil
	}
	switch m.kind {
	case messageSpace:
		o.dims, o.count, err = space(c)
	case messageType:
		var refused error
		if o.of, refused = elementType(c); refused != nil {
			o.refuse(refused)
		}
	case messageExternal:
		o.refuse(Refusal("its numbers are in other files"))
	case messageLayout:
		var refused error
		if o.layout, refused = readLayout(c); refused != nil {
			o.refuse(refused)
		}
	case messageFilters:
		o.filters, err = readFilters(c)
	case messageTable:
		o.table = &symbolTable{tree: c.address(), heap: c.address()}
		err = c.err
	case messageLink:
		var l link
		var hard bool
		if l, hard, err = readLink(c); hard {
			o.links = append(o.links, l)
		}
	case messageLinkInfo:
		o.dense, err = readLinkInfo(c)
	}
	return err
}

func (o *Object) refuse(err error) {
	if o.unread == nil {
		o.unread = err
	}
}

// header returns the messages of an object.
func (f *File) header(address uint64) ([]message, error) {
	c, err := f.structure(address, 4)
	if err != nil {
		return nil, err
	}
	if string(c.rest) == "OHDR" {
		return f.headerTwo(address)
	}
	return f.headerOne(address)
}

// span is a part of the file.
type span struct{ address, length uint64 }

// headerOne reads a header of version 1, and all parts in which it goes on.
func (f *File) headerOne(address uint64) ([]message, error) {
	c, err := f.structure(address, 16)
	if err != nil {
		return nil, err
	}
	if v := c.u8(); v != 1 {
		return nil, damaged("no header of an object where one should be")
	}
	c.skip(1)
	count := c.u16()
	c.skip(4)
	var all []message
	parts := []span{{address + 16, c.uint(4)}}
	for ; len(parts) > 0; parts = parts[1:] {
		if parts[0].length > maxStructure {
			return nil, damaged("a header of an object that is too long")
		}
		c, err := f.structure(parts[0].address, int(parts[0].length))
		if err != nil {
			return nil, err
		}
		for len(c.rest) >= 8 && len(all) < count {
			kind, size, flags := c.u16(), c.u16(), c.u8()
			c.skip(3)
			all, parts = f.collect(all, parts, message{kind, flags&2 != 0, &cursor{f: f, rest: c.take(size)}})
			if c.err != nil {
				return nil, c.err
			}
		}
	}
	return all, nil
}

// headerTwo reads a header of version 2, and all parts in which it goes on.
func (f *File) headerTwo(address uint64) ([]message, error) {
	head := 6
	c, err := f.structure(address, head)
	if err != nil {
		return nil, err
	}
	c.signature("OHDR", 2)
	flags := c.u8()
	if flags&0x20 != 0 { // times
		head += 16
	}
	if flags&0x10 != 0 { // when attributes move into a heap
		head += 4
	}
	width := 1 << (flags & 3)
	if c.err != nil {
		return nil, c.err
	}
	if c, err = f.structure(address, head+width); err != nil {
		return nil, err
	}
	c.skip(head)
	first := c.uint(width)
	if first > maxStructure {
		return nil, damaged("a header of an object that is too long")
	}
	var all []message
	parts := []span{{address, uint64(head+width) + first + 4}}
	for begin := head + width; len(parts) > 0; parts = parts[1:] {
		if parts[0].length > maxStructure || parts[0].length < 8 {
			return nil, damaged("a header of an object that is too long")
		}
		c, err := f.structure(parts[0].address, int(parts[0].length))
		if err != nil {
			return nil, err
		}
		if err := f.seal(c.rest, "header of an object"); err != nil {
			return nil, err
		}
		c.rest = c.rest[:len(c.rest)-4]
		if begin == 4 && string(c.rest[:4]) != "OCHK" {
			return nil, damaged("a header of an object goes on elsewhere")
		}
		c.skip(begin)
		begin = 4
		all, parts = f.messagesTwo(c, flags, all, parts)
		if c.err != nil {
			return nil, c.err
		}
		if len(all) > maxMessages {
			return nil, damaged("a header of too many messages")
		}
	}
	return all, nil
}

// messagesTwo reads the messages of one part of a header of version 2; a gap at its end is shorter
// than a message.
func (f *File) messagesTwo(c *cursor, flags int, all []message, parts []span) ([]message, []span) {
	head := 4
	if flags&4 != 0 { // the order in which attributes were made
		head += 2
	}
	for len(c.rest) >= head && c.err == nil {
		kind, size, shared := c.u8(), c.u16(), c.u8()&2 != 0
		c.skip(head - 4)
		all, parts = f.collect(all, parts, message{kind, shared, &cursor{f: f, rest: c.take(size)}})
	}
	return all, parts
}

// collect adds a message, or the part of the header to which it leads.
func (f *File) collect(all []message, parts []span, m message) ([]message, []span) {
	if m.kind != messageMore {
		return append(all, m), parts
	}
	s := span{m.data.address(), m.data.length()}
	if m.data.err != nil {
		s = span{none, 0} // is refused when it is read
	}
	return append(all, m), append(parts, s) // the message counts
}

// maxElements bounds the size of an array, so that products of it stay in a uint64.
const maxElements = 1 << 44

// space reads the dimensions of an array.
func space(c *cursor) (dims []uint64, count uint64, err error) {
	version, rank := c.u8(), c.u8()
	c.skip(1)
	kind := 1
	switch version {
	case 1:
		c.skip(5)
	case 2:
		kind = c.u8()
	default:
		return nil, 0, damaged(fmt.Sprintf("a dataspace of version %d", version))
	}
	if rank > 32 {
		return nil, 0, damaged(fmt.Sprintf("an array of %d dimensions", rank))
	}
	count = 1
	for range rank {
		n := c.length()
		dims = append(dims, n)
		if n > maxElements || n > 0 && count > maxElements/n {
			return nil, 0, damaged(fmt.Sprintf("an array of more than %d numbers", uint64(maxElements)))
		}
		count *= n
	}
	if kind == 2 { // nothing
		return nil, 0, c.err
	}
	return dims, count, c.err
}
