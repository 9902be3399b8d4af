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
	withRatio := c
	want := []Difference{
		{"agent.hidden", "[256, 256]", "[64, 64]"},
		{"knobs.ratio", "0.5", "0.25"},
		{"schedule", "[]", "['10:ratio=0.75']"},
	}
	if !slices.Equal(d, want) {
		t.Errorf("%v, want %v", d, want)
	}
	oracle := Choice{Task: "maze-sparse", Method: "ppo-oracle", Scale: "demo"}
	if c, err = Resolve(oracle); err != nil {
		t.Fatal(err)
	}
	c.Environment.CellBonus, c.Evaluation.Actions = 0, "" // which a document leaves out
	want = []Difference{{"environment.cell_bonus", "0.05247", "0.0"}, {"evaluation.actions", "'sample'", "''"}}
	if d, err := Differences(oracle, c); err != nil || !slices.Equal(d, want) {
		t.Errorf("%v, %v, want %v", d, err, want)
	}
	c = withRatio
	if s, err := Settings(c); err != nil || s["task"] != "'cheetah-run'" || s["knobs.ratio"] != "0.25" || len(s) < 80 {
		t.Errorf("%v, %v", s, err)
	}
}

// Results were kept with settings that are gone by now; rewards as generated were asked for beside a bonus, and
// are what a run with both has.
func TestAsKept(t *testing.T) {
	for _, c := range []struct{ task, method, bonus, want string }{
		{"maze-sparse", "pgr-rnd", "", "'threshold'"}, {"maze-sparse", "pgr-rnd", "curiosity", "'raw'"},
		{"maze-sparse", "ppo-rnd", "", "'threshold'"}, {"cheetah-run", "redq-curiosity", "", "'threshold'"},
	} {
		made, err := Resolve(Choice{Task: c.task, Method: c.method, Scale: "demo"})
		if err == nil && c.bonus != "" {
			err = Set(&made, "bonus.function", c.bonus)
		}
		if err != nil {
			t.Fatal(err)
		}
		settings, err := Settings(made)
		if err != nil {
			t.Fatal(err)
		}
		if kept := AsKept(settings); kept["agent.ppo.dreamt_reward"] != c.want || kept["lanes"] != "2" {
			t.Errorf("%v: kept with rewards %s and %s lanes", c, kept["agent.ppo.dreamt_reward"], kept["lanes"])
		}
	}
}
