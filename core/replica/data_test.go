package replica

import (
	"slices"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/testing/tiny"
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

// Updates on pinned data, in the first env step, are of those rows alone, and models of F, which learn from D_real,
// wait: D_real has one row by then.
func TestUpdatesOnPinnedData(t *testing.T) {
	c := tiny.Config()
	c.StartSteps, c.Knobs.Prior = 0, 0.25
	c.Data = config.Data{Files: []string{"a"}, Mode: config.DataPinned, Pretrain: c.Knobs.UTD}
	m, now := newReplica(t, c)
	const pinned = 50
	m.prior = replay.NewRing(tinyShape, 9)
	for range 9 {
		m.prior.AddRows([]float32{pinned, pinned, 0, 0, pinned, pinned, 0})
	}
	now.Step = 1
	if err := m.EnvStep(now); err != nil {
		t.Fatal(err)
	}
	if n, _, err := m.pretrain().Slice(now, 0); n != c.Data.Pretrain || err != nil {
		t.Fatalf("%d updates, %v", n, err)
	}
	b, err := m.Agent.Batches.Batch(c.Knobs.Batch)
	if err != nil {
		t.Fatal(err)
	}
	if want := slices.Repeat([]float32{pinned}, c.Knobs.Batch*tiny.Obs); !slices.Equal(b.Obs, want) || now.Settings.Prior != 0.25 {
		t.Errorf("the last batch has s of %v", b.Obs)
	}
	if n := m.stateOf("curiosity").Updates; n != 0 {
		t.Errorf("%d updates of the model of F", n)
	}
}

// A refit in the first env step, on data, scores with a model of F that has learned from them.
func TestModelsOfFLearnFromData(t *testing.T) {
	for mode, owed := range map[string]int{config.DataSeed: 3, config.DataPinned: 0} {
		c := tiny.Config()
		c.Data = config.Data{Files: []string{"a"}, Mode: mode}
		if m, _ := newReplica(t, c); m.Functions.Owed("curiosity", 40) != owed {
			t.Errorf("%s: %d updates are owed, want %d", mode, m.Functions.Owed("curiosity", 40), owed)
		}
	}
}
