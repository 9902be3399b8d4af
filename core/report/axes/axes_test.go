package axes

import "testing"

// The axis of a single step begins at 0, and has no fractions of a step.
func TestAxisOfOneStep(t *testing.T) {
	drawn, err := Panel{X: "env steps", Marks: []Mark{{Kind: Thin, X: []float64{1000}, Y: []float64{3}}}}.plot()
	if err != nil {
		t.Fatal(err)
	}
	if drawn.X.Min != 0 || drawn.X.Max != 1250 {
		t.Errorf("it goes from %g to %g", drawn.X.Min, drawn.X.Max)
	}
}
