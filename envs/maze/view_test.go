package maze

import (
	"image/color"
	"testing"
)

// A View shows of a pose what the environment shows, on the left, and on the right the maze with
// the player, the goal and the cells that were entered.
func TestView(t *testing.T) {
	task, _ := Find("maze-sparse")
	task, _ = task.With(Options{TV: "noise"})
	e := task.New(Training, 1<<40+5)
	v := task.View()
	const side = 17 * 6
	for _, number := range []uint64{7, 1<<33 + 1} {
		e.reset(number)
		entered := map[int]bool{e.cell(): true}
		for range 60 {
			e.act(oracle(e.episode))
			entered[e.cell()] = true
		}
		before := e.state
		img, err := v.Draw(e.Pose(nil), 2*side+10, side)
		if err != nil {
			t.Fatal(err)
		}
		if e.state != before {
			t.Error("drawing changed the state")
		}
		frame := make([]byte, 3*side*side)
		if err := e.Frame(frame, side); err != nil {
			t.Fatal(err)
		}
		for i := range side * side {
			x, y := i%side, i/side
			if got, want := img.RGBAAt(5+x, y), (color.RGBA{frame[3*i], frame[3*i+1], frame[3*i+2], 255}); got != want {
				t.Fatalf("episode %d, pixel (%d, %d): %v, want %v", number, x, y, got, want)
			}
		}
		px, py := e.X, e.Y
		for cell, at := range e.layout.at {
			x, y := centre(cell)
			if (x-px)*(x-px)+(y-py)*(y-py) < 4 {
				continue // under the player
			}
			want := openAbove
			switch {
			case at == wall:
				want = wallAbove
			case cell == e.layout.goal:
				want = goalAbove
			case entered[cell]:
				want = trailAbove
			}
			if got := img.RGBAAt(5+side+cell%Side*6+3, cell/Side*6+3); got != want {
				t.Errorf("episode %d, cell %d: %v, want %v", number, cell, got, want)
			}
		}
	}
	for name, pose := range map[string][]float64{"short": {1, 2}, "zero": make([]float64, poseSize)} {
		if _, err := v.Draw(pose, 20, 10); err == nil {
			t.Errorf("a %s pose is drawn", name)
		}
	}
	if _, err := v.Draw(e.Pose(nil), 3, 1); err == nil {
		t.Error("drawn into three pixels")
	}
}
