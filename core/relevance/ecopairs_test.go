package relevance

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/rng"
)

// Both observations of a pair are from one episode of one copy. Close ones are at most Near actions
// apart, distant ones more than Far. Both orders and both kinds occur about equally often, with
// about one pair for four observations, also after the ring has wrapped round.
func TestPairs(t *testing.T) {
	c := smallECO()
	c.Near, c.Far = 5, 25
	c.History = 6000
	m := newECO(t, c, 3)
	h, f := &m.history, make([]float32, 3)
	type place struct{ copied, episode, at int }
	where := make([]place, 2000*3)
	s := &strolls{copies: 3, length: 300}
	for i := range 3100 { // the ring wraps round in the middle of episodes
		met(t, m, f, s.next())
		for k := range 3 {
			where[(i%2000)*3+k] = place{k, i / (300 + k), i % (300 + k)}
		}
	}
	var p pairs
	p.draw(h, c, rng.New(1, "pairs"), 4)
	close, earlier, before, gaps := 0, 0, 0, map[int]int{}
	for _, pair := range p.all {
		x, y := where[pair.x], where[pair.y]
		if x.copied != y.copied || x.episode != y.episode {
			t.Fatalf("a pair of %+v and %+v", x, y)
		}
		gap := y.at - x.at
		if pair.close {
			close++
			gaps[max(gap, -gap)]++
			if gap > 0 {
				earlier++
			}
			if gap == 0 || gap < -5 || gap > 5 {
				t.Fatalf("a close pair with %d actions between", gap)
			}
		} else {
			if gap < 0 {
				before++
			}
			if gap >= -25 && gap <= 25 {
				t.Fatalf("a distant pair with %d actions between", gap)
			}
		}
	}
	n := float64(len(p.all))
	for what, share := range map[string]float64{
		"close pairs": float64(close) / n, "close pairs in order": float64(earlier) / float64(close), "distant pairs backwards": float64(before) / (n - float64(close)),
	} {
		if !(math.Abs(share-0.5) <= 0.06) {
			t.Errorf("share of %s is %.3f of %v", what, share, n)
		}
	}
	if n < 0.95*1500 || n > 1.05*1500 {
		t.Errorf("%v pairs of 6,000 observations", n)
	}
	if len(gaps) != 5 {
		t.Errorf("distances of close pairs: %v", gaps)
	}
	if held := len(p.heldBack()); held != int(0.05*n) || held+len(p.learned()) != len(p.all) {
		t.Errorf("%d of %v are held back", held, n)
	}
}

// An epoch's order contains each learned pair once, and differs from epoch to epoch.
func TestOrdersOfPairs(t *testing.T) {
	p := pairs{all: make([]pair, 50), held: 10}
	var orders [2][]int32
	for epoch := range orders {
		orders[epoch] = append([]int32{}, p.ordered(rng.New(1, "orders"), uint64(epoch))...)
		seen := make([]bool, 40)
		for _, at := range orders[epoch] {
			if seen[at] {
				t.Fatalf("pair %d twice", at)
			}
			seen[at] = true
		}
	}
	same := 0
	for i := range orders[0] {
		if orders[0][i] == orders[1][i] {
			same++
		}
	}
	if len(orders[0]) != 40 || same > 10 {
		t.Errorf("%d pairs, %d in the same places in both epochs", len(orders[0]), same)
	}
}

// A history is refused if, and only if, a copy has no two distant observations in it.
func TestHistoriesWithoutDistantObservations(t *testing.T) {
	c := smallECO()
	for _, copies := range []int{1, 3} {
		for steps := c.Far; steps < c.Far+4; steps++ {
			c.History = copies * (c.Far + 4) // of a network that is not refused
			m, p, s := newECO(t, c, copies), pairs{}, &strolls{copies: copies, length: 100}
			for m.history.steps = steps; m.history.met < uint64(steps); {
				met(t, m, make([]float32, copies), s.next())
			}
			distant := false
			for round := range uint64(200) {
				p.draw(&m.history, c, newECOStreams(5).pairs, round)
				distant = distant || slices.ContainsFunc(p.all, func(q pair) bool { return !q.close })
			}
			c.History = copies * steps
			if err := c.ValidateCopies(copies); distant != (err == nil) {
				t.Errorf("%d env steps of %d copies: distant observations: %v, refused with: %v", steps, copies, distant, err)
			}
		}
	}
}
