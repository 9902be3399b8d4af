package cpu

import (
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/rng"
)

// inParts runs the shares of every segment one after the other, with lanes cut into parts.
func inParts(segments [][]stage, parts int) {
	for _, segment := range segments {
		for place := range Lanes * parts {
			for i := range segment {
				segment[i].run(share{lane: place % Lanes, part: place / Lanes, parts: parts})
			}
		}
	}
}

// No band of a large gradient is smaller than what the family "amx" needs for the same sums.
func TestBandsAreLarge(t *testing.T) {
	for cols := 64; cols <= 1100; cols++ {
		for parts := 1; parts <= 5; parts++ {
			for place := range Lanes * parts {
				lo, hi := share{lane: place % Lanes, part: place / Lanes, parts: parts}.columns(cols)
				for at, end := lo, lo; at < hi; at = end {
					if end = bandEnd(at, hi); end-at < rowGrain || end > hi {
						t.Fatalf("%d columns, %d parts: a band of rows %d to %d of %d to %d", cols, parts, at, end, lo, hi)
					}
				}
			}
		}
	}
}

// A large gradient has the same bits however its lanes are cut, in every family.
func TestLargeGradientsHaveTheSameBitsInParts(t *testing.T) {
	const rows, cols, out = 33, 518, 256
	for _, family := range kernel.Available() {
		dev, err := New(Options{Threads: 8, Family: family, LeastShare: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		p := &device.Program{Name: "large gradient", Keep: []device.Ref{2}, Instrs: []device.Instr{{Code: device.LinearDW, In: []device.Ref{0, 1}, Out: 2, Mask: device.None}}}
		for _, b := range []device.Buffer{{Rows: rows, Cols: cols}, {Rows: rows, Cols: out}, {Rows: cols, Cols: out}} {
			b.Members = 1
			if b.Rows == rows {
				b.Host = make([]float32, b.Len())
				rng.New(uint64(b.Cols), "x").FillNormal(b.Host, 0, 0)
			}
			p.Buffers = append(p.Buffers, b)
		}
		e, err := dev.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		x := e.(*executable)
		inParts(x.job.segments, 1)
		want := slices.Clone(x.Data(2))
		for _, parts := range []int{2, 4} {
			if inParts(x.job.segments, parts); !slices.Equal(x.Data(2), want) {
				t.Errorf("%s: other bits in %d parts than in one", family, parts)
			}
		}
	}
}
