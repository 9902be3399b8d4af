package main

import (
	"fmt"
	"math"
	"testing"

	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/rng"
)

// TestNormals runs the draws of both families in the emulator and, where supported, on the
// hardware. The bits are those of package rng, for blocks on both sides of the 32-bit limit and for
// items at the end of the 64-bit range.
func TestNormals(t *testing.T) {
	for _, p := range programs(t) {
		hardware, _ := kernel.Select(p.name)
		for _, key := range [][2]uint32{{}, {1, 2}, {math.MaxUint32, math.MaxUint32}, rng.New(4, "draws").Key} {
			for _, occasion := range []uint64{0, 5, 7<<32 | 3, math.MaxUint64} {
				for _, first := range []uint64{0, 4, 1<<34 - 24, 1<<61 + 8, math.MaxUint64 - 39} {
					for groups := 1; groups <= 3; groups++ {
						s := rng.Stream{Key: key}
						what := fmt.Sprintf("%s: %d groups of %v, occasion %#x, from %#x", p.name, groups, key, occasion, first)
						want := make([]float32, groups*2*p.lanes)
						s.FillNormal(want, occasion, first)
						equal(t, what, p.emulateNormals(groups, s, occasion, first), want)
						if hardware != nil {
							got := make([]float32, len(want))
							hardware.Normals(got, s, occasion, first)
							equal(t, what+", hardware", got, want)
						}
					}
				}
			}
		}
	}
}

func (p program) emulateNormals(groups int, s rng.Stream, occasion, first uint64) []float32 {
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	dst, read := e.put(make([]float32, groups*2*p.lanes))
	e.run(p.functions["Normals"], map[string]uint64{"groups": uint64(groups), "dst": dst,
		"k0": uint64(s.Key[0]), "k1": uint64(s.Key[1]), "occasion": occasion, "first": first})
	return read()
}
