package lab

import (
	"bytes"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device/cpu"
)

// A saved policy acts as the agent that saved it, whatever its seed and critics.
func TestALoadedPolicyActsAsTheSavedOne(t *testing.T) {
	dev, err := cpu.New(cpu.Options{Threads: 1, Family: "go"})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	c := realConfig()
	c.Agent.Critics, c.Agent.Subset = 3, 2
	a, err := agent.New(c.sac(worldShape), dev, 42)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var saved bytes.Buffer
	if err := a.SavePolicy(&saved); err != nil {
		t.Fatal(err)
	}
	file := saved.Bytes()
	p, err := LoadPolicy(&c, newWorld().task(), dev, bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	obs := []float32{.3, -2}
	want, got := make([]float32, worldAct), make([]float32, worldAct)
	if err := a.ActMean(want, obs, 1); err != nil {
		t.Fatal(err)
	}
	if err := p.Act(got, obs, 0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || want[0] == 0 {
		t.Errorf("acts %v, the saved agent %v", got, want)
	}
	other := newWorld().task()
	other.ObsSize++
	if _, err := LoadPolicy(&c, other, dev, bytes.NewReader(file)); err == nil {
		t.Error("the policy of another task was loaded")
	}
}

func TestRandomActionsFollowTheSeed(t *testing.T) {
	draw := func(seed, step uint64) []float32 {
		a := make([]float32, 6)
		if err := RandomPolicy(seed).Act(a, nil, step); err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := draw(1, 0)
	if !slices.Equal(first, draw(1, 0)) || slices.Equal(first, draw(2, 0)) || slices.Equal(first, draw(1, 1)) {
		t.Error("actions are not a function of seed and step")
	}
	if lo, hi := slices.Min(first), slices.Max(first); lo < -1 || hi >= 1 || lo > 0 || hi < 0 {
		t.Errorf("actions %v", first)
	}
}
