package main

import (
	"fmt"
	"math"
	"testing"

	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/window"
)

// Every byte becomes the number that package window gives for it, to the bit, in both families in
// the emulator and, where supported, on the hardware.
func TestFromBytes(t *testing.T) {
	src := make([]byte, 256)
	for i := range src {
		src[i] = byte(i)
	}
	for _, p := range programs(t) {
		hardware, _ := kernel.Select(p.name)
		for _, offset := range []float32{0, -0.5, 0.1} {
			what, want := fmt.Sprintf("%s, offset %v", p.name, offset), window.NewTone(offset)
			equal(t, what, p.emulateFromBytes(src, offset), want[:])
			if hardware != nil {
				got := make([]float32, len(src))
				hardware.FromBytes(got, src, offset)
				equal(t, what+", hardware", got, want[:])
			}
		}
	}
}

func (p program) emulateFromBytes(bytes []byte, offset float32) []float32 {
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	src := e.place(bytes)
	dst, read := e.put(make([]float32, len(bytes)))
	e.run(p.functions["FromBytes"], map[string]uint64{"vectors": uint64(len(bytes) / p.lanes), "dst": dst, "src": src,
		"offset": uint64(math.Float32bits(offset))})
	return read()
}
