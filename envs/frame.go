package envs

import (
	"fmt"
	"image"
)

// eye draws the bodies of a task. It is made when it is first used.
type eye struct {
	view *View
	pose []float64
}

// frame draws the present state of a simulation: dst is [side,side,3].
func (e *eye) frame(s *simulation, dst []byte, side int) (err error) {
	if len(dst) != side*side*3 || side < 1 {
		return fmt.Errorf("draw %s: %d bytes for a frame of %d by %d pixels", s.task.Name, len(dst), side, side)
	}
	if e.view == nil {
		if e.view, err = s.task.View(); err != nil {
			return err
		}
	}
	e.pose = s.body.pose(e.pose[:0])
	picture, err := e.view.Draw(e.pose, side, side)
	if err != nil {
		return err
	}
	colours(dst, picture)
	return nil
}

// colours copies a picture without its opacity.
func colours(dst []byte, from *image.RGBA) {
	for i, side := 0, from.Rect.Dx(); i < side; i++ {
		line := from.Pix[i*from.Stride:][: 4*side : 4*side]
		out := dst[3*side*i:][: 3*side : 3*side]
		for len(line) > 0 {
			copy(out, line[:3])
			line, out = line[4:], out[3:]
		}
	}
}

// Frame draws the present state of the environment, through the camera that DrQ-v2 uses for
// the task: dst is [side,side,3], red, green and blue, the top line first. Equal states give
// equal bytes, except after a step of Gym's tasks: it leaves the body's parts where they were
// within its last physics step. It changes nothing.
func (e *Env) Frame(dst []byte, side int) error { return e.eye.frame(e.sim, dst, side) }

// Frames draws the frames of all copies, [Size,side,side,3].
func (v *VecEnv) Frames(dst []byte, side int) error {
	if want := len(v.sims) * side * side * 3; len(dst) != want || side < 1 {
		return fmt.Errorf("draw %s: %d bytes for %d frames of %d by %d pixels", v.task.Name, len(dst), len(v.sims), side, side)
	}
	v.frames, v.side = dst, side
	return v.run(jobFrame)
}
