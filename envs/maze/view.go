package maze

import (
	"fmt"
	"image"
	"image/color"
	"time"
)

// View draws a maze in any pose: on the left what the player sees, TV included, and on the right the
// maze from above with the player's path. It belongs to one goroutine, which need not be the
// goroutine of the Env whose pose it draws.
type View struct {
	task    Task
	world   world // world of the layout and the look, if built
	built   bool
	draw    *draw
	layout  layout
	look    look
	camera  camera
	frame   []byte
	picture *image.RGBA
}

// View makes a View of the task.
func (t Task) View() *View { return &View{task: t, draw: newDraw()} }

// StepTime is the simulated time of an action.
func (v *View) StepTime() time.Duration { return StepTime }

const poseSize = 11 // without the trail

// Pose appends everything that a View draws: the maze by its split, seed and episode, position
// and heading of the player, the TV, and the episode's trail. It changes nothing.
func (e *episode) Pose(dst []float64) []float64 {
	halves := func(all ...uint64) {
		for _, n := range all {
			dst = append(dst, float64(n>>32), float64(uint32(n)))
		}
	}
	dst = append(dst, float64(e.Split))
	halves(e.Seed, e.Episode)
	dst = append(dst, e.X, e.Y, float64(e.Heading), float64(e.tv), float64(e.Step), float64(e.Shots))
	for _, v := range e.trail {
		dst = append(dst, float64(v))
	}
	return dst
}

// black is a picture of nothing.
func black(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	return img
}

// Draw paints a pose of an Env of the task, w by h pixels. The picture belongs to the View and is
// valid until the next call.
func (v *View) Draw(pose []float64, w, h int) (*image.RGBA, error) {
	switch {
	case len(pose) < poseSize || (len(pose)-poseSize)%2 != 0:
		return nil, fmt.Errorf("draw %s: a pose of %d numbers, want %d and two for each place of the trail", v.task.Name, len(pose), poseSize)
	case w < 4 || h < 2: // too small for both views
		return black(w, h), nil
	}
	whole := func(i int) uint64 { return uint64(pose[i])<<32 | uint64(pose[i+1]) }
	now := world{Split(pose[0]), whole(1), whole(3)}
	b := body{X: pose[5], Y: pose[6], Heading: int32(pose[7])}
	tv, steps, shots := TV(pose[8]), int(pose[9]), int(pose[10])
	if s := (state{Step: int32(steps), body: b}); s.check() != nil || steps < 0 || tv < 0 || int(tv) >= len(TVs) {
		return nil, fmt.Errorf("draw %s: %v is no pose of a maze", v.task.Name, pose[:11])
	}
	if !v.built || v.world != now {
		build(&v.layout, &v.look, v.draw, now)
		v.world, v.built = now, true
	}
	if v.picture == nil || v.picture.Rect.Dx() != w || v.picture.Rect.Dy() != h {
		v.picture = black(w, h)
	}
	side, left, top := place(w, h)
	if len(v.frame) != 3*side*side {
		v.frame = make([]byte, 3*side*side)
	}
	v.camera.draw(v.frame, side, &scene{&v.layout, &v.look, &b, tv.at(now, steps, shots)})
	for y := range side {
		for x := range side {
			c := v.frame[3*(y*side+x):]
			v.picture.SetRGBA(left+x, top+y, color.RGBA{c[0], c[1], c[2], 255})
		}
	}
	v.above(&b, pose[poseSize:], image.Rect(left+side, top, left+2*side, top+side))
	return v.picture, nil
}

// place returns the square of a picture of w by h pixels that shows what the player sees. To its
// right, the maze from above is a square of the same size.
func place(w, h int) (side, left, top int) {
	side = min(w/2, h)
	return side, (w - 2*side) / 2, (h - side) / 2
}

// Ground is the part of a picture of w by h pixels that shows the maze from above, with that many
// cells along each side.
func Ground(w, h int) (part image.Rectangle, cells float64) {
	side, left, top := place(w, h)
	return image.Rect(left+side, top, left+2*side, top+side), Side
}

// The colours of the maze from above.
var (
	wallAbove    = color.RGBA{40, 44, 52, 255}
	openAbove    = color.RGBA{120, 124, 132, 255}
	goalAbove    = color.RGBA{255, 200, 0, 255}
	playerAbove  = color.RGBA{230, 60, 60, 255}
	headingAbove = color.RGBA{255, 255, 255, 255}
)

// above draws the maze from above: the ground, the trail on it, and the player over both.
func (v *View) above(b *body, places []float64, part image.Rectangle) {
	each := func(colour func(x, y float64) (color.RGBA, bool)) {
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				at := func(i, first int) float64 { return (float64(i-first) + 0.5) * Side / float64(part.Dx()) }
				if c, paints := colour(at(x, part.Min.X), at(y, part.Min.Y)); paints {
					v.picture.SetRGBA(x, y, c)
				}
			}
		}
	}
	each(v.ground)
	drawTrail(v.picture, part, places, b)
	each(b.above)
}

// ground is the colour of a point without the player.
func (v *View) ground(x, y float64) (color.RGBA, bool) {
	switch cell := int(y)*Side + int(x); {
	case v.layout.at[cell] == wall:
		return wallAbove, true
	case cell == v.layout.goal:
		return goalAbove, true
	}
	return openAbove, true
}

// above is the colour of the player at a point, if the player covers it. The player is shown
// larger than its real size.
func (b *body) above(x, y float64) (c color.RGBA, there bool) {
	const reach = 0.6
	cos, sin := compass[b.Heading][0], compass[b.Heading][1]
	dx, dy := x-b.X, y-b.Y
	if along, across := dx*cos+dy*sin, dy*cos-dx*sin; along > 0 && along < 2*reach && across*across < 0.06 {
		return headingAbove, true
	}
	return playerAbove, dx*dx+dy*dy < reach*reach
}
