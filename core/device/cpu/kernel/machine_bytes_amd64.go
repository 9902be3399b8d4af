package kernel

// numbersOfBytes does whole vectors in assembly and the rest in Go, which gives the same bits.
func (x *machine) numbersOfBytes(dst []float32, src []byte, offset float32) {
	end := len(dst) / x.lanes * x.lanes
	for i := 0; i < end; i += chunk {
		callFromBytes(x.fromBytes, min(chunk, end-i)/x.lanes, at(dst, i), &src[i], offset)
	}
	plainFromBytes(dst[end:], src[end:], offset)
}

//go:noinline
func callFromBytes(f func(vectors int, dst *float32, src *byte, offset float32), vectors int, dst *float32, src *byte, offset float32) {
	f(vectors, dst, src, offset)
}
