package presets

import "testing"

// Table 1 of the paper, state observations.
func TestReference(t *testing.T) {
	tests := []struct {
		task, method string
		want         string
		seeds        int
		source       string
	}{
		{"cheetah-run", "pgr-curiosity", "paper 817 ± 36 at 100K", 5, "Table 1"},
		{"quadruped-walk", "sac", "paper 178 ± 37 at 100K", 5, "Table 1"},
		{"finger-turn-hard", "synther", "paper 554 ± 221 at 300K", 5, "Table 1"},
		{"reacher-hard", "redq", "paper 734 ± 80 at 100K", 5, "Table 1"},
		{"Hopper-v2", "pgr-curiosity", "paper 4102 ± 244 at 100K", 3, "Table 2"},
		{"walker-walk", "pgr-curiosity", "paper 865 ± 75 at 100K", 5, "appendix, noised dynamics data"},
	}
	for _, tt := range tests {
		r, ok := Reference(tt.task, tt.method)
		if !ok {
			t.Errorf("%s %s: no reference", tt.task, tt.method)
			continue
		}
		if r.String() != tt.want || r.Seeds != tt.seeds || r.Source != tt.source {
			t.Errorf("%s %s = %q, %d seeds, %s; want %q, %d, %s",
				tt.task, tt.method, r, r.Seeds, r.Source, tt.want, tt.seeds, tt.source)
		}
	}
	if r, ok := Reference("cheetah-run", "pgr-curiosity"); !ok || r.Mean != 817.36 || r.Std != 35.93 {
		t.Errorf("cheetah-run pgr-curiosity = %v ± %v, want 817.36 ± 35.93", r.Mean, r.Std)
	}
	if r, ok := Reference("cartpole-swingup", "sac"); ok {
		t.Errorf("cartpole-swingup is not in the paper, got %v", r)
	}
	// walker-walk with SynthER is printed for pixels only.
	if r, ok := Reference("walker-walk", "synther"); ok {
		t.Errorf("walker-walk synther on state observations is not in the paper, got %v", r)
	}
}

// The tables hold 29 + 4 columns of Table 1 and so on; a lost row shows here.
func TestReferencesComplete(t *testing.T) {
	count := map[string]int{}
	for _, r := range references() {
		count[r.Source]++
		if r.Task == "" || r.Method == "" || r.Mean <= 0 || r.Std <= 0 || r.Steps == 0 {
			t.Errorf("incomplete result %+v", r)
		}
	}
	want := map[string]int{
		"Table 1":                         10*4 + 4*2,
		"Table 2":                         6 * 3,
		"appendix, RND and pseudo-counts": 5 * 2,
		"appendix, exploration bonuses":   9 * 2,
		"appendix, noised dynamics data":  3 * 3,
		"appendix, PER and VAE":           7 * 3,
	}
	for source, n := range want {
		if count[source] != n {
			t.Errorf("%s has %d results, want %d", source, count[source], n)
		}
	}
}
