package replica

import (
	"slices"
	"testing"

	"pgrlab/core/testing/tiny"
)

// A generator's samples of the policy depend on the occasion and are the same for the same
// occasion.
func TestGeneratorsSampleThePolicy(t *testing.T) {
	c := tiny.Config()
	p, err := NewParts(&c, tiny.Task(), tiny.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Learner(3)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	obs := make([]float32, 3*tiny.Obs)
	sampled := func(occasion uint64) []float32 {
		dst := make([]float32, 3*tiny.Act)
		if err := (sampling{l}).Sample(dst, obs, 3, occasion); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	first := sampled(1)
	if !slices.Equal(first, sampled(1)) || slices.Equal(first, sampled(2)) || first[0] == first[tiny.Act] {
		t.Errorf("samples %v, again %v, of the next occasion %v", first, sampled(1), sampled(2))
	}
}
