package history

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// A critic that comes back to the overestimation of its first updates and goes beyond it is
// reported, once, and only if the value is far above the returns.
func TestCriticsThatDivergeAreReported(t *testing.T) {
	for name, c := range map[string]struct {
		bias, returns []float64
		warned        []int
	}{
		"the first updates alone": {[]float64{0, 57, 41, 26, 15, 5, -1, -4}, []float64{0, 1, 4, 4, 7, 6, 15, 9}, nil},
		"seed 2 of the study":     {[]float64{0, 57, 41, 27, 15, 24, 143, 1284, 4398}, []float64{0, 1, 4, 4, 7, 0, 9, 6, 1}, []int{6}},
		"below the peak":          {[]float64{0, 57, 15, 40, 56}, []float64{0, 1, 1, 1, 1}, nil},
		"with large returns":      {[]float64{0, 57, 15, 60, 90}, []float64{0, 1, 40, 50, 60}, nil},
		"small numbers":           {[]float64{0, 1, 0.1, 2, 9}, []float64{0, 0, 0, 0, 0}, nil},
		"twice":                   {[]float64{20, 5, 30, 40, 3, 30}, []float64{1, 1, 1, 1, 1, 1}, []int{2, 5}},
	} {
		h := New(0, 1)
		var warned []int
		for i, b := range c.bias {
			h.Take(event.Event{Step: i, Member: event.NoMember, Body: event.QBias{Q: run.Float(b + c.returns[i]), Return: run.Float(c.returns[i]), Bias: run.Float(b)}})
			if n := len(h.Lines); n > len(warned) {
				warned = append(warned, i)
				if l := h.Lines[n-1]; !l.Warning || l.Step != i || !strings.Contains(l.Text, "critics diverge: Q is") {
					t.Errorf("%s: the line is %+v", name, l)
				}
			}
		}
		if !slices.Equal(warned, c.warned) {
			t.Errorf("%s: reported at %v, want %v", name, warned, c.warned)
		}
		if last, ok := h.Main(CurveQBias).Last(); !ok || last.Y != c.bias[len(c.bias)-1] {
			t.Errorf("%s: the curve ends at %+v", name, last)
		}
	}
}
