package maze

import (
	"image"
	"image/color"
	"testing"
)

// The ground of a picture is the maze from above, and the player's place lies on it.
func TestGround(t *testing.T) {
	task, _ := Find("maze-sparse")
	e, v := task.New(Training, 5), task.View()
	e.reset(3)
	for _, size := range [][2]int{{400, 170}, {200, 340}} {
		img, err := v.Draw(e.Pose(nil), size[0], size[1])
		if err != nil {
			t.Fatal(err)
		}
		part, cells := Ground(size[0], size[1])
		if !part.In(img.Rect) || part.Dx() != part.Dy() {
			t.Fatalf("%v of %v", part, img.Rect)
		}
		x, y := e.Place()
		scale := float64(part.Dx()) / cells
		at := func(x, y float64) color.RGBA { return img.RGBAAt(part.Min.X+int(x*scale), part.Min.Y+int(y*scale)) }
		cos, sin := compass[e.Heading][0], compass[e.Heading][1]
		if at(x-0.3*cos, y-0.3*sin) != playerAbove || at(x+0.3*cos, y+0.3*sin) != headingAbove {
			t.Errorf("at the player's place (%v, %v) of %v is %v", x, y, size, at(x, y))
		}
		if goal := e.layout.goal; at(centre(goal)) != goalAbove {
			t.Errorf("no goal in %v", size)
		}
	}
}

// A window that is too small for both views shows nothing, and no error.
func TestViewWithoutRoom(t *testing.T) {
	task, _ := Find("maze-sparse")
	e := task.New(Training, 5)
	for _, size := range [][2]int{{1, 1}, {3, 40}, {40, 1}} {
		img, err := task.View().Draw(e.Pose(nil), size[0], size[1])
		if err != nil || img.Rect.Dx() != size[0] || img.Rect.Dy() != size[1] || img.RGBAAt(0, 0) != (color.RGBA{A: 255}) {
			t.Errorf("%v: %v", size, err)
		}
	}
}

// For a pose, a View shows the environment's frame on the left, and on the right the maze with the
// player, the goal and the trail.
func TestView(t *testing.T) {
	task, _ := Find("maze-sparse")
	task, _ = task.With(Options{TV: "noise"})
	e := task.New(Training, 1<<40+5)
	v := task.View()
	const side = 17 * 6
	for _, number := range []uint64{7, 1<<33 + 1} {
		e.reset(number)
		entered := map[int]bool{e.cell(): true}
		at := [][2]float64{{e.X, e.Y}}
		for range 60 {
			e.act(oracle(e.episode))
			entered[e.cell()] = true
			at = append(at, [2]float64{e.X, e.Y})
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
			}
			if got := img.RGBAAt(5+side+cell%Side*6+3, cell/Side*6+3); got != want && !(entered[cell] && onTrail(got)) {
				t.Errorf("episode %d, cell %d: %v, want %v", number, cell, got, want)
			}
		}
		for i, p := range at {
			if (p[0]-px)*(p[0]-px)+(p[1]-py)*(p[1]-py) < 4 {
				continue
			}
			if got := trailNear(img, 5+side+int(p[0]*6), int(p[1]*6)); !onTrail(got) {
				t.Errorf("episode %d: no trail where it was after %d actions, but %v", number, i, got)
			}
		}
	}
	for name, pose := range map[string][]float64{"odd": append(e.Pose(nil), 1), "short": {1, 2}, "zero": make([]float64, poseSize)} {
		if _, err := v.Draw(pose, 20, 10); err == nil {
			t.Errorf("a %s pose is drawn", name)
		}
	}
}

// onTrail says whether a colour belongs to a trail.
func onTrail(c color.RGBA) bool {
	return c.R >= oldTrail.R && c.R <= nowTrail.R && c.G >= oldTrail.G && c.G <= nowTrail.G && c.B >= oldTrail.B && c.B > c.R && c != openAbove || c == goalAbove
}

// trailNear returns a trail's colour at a pixel or beside it, or else the colour of the pixel.
func trailNear(img *image.RGBA, x, y int) color.RGBA {
	for _, d := range [][2]int{{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}} {
		if c := img.RGBAAt(x+d[0], y+d[1]); onTrail(c) && c != wallAbove {
			return c
		}
	}
	return img.RGBAAt(x, y)
}
