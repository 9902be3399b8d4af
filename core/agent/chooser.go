package agent

// Chooser is a learner that chooses one of a few actions.
type Chooser interface {
	// Chances are π(a|s) of every action in the first copy, as the newest Act in training
	// found them, and V(s) in units of the rewards that it observes. They are nil before, and
	// valid until the next Act.
	Chances() (chances []float32, value float64)
}
