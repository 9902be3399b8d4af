package replica

import (
	"testing"

	"pgrlab/core/knob"
	"pgrlab/core/replay"
)

// A share of the real rows of a batch, rounded, is of the pinned data; which ones depends on the
// update alone.
func TestShareOfPinnedData(t *testing.T) {
	shape := replay.Shape{Obs: 1, Act: 1}
	ring := func(value float32, n int) *replay.Ring {
		r := replay.NewRing(shape, n)
		for i := range n {
			v := value + float32(i)
			r.AddRows([]float32{v, v, v, v, 0})
		}
		return r
	}
	r := &Replica{Real: ring(100, 50), Synthetic: ring(1000, 50), prior: ring(0, 50), streams: newStreams(3)}
	r.mixer = replay.NewMixer(r.streams.replay)
	b := replay.NewBatch(shape, 16)
	for _, c := range []struct {
		prior       float64
		pinned, own int
	}{{0, 0, 10}, {0.5, 5, 5}, {0.25, 3, 7}, {1, 10, 0}} {
		now := Now{Settings: &knob.Settings{Prior: c.prior}}
		if err := r.sampleBatch(now, b, replay.Mix{Real: 10, Synthetic: 6}); err != nil {
			t.Fatal(err)
		}
		pinned, own, synthetic := 0, 0, 0
		for i, v := range b.Obs {
			switch {
			case v < 100:
				pinned++
			case v < 1000:
				own++
			default:
				synthetic++
			}
			if b.Next[i] != v || b.Act[i] != v || b.Reward[i] != v {
				t.Errorf("row %d is of several rows", i)
			}
		}
		if pinned != c.pinned || own != c.own || synthetic != 6 {
			t.Errorf("prior %g: %d pinned, %d own and %d synthetic rows", c.prior, pinned, own, synthetic)
		}
	}
}
