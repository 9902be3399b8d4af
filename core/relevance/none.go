package relevance

import "pgrlab/core/replay"

var _ = register(Spec{
	Name: None, Doc: "nothing: the generator is fitted without a condition", Equation: "0",
	Source: "SynthER, Lu et al. 2023",
	New:    func(Deps) (Function, error) { return none{}, nil },
})

// none is F = 0. The generator is then fitted without scores: equal
// scores would still be a condition.
type none struct{}

func (none) Name() string { return None }

func (none) Score(dst []float32, _ *replay.Batch, rows int) error {
	clear(dst[:rows])
	return nil
}
