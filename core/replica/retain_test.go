package replica

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"testing"

	"pgrlab/core/replay"
	"pgrlab/core/testing/tiny"
)

// generation is a D_syn of which all rows have that reward.
func generation(rows int, reward float32) *replay.Ring {
	ring := replay.NewRing(tinyShape, rows)
	for range rows {
		ring.Add(replay.Transition{Obs: make([]float32, tiny.Obs), Act: make([]float32, tiny.Act), Next: make([]float32, tiny.Obs), Reward: reward})
	}
	return ring
}

// rewards counts D_syn's rows by reward.
func rewards(m *Replica) map[float32]int {
	all := map[float32]int{}
	for _, slot := range m.Synthetic.Oldest(0, m.Synthetic.Len()) {
		all[m.Synthetic.Row(slot)[tiny.Obs+tiny.Act]]++
	}
	return all
}

// D_syn holds the newest generations, however many rows each was made of, as far as the buffer has
// room for them.
func TestGenerationsOfDifferentSizesAreRetained(t *testing.T) {
	for _, c := range []struct {
		retain, buffer int
		sizes          []int
		want           map[float32]int
	}{
		{1, 1000, []int{10, 20}, map[float32]int{1: 20}},
		{2, 1000, []int{10, 10, 10}, map[float32]int{1: 10, 2: 10}},
		{2, 1000, []int{10, 10, 100}, map[float32]int{1: 10, 2: 100}},
		{2, 1000, []int{10, 100, 10}, map[float32]int{1: 100, 2: 10}},
		{3, 1000, []int{50, 10, 30, 20}, map[float32]int{1: 10, 2: 30, 3: 20}},
		{3, 1000, []int{50, 10}, map[float32]int{0: 50, 1: 10}},
		{3, 25, []int{10, 10, 10, 10}, map[float32]int{1: 5, 2: 10, 3: 10}},
	} {
		conf := tiny.Config()
		conf.Generator.Retain = c.retain
		m, _ := newReplica(t, conf)
		m.Config.Buffer = c.buffer
		for i, rows := range c.sizes {
			m.Synthesis.Fresh = generation(rows, float32(i))
			m.Synthesis.FinishGeneration()
		}
		if got := rewards(m); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%d of the generations of %v rows are kept: rows by generation %v, want %v", c.retain, c.sizes, got, c.want)
		}
	}
}

// The sizes of generations are saved.
func TestSizesOfGenerationsAreSaved(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		want  map[float32]int
	}{
		{[]int{10, 40}, map[float32]int{1: 40, 2: 10}}, {[]int{40, 10}, map[float32]int{1: 10, 2: 10}},
	} {
		conf := tiny.Config()
		conf.Generator.Retain = 2
		a, now := newReplica(t, conf)
		for i, rows := range c.sizes {
			a.Synthesis.Fresh = generation(rows, float32(i))
			a.Synthesis.FinishGeneration()
		}
		saved := a.Saved(false)
		var file bytes.Buffer
		if err := gob.NewEncoder(&file).Encode(saved); err != nil {
			t.Fatal(err)
		}
		b, _ := newReplica(t, conf)
		var read Saved
		if err := gob.NewDecoder(&file).Decode(&read); err != nil {
			t.Fatal(err)
		}
		if err := b.Restore(read, now.Settings.Relevance); err != nil {
			t.Fatal(err)
		}
		b.Synthetic, b.Synthesis.Fresh = a.Synthetic, generation(10, 2)
		b.Synthesis.FinishGeneration()
		if got := rewards(b); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("generations of %v rows: rows by generation %v, want %v", c.sizes, got, c.want)
		}
	}
}
