package hdf5

import "errors"

// errShort is the error of a structure that ends before what it says that it holds.
var errShort = errors.New("a structure is cut off")

// cursor reads numbers from a structure of a file, all little-endian. After an error it returns
// zeros.
type cursor struct {
	f    *File
	rest []byte
	err  error
}

// take returns the next n bytes, or nil.
func (c *cursor) take(n int) []byte {
	if c.err == nil && (n < 0 || n > len(c.rest)) {
		c.err = errShort
	}
	if c.err != nil {
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) skip(n int) { c.take(n) }

// uint reads an unsigned number of n bytes, at most 8.
func (c *cursor) uint(n int) uint64 {
	if n > 8 {
		c.err = errShort
		return 0
	}
	v := uint64(0)
	for i, b := range c.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (c *cursor) u8() int  { return int(c.uint(1)) }
func (c *cursor) u16() int { return int(c.uint(2)) }
func (c *cursor) u32() int { return int(c.uint(4)) }

// length reads a size or a count, as wide as the file says.
func (c *cursor) length() uint64 { return c.uint(c.f.lengths) }

// none is the address of what is not there.
const none = ^uint64(0)

// address reads an address, or none.
func (c *cursor) address() uint64 {
	v := c.uint(c.f.offsets)
	if v == none>>(64-8*c.f.offsets) {
		return none
	}
	return v
}

// signature checks the name with which a structure begins, and its version.
func (c *cursor) signature(name string, version int) {
	if got := c.take(4); c.err == nil && string(got) != name {
		c.err = damaged("no " + name + " where one should be")
	}
	if v := c.u8(); c.err == nil && v != version {
		c.err = damaged("a " + name + " of another version")
	}
}

// damaged is the error of a file that contradicts itself.
type damaged string

func (d damaged) Error() string { return "the file is damaged: " + string(d) }
