package watch

import (
	"fmt"
	"image"
	"image/color"

	"pgrlab/core/policy"
	"pgrlab/core/task"
)

// eye is the input of a policy that acts on frames.
type eye struct {
	policy policy.Sighted
	env    task.Seen
	frame  []byte
	fresh  bool // it has seen the frame before its next action
	shown  *image.RGBA
}

// newEye is the eye of a policy in an environment; nil if the policy acts on observations.
func newEye(p policy.Policy, env task.Env, name string) (*eye, error) {
	sighted, sees := p.(policy.Sighted)
	if !sees {
		return nil, nil
	}
	seen, ok := env.(task.Seen)
	if !ok {
		return nil, fmt.Errorf("the policy acts on pixels, and %s has no camera", name)
	}
	return &eye{policy: sighted, env: seen, frame: make([]byte, sighted.Side()*sighted.Side()*3)}, nil
}

// look lets the policy see, once, the frame before its next action.
func (e *eye) look() error {
	if e.fresh {
		return nil
	}
	if err := e.env.Frame(e.frame, e.policy.Side()); err != nil {
		return err
	}
	e.policy.See(e.frame)
	e.fresh = true
	return nil
}

// picture is what the policy saw last: its frames side by side, the oldest first, as large as fits
// into w by h pixels and centred there. It is valid until the next call.
func (e *eye) picture(w, h int) *image.RGBA {
	if e.shown == nil || e.shown.Rect.Dx() != w || e.shown.Rect.Dy() != h {
		e.shown = image.NewRGBA(image.Rect(0, 0, w, h))
	}
	frames, side := e.policy.Seen(), e.policy.Side()
	wide := side * len(frames)
	width := min(w, max(1, h*len(frames))) // of all frames
	height := max(1, width/len(frames))
	left, top := (w-width)/2, (h-height)/2
	for y := range h {
		for x := range w {
			c := color.RGBA{A: 255}
			if u, v := x-left, y-top; u >= 0 && u < width && v >= 0 && v < height {
				from, line := u*wide/width, v*side/height
				at := 3 * (line*side + from%side)
				pixel := frames[from/side][at : at+3]
				c.R, c.G, c.B = pixel[0], pixel[1], pixel[2]
			}
			e.shown.SetRGBA(x, y, c)
		}
	}
	return e.shown
}
