package sac

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgrlab/core/agent"
)

// train makes updates first to last-1 at UTD 7.
func train(t *testing.T, s *Agent, first, last int) {
	t.Helper()
	for i := first; i < last; i++ {
		fill(t, s, 8, uint64(i))
		if _, _, err := s.Update(8, agent.DefaultRates, i%7 == 6); err != nil {
			t.Fatal(err)
		}
	}
}

// learned returns everything that an agent learns.
func learned(s *Agent) (all []float32) {
	all = flat(s.nets.state(), 0, 1)
	all = append(all, flat(s.policyAdam.M, 0, 1)...)
	all = append(all, flat(s.policyAdam.V, 0, 1)...)
	all = append(all, flat(s.criticAdam.M, 0, 1)...)
	all = append(all, flat(s.criticAdam.V, 0, 1)...)
	return append(all, s.temp.alpha.Data[0], float32(s.temp.LogAlpha), float32(s.temp.M), float32(s.temp.V))
}

func sameBits(t *testing.T, a, b *Agent) {
	t.Helper()
	x, y := learned(a), learned(b)
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			t.Fatalf("number %d is %v and %v", i, x[i], y[i])
		}
	}
	if a.updates != b.updates || a.since != b.since || a.policyAdam.T != b.policyAdam.T || a.criticAdam.T != b.criticAdam.T || a.temp.T != b.temp.T {
		t.Fatal("the counters differ")
	}
}

// The agent is saved in the middle of an env step, and with a subset of critics,
// so that every counter matters.
func TestALoadedAgentGoesOnBitForBit(t *testing.T) {
	c := small()
	c.Critics, c.PolicyDelay = 4, 3
	a := newAgent(t, c, 1)
	train(t, a, 0, 300)
	var file bytes.Buffer
	if err := a.Save(&file); err != nil {
		t.Fatal(err)
	}
	file.WriteString("more")
	b := newAgent(t, c, 1)
	train(t, b, 0, 10) // a state for Load to overwrite
	if err := b.Load(&file); err != nil {
		t.Fatal(err)
	}
	if file.String() != "more" {
		t.Fatal("load read beyond its end")
	}
	sameBits(t, a, b)
	train(t, a, 300, 400)
	train(t, b, 300, 400)
	sameBits(t, a, b)
	if a.Updates() != 400 {
		t.Errorf("%d updates, want 400", a.Updates())
	}
}

// An agent saved before the first step of α keeps the configured value.
func TestInitialAlphaSurvives(t *testing.T) {
	a, b := newAgent(t, small(), 1), newAgent(t, small(), 1)
	var file bytes.Buffer
	if err := a.Save(&file); err != nil {
		t.Fatal(err)
	}
	b.temp.alpha.Data[0] = 9
	if err := b.Load(&file); err != nil {
		t.Fatal(err)
	}
	if b.temp.alpha.Data[0] != 0.2 {
		t.Errorf("α is %v, want 0.2", b.temp.alpha.Data[0])
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	var file bytes.Buffer
	if err := newAgent(t, small(), 1).Save(&file); err != nil {
		t.Fatal(err)
	}
	wider := small()
	wider.Critics = 3
	for name, c := range map[string]struct {
		config Config
		data   []byte
	}{
		"torn":                {small(), file.Bytes()[:file.Len()-1]},
		"empty":               {small(), nil},
		"something else":      {small(), []byte(strings.Repeat("x", 1000))},
		"of more critics":     {wider, file.Bytes()},
		"torn in the weights": {small(), file.Bytes()[:500]},
	} {
		if err := newAgent(t, c.config, 1).Load(bytes.NewReader(c.data)); err == nil {
			t.Errorf("a file that is %s was accepted", name)
		}
	}
}

func TestPolicyAlone(t *testing.T) {
	a, b := newAgent(t, small(), 1), newAgent(t, small(), 2)
	var file bytes.Buffer
	if err := a.SavePolicy(&file); err != nil {
		t.Fatal(err)
	}
	if err := b.LoadPolicy(&file); err != nil {
		t.Fatal(err)
	}
	obs, x, y := []float32{1, 2, 3, -4, 0.5}, make([]float32, 2), make([]float32, 2)
	if err := actMean(a, x, obs, 1); err != nil {
		t.Fatal(err)
	}
	if err := actMean(b, y, obs, 1); err != nil {
		t.Fatal(err)
	}
	if x[0] != y[0] || x[1] != y[1] {
		t.Errorf("the same policy acts as %v and %v", x, y)
	}
	if err := b.LoadPolicy(strings.NewReader("no")); err == nil {
		t.Error("something else was accepted as a policy")
	}
}
