package hdf5

import (
	"encoding/binary"
	"fmt"

	"pgrlab/core/dataset/element"
)

// Refusal is the error of what is valid HDF5, but not read here.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// The classes of types.
const (
	classInteger = 0
	classFloat   = 1
	classBits    = 4
	classEnum    = 8
)

var classes = map[int]string{
	2: "times", 3: "text", 5: "opaque bytes", 6: "compounds", 7: "references",
	9: "of variable length, such as text", 10: "arrays",
}

// elementType reads what the elements of an array are. An enumeration is what it counts in; two
// members of one byte, as NumPy's booleans are stored, make a Bool.
func elementType(c *cursor) (element.Type, error) {
	head, flags, size := c.u8(), c.uint(3), c.u32()
	if c.err != nil {
		return element.Type{}, c.err
	}
	t := element.Type{Size: size, Order: binary.ByteOrder(binary.LittleEndian)}
	if flags&1 != 0 {
		t.Order = binary.BigEndian
	}
	switch class := head & 15; class {
	case classInteger, classBits:
		t.Kind = element.Uint
		if class == classInteger && flags&8 != 0 {
			t.Kind = element.Int
		}
		offset, precision := c.u16(), c.u16()
		if c.err == nil && (offset != 0 || precision != 8*size) {
			return t, Refusal(fmt.Sprintf("its elements are integers of %d bits in %d bytes", precision, size))
		}
	case classFloat:
		if err := ieee(c, flags, size); err != nil {
			return t, err
		}
	case classEnum:
		base, err := elementType(&cursor{f: c.f, rest: c.rest})
		if err != nil || base.Kind != element.Int && base.Kind != element.Uint || base.Size != size {
			return t, Refusal("its elements are an enumeration of no integers")
		}
		t = base
		if flags&0xffff == 2 && size == 1 {
			t.Kind = element.Bool
		}
	default:
		what, known := classes[class]
		if !known {
			return t, damaged(fmt.Sprintf("elements of class %d", class))
		}
		return t, Refusal("its elements are " + what)
	}
	if c.err != nil {
		return t, c.err
	}
	if err := t.Validate(); err != nil {
		return t, Refusal("its elements are " + err.Error())
	}
	return t, nil
}

// ieee says why a floating-point type is none of IEEE 754's, or returns nil.
func ieee(c *cursor, flags uint64, size int) error {
	type format struct{ offset, precision, exponentAt, exponent, mantissaAt, mantissa, bias int }
	f := format{c.u16(), c.u16(), c.u8(), c.u8(), c.u8(), c.u8(), c.u32()}
	want, known := map[int]format{
		2: {0, 16, 10, 5, 0, 10, 15},
		4: {0, 32, 23, 8, 0, 23, 127},
		8: {0, 64, 52, 11, 0, 52, 1023},
	}[size]
	if c.err != nil {
		return c.err
	}
	if !known || f != want || flags&0x40 != 0 {
		return Refusal(fmt.Sprintf("its elements are floating-point numbers of %d bytes in a format of their own", size))
	}
	return nil
}
