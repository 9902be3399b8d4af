package plan

import (
	"strings"
	"testing"

	"pgrlab/core/op"
)

// A profile names every instruction, the check and the optimiser, and its runs are counted.
func TestProfile(t *testing.T) {
	d := twin()
	rate := op.NewTensor("rate", 1)
	optimiser := NewAdam(d.Wrt, DefaultAdam, rate)
	p, _ := compile(t, d, machine(t), optimiser)
	text, err := p.Profile(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"three critics: ", "linear dw gradient of q.2.w[3,18,16]", "check", "adam", "GFLOP/s"} {
		if !strings.Contains(text, want) {
			t.Errorf("the profile lacks %q:\n%s", want, text)
		}
	}
	if optimiser.T != 3 {
		t.Errorf("%d steps, want 3", optimiser.T)
	}
	d.Wrt[0].Data[0] /= zero
	if _, err := p.Profile(0, 1); err == nil || !strings.Contains(err.Error(), "q.1.w[3,7,18] is") {
		t.Errorf("error %v, want one that names the weights", err)
	}
}

var zero float32
