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
