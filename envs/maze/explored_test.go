package maze

import (
	"bytes"
	"math"
	"testing"
)

// An episode reports its goals, which are its return over ten, the cells that it entered, and the
// share of the way at top speed that it walked; turning, firing and standing at a wall add nothing
// to that.
func TestExploration(t *testing.T) {
	e := made(t, "maze-sparse", "off").episode
	e.reset(3)
	for _, action := range []int{4, 5, fire, 4} { // look left, look right, fire
		e.act(action)
	}
	if goals, cells, moved, onSpot := e.Exploration(); goals != 0 || cells != 1 || moved != 0 || onSpot != 1 {
		t.Errorf("on the spot: %d goals, %d cells, moved %v, on the spot %v", goals, cells, moved, onSpot)
	}
	e.reset(3)
	looks, returned, entered, walked := 0, 0.0, map[int]bool{e.cell(): true}, 0.0
	for e.Step < 600 {
		before, starts := e.body, e.Starts
		action := oracle(e)
		if action == lookLeft || action == lookRight {
			looks++
		}
		returned += e.act(action)
		entered[e.cell()] = true
		if e.Starts == starts {
			walked += math.Hypot(e.X-before.X, e.Y-before.Y)
		}
	}
	goals, cells, moved, onSpot := e.Exploration()
	if float64(goals)*goalReward != returned || goals < 2 || cells != len(entered) {
		t.Errorf("return %v with %d goals, %d cells of %d", returned, goals, cells, len(entered))
	}
	if want := float64(looks) / 600; onSpot != want || looks == 0 {
		t.Errorf("on the spot %v, want %v", onSpot, want)
	}
	// An action that reaches a goal has up to four frames, which the sum here leaves out.
	least := walked / (600 * 4 * topSpeed / frameRate)
	if most := least + float64(goals)/600; moved < least || moved > most || least < 0.7 {
		t.Errorf("moved %v, want %v to %v", moved, least, most)
	}
	var saved bytes.Buffer
	e.Save(&saved)
	again := made(t, "maze-sparse", "off").episode
	if err := again.Load(&saved); err != nil {
		t.Fatal(err)
	}
	if g, c, m, o := again.Exploration(); g != goals || c != cells || m != moved || o != onSpot {
		t.Errorf("loaded it has %d, %d, %v, %v; before %d, %d, %v, %v", g, c, m, o, goals, cells, moved, onSpot)
	}
	for range 300 { // up to a wall, and on against it
		e.act(0)
	}
	at := e.walked
	for range 100 {
		e.act(0)
	}
	if e.walked-at > 0.5 {
		t.Errorf("against a wall it walked %v cells", e.walked-at)
	}
}
