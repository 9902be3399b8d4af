package device

import "unsafe"

// Bytes returns the memory of numbers as bytes. What FromBytes reads is written there: its rows are
// whole words of four bytes, in memory order, with any bytes at all, also those of NaN.
func Bytes(words []float32) []byte {
	if len(words) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 4*len(words))
}

// Words is the reverse of Bytes; nil if the bytes are not whole words in memory.
func Words(bytes []byte) []float32 {
	if len(bytes) == 0 || len(bytes)%4 != 0 || uintptr(unsafe.Pointer(&bytes[0]))%4 != 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&bytes[0])), len(bytes)/4)
}

// HoldsBytes reports whether a buffer holds bytes for FromBytes. Its words are no numbers, and none
// of them is a sign of a fault.
func (p *Program) HoldsBytes(r Ref) bool {
	for _, in := range p.Instrs {
		if in.Code == FromBytes && in.In[0] == r {
			return true
		}
	}
	return false
}
