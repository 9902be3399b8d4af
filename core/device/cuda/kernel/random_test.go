package kernel

import (
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/rng"
)

// Fills write exactly the numbers of package rng, for any start, any length and each occasion. An
// idle fill leaves the previous draw.
func TestFillsAreThoseOfTheStream(t *testing.T) {
	for _, chains := range []bool{false, true} {
		dev := newCard(t, Target{SM: 80})
		dev.chains = chains
		fills(t, dev)
	}
}

func fills(t *testing.T, dev *card) {
	t.Helper()
	stream := rng.New(11, "fill")
	for _, code := range []device.Code{device.FillNormal, device.FillUniform} {
		fill := stream.FillNormal
		if code == device.FillUniform {
			fill = stream.FillUniform
		}
		for _, n := range []int{1, 3, 4, 5, 11, 2050} {
			items := &device.Items{}
			for _, live := range []*device.Items{nil, items} {
				p := &device.Program{
					Buffers: []device.Buffer{{Members: 1, Rows: n, Cols: 1}},
					Instrs:  []device.Instr{{Code: code, Out: 0, Mask: device.None, Fill: stream, Items: live}},
				}
				x, err := dev.Compile(p)
				if err != nil {
					t.Fatal(err)
				}
				want := make([]float32, n)
				for i, first := range []uint64{0, 1, 6, 1<<34 + 3} {
					occasion := uint64(i) * 0x1_2345_6789
					items.First, items.Idle = first, false
					if err := x.Run(occasion); err != nil {
						t.Fatal(err)
					}
					if live == nil {
						first = 0
					}
					fill(want, occasion, first)
					if got := x.Data(0); !slices.Equal(got, want) {
						t.Fatalf("%v of %d items from %d on: %v …, want %v …", code, n, first, got[:min(n, 8)], want[:min(n, 8)])
					}
				}
				if live == nil {
					continue
				}
				items.Idle = true
				if err := x.Run(99); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(x.Data(0), want) {
					t.Errorf("%v: an idle fill drew", code)
				}
			}
		}
	}
}
