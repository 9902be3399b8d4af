// Package element has the numbers that files of other programs hold, as float32.
package element

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Kind is what sort of number an element is.
type Kind int

// The kinds. A Bool is an integer, 0 or 1.
const (
	Float Kind = iota
	Int
	Uint
	Bool
)

// Type is how one element is stored.
type Type struct {
	Kind  Kind
	Size  int              // bytes: of a Float 2, 4 or 8; of a Bool 1; of the others 1, 2, 4 or 8
	Order binary.ByteOrder // of its bytes
}

// Validate says what is wrong with t, or returns nil.
func (t Type) Validate() error {
	good := t.Size == 2 || t.Size == 4 || t.Size == 8
	switch t.Kind {
	case Bool:
		good = t.Size == 1
	case Int, Uint:
		good = good || t.Size == 1
	}
	if !good {
		return fmt.Errorf("%s of %d bytes", t.Kind, t.Size)
	}
	return nil
}

func (k Kind) String() string {
	switch k {
	case Float:
		return "floating-point numbers"
	case Bool:
		return "booleans"
	}
	return "integers"
}

// Decode converts the elements of src to dst: len(src) is len(dst) times Size. A float64 or an
// integer is rounded to the nearest float32; what is too large becomes an infinity.
func (t Type) Decode(dst []float32, src []byte) {
	src = src[:len(dst)*t.Size]
	switch {
	case t.Kind == Float && t.Size == 2:
		for i := range dst {
			dst[i] = half(t.Order.Uint16(src[2*i:]))
		}
	case t.Kind == Float && t.Size == 4:
		for i := range dst {
			dst[i] = math.Float32frombits(t.Order.Uint32(src[4*i:]))
		}
	case t.Kind == Float:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(t.Order.Uint64(src[8*i:])))
		}
	default:
		for i := range dst {
			dst[i] = t.whole(src[i*t.Size:])
		}
	}
}

// whole decodes an integer.
func (t Type) whole(src []byte) float32 {
	var u uint64
	switch t.Size {
	case 1:
		u = uint64(src[0])
	case 2:
		u = uint64(t.Order.Uint16(src))
	case 4:
		u = uint64(t.Order.Uint32(src))
	default:
		u = t.Order.Uint64(src)
	}
	if t.Kind != Int {
		return float32(u)
	}
	unused := 64 - 8*t.Size // shifting up and down again extends the sign
	return float32(int64(u<<unused) >> unused)
}

// half converts a float16 of IEEE 754, which every float32 can hold.
func half(h uint16) float32 {
	sign, exponent, mantissa := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0: // zero, and the numbers that are not normal: mantissa times 2⁻²⁴
		v := math.Ldexp(float64(mantissa), -24)
		return math.Float32frombits(sign | math.Float32bits(float32(v)))
	case 0x1f: // an infinity, or NaN
		return math.Float32frombits(sign | 0x7f800000 | mantissa<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | mantissa<<13)
}
