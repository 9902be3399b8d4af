package replica

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/replay"
	"pgrlab/core/testing/tiny"
)

// The discounted returns of bonuses are kept for each copy separately.
func TestBonusReturnsOfCopies(t *testing.T) {
	var b bonusReturn
	*b.of(0) += 1
	*b.of(2) += 3
	if b.Return != 1 || !slices.Equal(b.Others, []float64{0, 3}) {
		t.Errorf("%+v", b)
	}
}

// addBonus adds the paper's F times the strength.
func TestBonusesByHand(t *testing.T) {
	const rows = 6
	c := tiny.Config()
	c.Bonus, c.Knobs.Bonus = config.Bonus{Function: "curiosity", Scale: config.ScalePaper}, 0.1
	m, now := newReplica(t, c)
	for round := range 3 {
		b, f := replay.NewBatch(tinyShape, rows), make([]float32, rows)
		for i := range rows {
			b.Obs[i*tiny.Obs], b.Reward[i] = float32(i+10*round), float32(i)
		}
		if err := m.Functions.built["curiosity"].Score(f, b, rows); err != nil {
			t.Fatal(err)
		}
		paper := m.Functions.built["curiosity"].Scale
		if err := m.addBonus(now, b); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			want := float64(i) + 0.1*paper*float64(f[i])
			if math.Abs(float64(b.Reward[i])-want) > 1e-5*math.Abs(want) {
				t.Errorf("batch %d, row %d: reward %v, want %v", round, i, b.Reward[i], want)
			}
		}
	}
	now.Settings.Bonus = 0
	b := replay.NewBatch(tinyShape, rows)
	if err := m.addBonus(now, b); err != nil || b.Reward[0] != 0 {
		t.Errorf("a strength of 0 adds %v, %v", b.Reward[0], err)
	}
}

// The deviation is that of F's discounted return over all transitions in their order, in whole
// blocks, whatever batches are drawn.
func TestBonusOverTheDeviationOfItsReturns(t *testing.T) {
	c := tiny.Config()
	c.Bonus, c.Knobs.Bonus, c.Agent.Gamma = config.Bonus{Function: "curiosity", Scale: config.ScaleReturns}, 0.1, 0.9
	m, now := newReplica(t, c)
	paper := m.Functions.built["curiosity"].Scale
	var all []float64
	collect := func(n int) {
		for range n {
			m.Real.Add(replay.Transition{Obs: []float32{float32(len(all) % 7), 0}, Act: []float32{0}, Next: []float32{0, 0}})
			all = append(all, 0)
			m.BonusReturn.Pending++
		}
	}
	scored := 0
	for _, part := range []struct{ collected, scored int }{{5, 5}, {127, 5}, {1, 133}, {300, 389}} {
		collect(part.collected)
		b, f := replay.NewBatch(tinyShape, 4), make([]float32, 4)
		for i := range 4 {
			b.Obs[i*tiny.Obs] = float32(i)
		}
		if err := m.Functions.built["curiosity"].Score(f, b, 4); err != nil {
			t.Fatal(err)
		}
		if err := m.addBonus(now, b); err != nil {
			t.Fatal(err)
		}
		one, of := replay.NewBatch(tinyShape, 1), make([]float32, 1)
		for ; scored < part.scored; scored++ {
			m.Real.Gather(one, 0, m.Real.Oldest(scored, 1))
			if err := m.Functions.built["curiosity"].Score(of, one, 1); err != nil {
				t.Fatal(err)
			}
			all[scored] = paper * float64(of[0])
			if scored > 0 {
				all[scored] += 0.9 * all[scored-1]
			}
		}
		_, std := meanStd(all[:scored])
		for i, v := range f {
			if want := 0.1 * paper * float64(v) / std; math.Abs(float64(b.Reward[i])-want) > 1e-5*want {
				t.Errorf("after %d transitions, row %d: a bonus of %v, want %v", len(all), i, b.Reward[i], want)
			}
		}
		if int(m.BonusReturn.Of.N) != part.scored {
			t.Errorf("%d of %d transitions are scored, want %d", m.BonusReturn.Of.N, len(all), part.scored)
		}
	}
}
