package maze

import "math"

// Actions lists the possible actions of a step, in the order of episodic curiosity's levels
// (google-research/episodic-curiosity). The name says what the body does.
var Actions = []string{
	"forward", "back", "strafe left", "strafe right", "look left", "look right",
	"look left and forward", "look right and forward", "fire",
}

const (
	lookLeft  = 4
	lookRight = 5
	fire      = 8
)

// The body, per frame of 1/60 s, in cells of 100 units of the original engine.
const (
	framesPerAction = 4
	frameRate       = 60.0
	topSpeed        = 3.2 // cells/s along the wished direction
	acceleration    = 10  // times topSpeed, per second
	friction        = 6   // per second
	stopSpeed       = 1   // cells/s; below it, friction is as at this speed
	halfWidth       = 0.15
	goalReachX      = 0.47 // distance of the body's centre from the goal's
	goalReachY      = 0.36
	headings        = 171 // a frame of looking turns by 20/57 of 6°, which is 1/171 of a turn
	clearance       = 1e-6
)

// moves holds the wish of each action: along and across the heading, and headings per frame.
var moves = [...]struct{ along, across, turn int }{
	{1, 0, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}, {1, 0, -1}, {1, 0, 1}, {0, 0, 0},
}

// body is the position and velocity of the player, in cells: x to the east, y to the south.
// Heading 0 looks east; higher ones turn to the right.
type body struct {
	X, Y, VX, VY float64
	Heading      int32
}

// compass holds cosine and sine of each heading.
var compass = func() (t [headings][2]float64) {
	for i := range t {
		t[i] = [2]float64{cosine(float64(i) / headings), cosine(float64(i)/headings - 0.25)}
	}
	return t
}()

// cosine is the cosine of a part of a turn in [-1,1], by its series within half a turn. Unlike
// the library's, it gives the same bits on every processor.
func cosine(turn float64) float64 {
	turn = math.Abs(turn)
	if turn > 0.5 {
		turn = 1 - turn
	}
	sign := 1.0
	if turn > 0.25 {
		turn, sign = 0.5-turn, -1
	}
	angle := float64(turn * (2 * math.Pi))
	square := float64(angle * angle)
	sum := 0.0
	for k := 22; k > 0; k -= 2 {
		sum = float64((1 + sum) * (-square / float64(k*(k-1))))
	}
	return sign * (1 + sum)
}

// frame moves the body for one frame of an action.
func (b *body) frame(l *layout, action int) {
	move := moves[action]
	b.Heading = (b.Heading + int32(move.turn) + headings) % headings
	if speed := math.Sqrt(float64(b.VX*b.VX) + float64(b.VY*b.VY)); speed > 0 {
		keep := max(0, 1-float64(friction*max(speed, stopSpeed))/speed/frameRate)
		b.VX, b.VY = float64(b.VX*keep), float64(b.VY*keep)
	}
	if move.along != 0 || move.across != 0 {
		cos, sin := compass[b.Heading][0], compass[b.Heading][1]
		along, across := float64(move.along), float64(move.across)
		wx, wy := float64(cos*along)-float64(sin*across), float64(sin*along)+float64(cos*across)
		more := topSpeed - (float64(b.VX*wx) + float64(b.VY*wy))
		if more > 0 {
			more = min(more, acceleration*topSpeed/frameRate)
			b.VX += float64(more * wx)
			b.VY += float64(more * wy)
		}
	}
	b.advance(l)
}

// advance moves the body along x, then along y, up to a wall.
func (b *body) advance(l *layout) {
	if x := b.X + b.VX/frameRate; l.fits(x, b.Y) {
		b.X = x
	} else {
		b.X, b.VX = stopped(x, b.VX), 0
	}
	if y := b.Y + b.VY/frameRate; l.fits(b.X, y) {
		b.Y = y
	} else {
		b.Y, b.VY = stopped(y, b.VY), 0
	}
}

// stopped is the coordinate of a body that stands at the wall that it would enter at v.
func stopped(v, speed float64) float64 {
	if speed > 0 {
		return math.Floor(v+halfWidth) - halfWidth - clearance
	}
	return math.Floor(v-halfWidth) + 1 + halfWidth + clearance
}

// fits says whether a body at (x,y) touches no wall.
func (l *layout) fits(x, y float64) bool {
	west, east := int(x-halfWidth), int(x+halfWidth)
	north, south := int(y-halfWidth)*Side, int(y+halfWidth)*Side
	return l.at[north+west] != wall && l.at[north+east] != wall && l.at[south+west] != wall && l.at[south+east] != wall
}

// centre returns the middle of a cell.
func centre(cell int) (x, y float64) { return float64(cell%Side) + 0.5, float64(cell/Side) + 0.5 }

// touches says whether the body touches the goal.
func (b *body) touches(goal int) bool {
	x, y := centre(goal)
	return math.Abs(b.X-x) <= goalReachX && math.Abs(b.Y-y) <= goalReachY
}

// cell returns the cell in which the body is.
func (b *body) cell() int { return int(b.Y)*Side + int(b.X) }
