package maze

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
)

// trail is the path of the player through an episode, in the order walked: places of two numbers
// each. A place of NaN marks that the goal was reached; the path then goes on at another start.
type trail []float32

const (
	trailStep = 0.25                 // smallest distance between two places of a trail, cells
	trailMost = 2 * 4 * EpisodeSteps // largest count of numbers in a trail: a goal adds up to three places more than an action
)

func newTrail() trail { return make(trail, 0, 2*EpisodeSteps) }

// begin empties the trail.
func (t *trail) begin() { *t = (*t)[:0] }

// add appends a place.
func (t *trail) add(x, y float64) { *t = append(*t, float32(x), float32(y)) }

// walk appends a place if it is far enough from the one before.
func (t *trail) walk(x, y float64) {
	n := len(*t)
	if n >= 2 && math.Hypot(float64((*t)[n-2])-x, float64((*t)[n-1])-y) < trailStep {
		return
	}
	t.add(x, y)
}

// reach ends a leg at the goal.
func (t *trail) reach(x, y float64) {
	t.add(x, y)
	t.add(math.NaN(), math.NaN())
}

// load reads a trail in the form that save writes.
func (t *trail) load(r io.Reader) error {
	var n uint32
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return err
	}
	if n > trailMost || n%2 != 0 {
		return fmt.Errorf("a trail of %d numbers, the most are %d", n, trailMost)
	}
	all := make(trail, n, max(int(n), 2*EpisodeSteps))
	if err := binary.Read(r, binary.LittleEndian, all); err != nil {
		return err
	}
	for _, v := range all {
		if !(v > 0 && v < Side) && v == v {
			return fmt.Errorf("a trail through %v", v)
		}
	}
	*t = all
	return nil
}

func (t trail) save(w io.Writer) {
	binary.Write(w, binary.LittleEndian, uint32(len(t))) // to a Buffer, which does not fail
	binary.Write(w, binary.LittleEndian, t)
}

// The colours of a trail at the beginning of the episode and at the present place.
var (
	oldTrail = color.RGBA{70, 92, 130, 255}
	nowTrail = color.RGBA{120, 205, 255, 255}
)

// trailColour is the colour of a part of a trail, from 0 at its beginning to 1.
func trailColour(part float64) color.RGBA {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + part*(float64(b)-float64(a)))) }
	return color.RGBA{mix(oldTrail.R, nowTrail.R), mix(oldTrail.G, nowTrail.G), mix(oldTrail.B, nowTrail.B), 255}
}

// drawTrail draws a pose's trail up to the player's place, on a part of a picture that shows the
// maze from above. It is a line that grows brighter, with a dot at each start after a goal.
func drawTrail(img *image.RGBA, part image.Rectangle, places []float64, b *body) {
	scale := float64(part.Dx()) / Side
	thick := max(1, int(scale/6))
	dot := func(x, y float64, size int, c color.RGBA) {
		left, top := part.Min.X+int(x*scale)-(size-1)/2, part.Min.Y+int(y*scale)-(size-1)/2
		for py := max(top, part.Min.Y); py < min(top+size, part.Max.Y); py++ {
			for px := max(left, part.Min.X); px < min(left+size, part.Max.X); px++ {
				img.SetRGBA(px, py, c)
			}
		}
	}
	x, y := math.NaN(), math.NaN()
	line := func(toX, toY, share float64) {
		if n := math.Ceil(math.Hypot(toX-x, toY-y) * scale); n >= 1 { // false at the beginning of a leg, where x is NaN
			for k := 0.0; k <= n; k++ {
				dot(x+(toX-x)*k/n, y+(toY-y)*k/n, thick, trailColour(share))
			}
		}
		x, y = toX, toY
	}
	for i := 0; i+1 < len(places); i += 2 {
		line(places[i], places[i+1], float64(i)/float64(len(places)))
	}
	line(b.X, b.Y, 1)
	for i := 2; i+1 < len(places); i += 2 {
		if places[i-2] != places[i-2] {
			dot(places[i], places[i+1], thick+1, goalAbove)
		}
	}
}
