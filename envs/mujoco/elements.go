package mujoco

import (
	"errors"
	"fmt"
)

// sectionElement is the id of the element section of a WebAssembly module
// (WebAssembly core specification 2.0, 5.5.12).
const sectionElement = 9

var errTruncated = errors.New("read element section: unexpected end")

// importedSlots returns, for every slot of table 0 that holds an imported
// function, the index of that import. wazero cannot call such slots through
// its table API (it fails on a nil engine), so the host calls them itself.
func importedSlots(binary []byte, imports uint32) (map[uint32]uint32, error) {
	slots := map[uint32]uint32{}
	r := reader{b: binary, at: 8} // after magic and version
	for r.at < len(binary) && r.err == nil {
		id := r.byte()
		end := int(r.u32())
		end += r.at
		if id == sectionElement {
			for n := r.u32(); n > 0 && r.err == nil; n-- {
				r.segment(slots, imports)
			}
		}
		r.at = end
	}
	return slots, r.err
}

// reader walks over a binary module and keeps the first error.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) byte() byte {
	if r.err != nil || r.at >= len(r.b) {
		r.err = errTruncated
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

// u32 reads an unsigned LEB128 number.
func (r *reader) u32() (x uint32) {
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		x |= uint32(c&0x7f) << shift
		if c < 0x80 {
			break
		}
	}
	return x
}

// segment reads one active segment of table 0 with a constant offset, the only
// form that the linker writes here, and records the imported functions in it.
func (r *reader) segment(slots map[uint32]uint32, imports uint32) {
	const i32Const, end = 0x41, 0x0b
	if form := r.u32(); form != 0 || r.byte() != i32Const {
		r.err = fmt.Errorf("read element section: segment of form %d is not supported", form)
		return
	}
	offset := r.u32()
	if r.byte() != end {
		r.err = errors.New("read element section: offset is not one constant")
		return
	}
	n := r.u32()
	for i := uint32(0); i < n && r.err == nil; i++ {
		if f := r.u32(); f < imports {
			slots[offset+i] = f
		}
	}
}
