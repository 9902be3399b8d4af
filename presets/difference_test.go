package presets

import (
	"slices"
	"testing"
)

func TestDifferences(t *testing.T) {
	choice := Choice{Task: "cheetah-run", Method: "pgr-td", Scale: "cpu"}
	c, err := Resolve(choice)
	if err != nil {
		t.Fatal(err)
	}
	c.Preset = "mine.toml"
	if d, err := Differences(choice, c); err != nil || len(d) > 0 {
		t.Errorf("%v, %v", d, err)
	}
	ratio := c.Knobs.Ratio
	c.Knobs.Ratio, c.Agent.Hidden, c.Schedule = ratio/2, []int{64, 64}, []string{"10:ratio=0.75"}
	d, err := Differences(choice, c)
	if err != nil {
		t.Fatal(err)
	}
	want := []Difference{
		{"agent.hidden", "[256, 256]", "[64, 64]"},
		{"knobs.ratio", "0.5", "0.25"},
		{"schedule", "[]", "['10:ratio=0.75']"},
	}
	if !slices.Equal(d, want) {
		t.Errorf("%v, want %v", d, want)
	}
	if s, err := Settings(c); err != nil || s["task"] != "'cheetah-run'" || s["knobs.ratio"] != "0.25" || len(s) < 80 {
		t.Errorf("%v, %v", s, err)
	}
}
