package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	magic = "\x89HDF\r\n\x1a\n"

	// maxStructure is the largest structure that is read at once, in bytes. Those of real files are
	// some kilobytes; the names of a group of 100,000 members take 2 MB.
	maxStructure = 64 << 20
)

// File is an open HDF5 file. It belongs to one goroutine.
type File struct {
	r        io.ReaderAt
	size     uint64        // bytes
	base     uint64        // what addresses count from
	offsets  int           // bytes of an address
	lengths  int           // bytes of a size
	root     uint64        // address of the root group's header
	budget   int64         // bytes that structures may still take
	unsealed bool          // checksums of structures are not looked at: for fuzzing
	z        io.ReadCloser // unpacks chunks, one after the other
}

// ErrFormat is the error of a file that is not HDF5.
var ErrFormat = errors.New("not an HDF5 file")

// Open reads the beginning of a file of so many bytes.
func Open(r io.ReaderAt, size int64) (*File, error) { return (&File{}).open(r, size) }

func (f *File) open(r io.ReaderAt, size int64) (*File, error) {
	f.r, f.size, f.budget = r, uint64(max(size, 0)), 8*max(size, 0)+1<<20
	at, err := f.find()
	if err != nil {
		return nil, err
	}
	if err := f.superblock(at); err != nil {
		return nil, err
	}
	return f, nil
}

// find returns where the superblock is: at 0, or at a power of two from 512 on.
func (f *File) find() (uint64, error) {
	for at := uint64(0); at+uint64(len(magic)) <= f.size; at = max(512, 2*at) {
		text, err := f.read(at, len(magic))
		if err != nil {
			return 0, err
		}
		if string(text) == magic {
			return at, nil
		}
	}
	return 0, ErrFormat
}

func (f *File) superblock(at uint64) error {
	text, err := f.read(at, int(min(f.size-at, 128)))
	if err != nil {
		return err
	}
	c := cursor{f: f, rest: text}
	c.skip(len(magic))
	version := c.u8()
	switch version {
	case 0, 1:
		c.skip(4)
		f.offsets, f.lengths = c.u8(), c.u8()
		c.skip(1 + 2 + 2 + 4)
		if version == 1 {
			c.skip(4)
		}
	case 2, 3:
		f.offsets, f.lengths = c.u8(), c.u8()
		c.skip(1)
	default:
		return fmt.Errorf("a superblock of version %d, which is newer than this reader", version)
	}
	if c.err != nil {
		return c.err
	}
	if !wide(f.offsets) || !wide(f.lengths) {
		return damaged(fmt.Sprintf("addresses of %d bytes and sizes of %d", f.offsets, f.lengths))
	}
	f.base = c.address()
	c.skip(f.offsets) // free space, or an extension
	end := c.address()
	if version < 2 {
		c.skip(f.offsets) // driver
		c.skip(f.offsets) // the name of the root group
	}
	f.root = c.address()
	if version >= 2 {
		c.skip(4) // checksum
	}
	switch {
	case c.err != nil:
		return c.err
	case f.base > f.size:
		return damaged("it begins after its end")
	case end > f.size: // it does not count from base
		return fmt.Errorf("the file is cut off: it has %d of its %d bytes", f.size, end)
	case version >= 2 && !f.sealed(text[:len(text)-len(c.rest)]):
		return damaged("its superblock has another checksum")
	}
	return nil
}

func wide(bytes int) bool { return bytes == 2 || bytes == 4 || bytes == 8 }

// structure reads n bytes from an address on.
func (f *File) structure(address uint64, n int) (*cursor, error) {
	text, err := f.at(address, n)
	if err != nil {
		return nil, err
	}
	return &cursor{f: f, rest: text}, nil
}

// at is read from an address on.
func (f *File) at(address uint64, n int) ([]byte, error) {
	if address > f.size-f.base {
		return nil, damaged("an address after its end")
	}
	return f.read(f.base+address, n)
}

// read returns n bytes of a structure, which the budget pays for.
func (f *File) read(at uint64, n int) ([]byte, error) {
	switch {
	case n < 0 || at > f.size || uint64(n) > f.size-at:
		return nil, damaged("a structure reaches beyond its end")
	case n > maxStructure:
		return nil, damaged(fmt.Sprintf("a structure of %d bytes", n))
	}
	if f.budget -= int64(n) + 8; f.budget < 0 {
		return nil, damaged("its structures lead in circles")
	}
	text := make([]byte, n)
	if _, err := f.r.ReadAt(text, int64(at)); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return text, nil
}

// sealed says whether the last four bytes of a structure are the checksum of the others.
func (f *File) sealed(text []byte) bool {
	n := len(text) - 4
	return f.unsealed || n >= 0 && binary.LittleEndian.Uint32(text[n:]) == lookup3(text[:n])
}

// seal returns an error if the text of a structure, which ends with its checksum, has another.
func (f *File) seal(text []byte, name string) error {
	if !f.sealed(text) {
		return damaged("a " + name + " has another checksum")
	}
	return nil
}
