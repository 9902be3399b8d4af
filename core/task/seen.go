package task

// Seen is an Env that can be drawn: learners that see frames learn from what its camera shows.
type Seen interface {
	// Frame draws what the environment looks like now: dst is [side,side,3], bytes of red, green
	// and blue, the top line first. The same state gives the same bytes. It changes nothing.
	Frame(dst []byte, side int) error
}

// Drawn is an Env that another program draws for people.
type Drawn interface {
	// Draw returns bytes of red, green and blue of height by width pixels, the top line first.
	Draw(width, height int) ([]byte, error)
}

// SeenVec is a VecEnv that can be drawn.
type SeenVec interface {
	// Frames is Frame of all copies: dst is [Size,side,side,3].
	Frames(dst []byte, side int) error
}
