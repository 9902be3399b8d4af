package task

// Seen is an Env that can be seen: what a camera shows of it is what learners of frames
// learn from.
type Seen interface {
	// Frame draws what the environment looks like now: dst is [side,side,3], bytes of
	// red, green and blue, the upper line first. The same state has the same bytes. It
	// changes nothing.
	Frame(dst []byte, side int) error
}

// SeenVec is a VecEnv that can be seen.
type SeenVec interface {
	// Frames is Frame of all copies: dst is [Size,side,side,3].
	Frames(dst []byte, side int) error
}
