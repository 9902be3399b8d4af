package maze

import (
	"math"
	"testing"
)

// Whatever the player does, the body is never inside a wall. As in the original engine, the wish
// adds speed only up to a limit along its own direction, so a speed across it comes on top: with f
// = 1 − 6/60 left by friction and a = 10·3.2/60 added at most, s² ≤ f²s² + 2a(3.2−a) + a², a speed
// of 4.06.
func TestBodyStaysOutOfWalls(t *testing.T) {
	actions := 100_000
	if long() {
		actions = 1_000_000
	}
	task, _ := Find("maze-sparse")
	e, p, fastest := newEpisode(&task, Training, 5), randomPlayer(2), 0.0
	for i := range actions {
		if e.over() {
			e.reset(uint64(i))
		}
		action := p(e)
		for range 1 + i%7 { // each action is held for a time that depends on i
			if !e.over() {
				e.act(action)
			}
			fastest = max(fastest, math.Hypot(e.VX, e.VY))
			for _, dx := range []float64{-halfWidth, halfWidth} {
				for _, dy := range []float64{-halfWidth, halfWidth} {
					if e.layout.at[int(e.Y+dy)*Side+int(e.X+dx)] == wall {
						t.Fatalf("step %d: at (%v, %v) a corner is in a wall", i, e.X, e.Y)
					}
				}
			}
		}
	}
	if fastest < topSpeed-0.01 || fastest > 4.06 {
		t.Errorf("the fastest was %v cells a second", fastest)
	}
}

// In the open the body reaches its top speed, and a look action turns it by 8.42 degrees.
func TestBodyMoves(t *testing.T) {
	var l layout
	for i := range l.at {
		l.at[i] = opening
	}
	b := body{X: 2, Y: 8}
	for range 60 {
		b.frame(&l, 0)
	}
	if math.Abs(b.VX-topSpeed) > 1e-9 || b.VY != 0 || b.Y != 8 {
		t.Errorf("after a second of walking: %+v", b)
	}
	before := b.X
	for range framesPerAction {
		b.frame(&l, 0)
	}
	if moved := b.X - before; math.Abs(moved-0.2133) > 1e-3 {
		t.Errorf("an action moves %v cells, want 0.213", moved)
	}
	b = body{X: 8, Y: 8}
	for range framesPerAction {
		b.frame(&l, 5)
	}
	if turned := float64(b.Heading) * 360 / headings; math.Abs(turned-8.42) > 0.01 || b.X != 8 || b.VX != 0 {
		t.Errorf("a look turns by %v degrees: %+v", turned, b)
	}
	for action, want := range map[int][2]float64{0: {0, 1}, 1: {0, -1}, 2: {1, 0}, 3: {-1, 0}} { // looking nearly south
		b := body{X: 8, Y: 8, Heading: headings / 4}
		for range framesPerAction {
			b.frame(&l, action)
		}
		if dx, dy := b.X-8, b.Y-8; dx*want[0]+dy*want[1] < 0.05 || math.Abs(dx*want[1])+math.Abs(dy*want[0]) > 0.01 {
			t.Errorf("%s moves by (%.3f, %.3f)", Actions[action], dx, dy)
		}
	}
	for i, v := range compass {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / headings)
		if math.Abs(v[0]-cos) > 2e-15 || math.Abs(v[1]-sin) > 2e-15 {
			t.Errorf("heading %d looks to %v, want %v", i, v, [2]float64{cos, sin})
		}
	}
}

// The goal is reached within 0.47 and 0.36 cells along its two axes; it earns 10 and ends the
// action.
func TestGoal(t *testing.T) {
	task, _ := Find("maze-sparse")
	e := newEpisode(&task, Training, 1)
	e.reset(0)
	gx, gy := centre(e.layout.goal)
	for _, c := range []struct {
		dx, dy float64
		want   bool
	}{{0.46, 0, true}, {0.48, 0, false}, {0, 0.35, true}, {0, -0.37, false}, {-0.46, -0.35, true}} {
		if b := (body{X: gx + c.dx, Y: gy + c.dy}); b.touches(e.layout.goal) != c.want {
			t.Errorf("at (%v, %v) from the goal: touched %v", c.dx, c.dy, !c.want)
		}
	}
	e.X, e.Y, e.VX = gx, gy, 1
	if reward := e.act(fire); reward != goalReward || e.VX != 0 || e.Starts != 2 || e.touches(e.layout.goal) || e.Step != 1 {
		t.Errorf("reward %v, then %+v", reward, e.state)
	}
}
