package relevance

import (
	"fmt"

	"pgrlab/core/replay"
)

var _ = register(Spec{
	Name: "return", Doc: "return that the critics expect from the state", Equation: "Q(s, π(s))",
	Source: "Wang et al. 2025, section 4",
	Valued: true, New: valued("return", func(v Values) Function { return expectedReturn{v} }),
})

// expectedReturn is F = Q(s, π(s)).
type expectedReturn struct{ values Values }

func (expectedReturn) Name() string { return "return" }

func (f expectedReturn) Score(dst []float32, b *replay.Batch, rows int) error {
	if err := f.values.Q(dst[:rows], b.Obs, rows); err != nil {
		return fmt.Errorf("relevance return: %w", err)
	}
	return nil
}
