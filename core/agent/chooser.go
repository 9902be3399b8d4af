package agent

// Chooser is a learner that chooses one of a few actions.
type Chooser interface {
	// Chances returns π(a|s) of every action and V(s), in units of the observed rewards, for
	// the first copy at the newest Act in training. chances is nil before the first such Act,
	// and valid until the next one.
	Chances() (chances []float32, value float64)
}
