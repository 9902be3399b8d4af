package plan

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"
)

// Every operation and its gradients have the same bits with one worker and with more, which cut
// lanes into parts, on every family of kernels.
func TestPartsDoNotChangeBits(t *testing.T) {
	shapes := append(optest.Random(3, 2, 90, 60), optest.Shape{B: 150, C: 40}, optest.Shape{N: 4, B: 65, C: 33}, optest.Shape{B: 7, C: 3})
	for _, family := range kernel.Available() {
		var devices []*cpu.Device
		for _, threads := range []int{1, 5, 6} {
			dev := cputest.New(t, cpu.Options{Threads: threads, Family: family, LeastShare: 1})
			devices = append(devices, dev)
		}
		for _, c := range optest.All() {
			t.Run(family+"/"+c.Name, func(t *testing.T) {
				for _, s := range shapes {
					if c.Fits(s) {
						sameBits(t, c.At(s), devices)
					}
				}
			})
		}
	}
}

// sameBits compares the results of an operation on the devices with those on the first.
func sameBits(t *testing.T, c *optest.Instance, devices []*cpu.Device) {
	t.Helper()
	var want [][]uint32
	for _, dev := range devices {
		d := c.Example(t)
		p, nodes := compile(t, d, dev, nil)
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		var got [][]uint32
		for _, n := range nodes {
			got = append(got, bitsOf(p.Data(n)))
		}
		for _, w := range d.Wrt {
			g, err := p.Gradient(w)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, bitsOf(g))
		}
		p.Close()
		if want == nil {
			want = got
		}
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s: result %d differs between one worker and %d", d.Name, i, dev.Threads())
			}
		}
	}
}

func bitsOf(x []float32) (bits []uint32) {
	for _, v := range x {
		bits = append(bits, math.Float32bits(v))
	}
	return bits
}
