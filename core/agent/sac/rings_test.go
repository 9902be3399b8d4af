package sac

import (
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/emulator"
	"pgrlab/core/testing/racing"
)

// crowded is a GPU with memory for a number of stores.
type crowded struct {
	*cuda.Device
	left int
}

func (c *crowded) Store(rows, width int) (device.Store, error) {
	if c.left--; c.left < 0 {
		return nil, &device.OutOfMemory{}
	}
	return c.Device.Store(rows, width)
}

// filled returns a ring of random rows.
func filled(shape replay.Shape, rows int, of string) *replay.Ring {
	ring, row := replay.NewRing(shape, rows), make([]float32, shape.Width())
	for i := range rows {
		rng.New(5, of).FillNormal(row, uint64(i), 0)
		row[len(row)-1] = 0
		ring.AddRows(row)
	}
	return ring
}

// If the memory for another ring is lacking during a run, the host samples from there on, and the
// updates are those that the CPU makes.
func TestRingsThatNoLongerFit(t *testing.T) {
	if racing.On {
		t.Skip("the detector sees the interpreter in tests of its own")
	}
	machine := emulator.New(emulator.Options{Unchecked: true})
	dev, err := cuda.New(func() (driver.Context, error) { return machine.Open(0) }, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	on, err := New(small(), &crowded{dev, 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	plain := newAgent(t, small(), 1)
	shape := replay.Shape{Obs: small().Obs, Act: small().Act}
	from := agent.BatchSource{Mixer: replay.NewMixer(rng.New(1, "batches")), Real: filled(shape, 20, "real"), Mix: replay.Mix{Real: 8}}
	for i := range 3 {
		if i == 1 {
			from.Synthetic, from.Mix = filled(shape, 30, "synthetic"), replay.Mix{Real: 4, Synthetic: 4}
		}
		from.First = uint64(2 * i)
		got, err := on.UpdateN(2, from, agent.DefaultRates, true)
		if err != nil {
			t.Fatal(err)
		}
		want, err := plain.UpdateN(2, from, agent.DefaultRates, true)
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			for what, pair := range map[string][2]float64{"critic": {got[k].Losses.Critic, want[k].Losses.Critic}, "Q": {got[k].Losses.QMean, want[k].Losses.QMean}} {
				if d := math.Abs(pair[0] - pair[1]); !(d <= 1e-3*max(1e-2, math.Abs(pair[1]))) {
					t.Errorf("call %d, update %d: %s is %v, want %v", i, k, what, pair[0], pair[1])
				}
			}
		}
		if on.Fused() != (i == 0) {
			t.Errorf("call %d: the device samples: %v", i, on.Fused())
		}
	}
}
