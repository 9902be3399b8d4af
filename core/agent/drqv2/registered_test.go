package drqv2_test

import (
	"strings"
	"testing"

	"pgrlab/core/testing/tiny"
)

// Beside a generator D_real holds latents of the present encoder, and D_syn one generation: earlier
// ones would be of other encoders.
func TestOneGenerationOfLatents(t *testing.T) {
	for retain, refused := range []bool{false, false, true} {
		latents, states := tiny.Latents(), tiny.Config()
		latents.Generator.Retain, states.Generator.Retain = retain, retain
		if err := latents.Validate(); (err != nil) != refused || refused && (!strings.Contains(err.Error(), "generator.retain is 2") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%d generations of latents: %v", retain, err)
		}
		if err := states.Validate(); err != nil {
			t.Errorf("%d generations of states: %v", retain, err)
		}
	}
}
