package maze

import (
	"bytes"
	"encoding/binary"
	"image"
	"math"
	"testing"
)

// A trail has the player's positions in their order, with a break where a goal moved the player
// elsewhere. Standing adds nothing, and a trail is saved.
func TestTrail(t *testing.T) {
	e := made(t, "maze-sparse", "off").episode
	e.reset(3)
	for range 50 {
		e.act(fire)
	}
	if len(e.trail) != 2 {
		t.Fatalf("standing has a trail of %v", e.trail)
	}
	for e.Starts < 4 {
		e.act(oracle(e))
		if n := len(e.trail); math.Hypot(float64(e.trail[n-2])-e.X, float64(e.trail[n-1])-e.Y) > trailStep {
			t.Fatalf("the player is at (%v, %v), the trail at %v", e.X, e.Y, e.trail[n-2:])
		}
	}
	breaks := 0
	goalX, goalY := centre(e.layout.goal)
	for i := 0; i < len(e.trail); i += 2 {
		if e.trail[i] != e.trail[i] {
			breaks++
			if x, y := float64(e.trail[i-2])-goalX, float64(e.trail[i-1])-goalY; math.Hypot(x, y) > 1 {
				t.Errorf("a leg ends (%v, %v) from the goal", x, y)
			}
		} else if i > 0 && e.trail[i-2] == e.trail[i-2] {
			if d := math.Hypot(float64(e.trail[i]-e.trail[i-2]), float64(e.trail[i+1]-e.trail[i-1])); d > 1 {
				t.Errorf("the player jumps by %v cells", d)
			}
		}
	}
	if breaks != 3 {
		t.Errorf("%d breaks, want one for each of 3 goals", breaks)
	}
	var saved bytes.Buffer
	e.Save(&saved)
	whole := bytes.Clone(saved.Bytes())
	again := made(t, "maze-sparse", "off").episode
	if err := again.Load(&saved); err != nil {
		t.Fatal(err)
	}
	a, b := e.Pose(nil), again.Pose(nil)
	for i := range a {
		if a[i] != b[i] && !(a[i] != a[i] && b[i] != b[i]) {
			t.Fatalf("loaded its pose has %v at %d, want %v", b[i], i, a[i])
		}
	}
	binary.LittleEndian.PutUint32(whole[len(whole)-8-4-4*len(e.trail):], trailMost+2)
	if again.Load(bytes.NewReader(whole)) == nil {
		t.Error("a trail longer than an episode is read")
	}
	if again.reset(4); len(again.trail) != 2 {
		t.Errorf("an episode begins with a trail of %v", again.trail)
	}
}

// The line grows brighter along the trail. Between a goal and the next start there is no line, and
// the goal has a dot.
func TestTheLineOfATrail(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, Side, Side)) // a pixel a cell
	drawTrail(img, img.Rect, []float64{1.5, 2.5, 9.5, 2.5, math.NaN(), math.NaN(), 1.5, 8.5}, &body{X: 9.5, Y: 8.5})
	if first, last := img.RGBAAt(3, 2), img.RGBAAt(7, 8); first != trailColour(2.0/8) && first != trailColour(0) || last != nowTrail {
		t.Errorf("%v first, %v last", first, last)
	}
	if got := img.RGBAAt(1, 8); got != goalAbove {
		t.Errorf("after a goal %v", got)
	}
	for y := 3; y < 8; y++ {
		for x := range Side {
			if img.RGBAAt(x, y).A != 0 {
				t.Errorf("a line at (%d, %d) between two legs", x, y)
			}
		}
	}
}
