package presets

import (
	"slices"
	"strings"
	"testing"
)

// These are the results of Table 1 of the paper for state observations.
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
		r, ok := Reference(Of{tt.task, tt.method, "state", ""})
		if !ok {
			t.Errorf("%s %s: no reference", tt.task, tt.method)
			continue
		}
		if r.String() != tt.want || r.Seeds != tt.seeds || r.Source != tt.source {
			t.Errorf("%s %s = %q, %d seeds, %s; want %q, %d, %s",
				tt.task, tt.method, r, r.Seeds, r.Source, tt.want, tt.seeds, tt.source)
		}
	}
	if r, ok := Reference(Of{"cheetah-run", "pgr-curiosity", "state", ""}); !ok || r.Mean != 817.36 || r.Std != 35.93 {
		t.Errorf("cheetah-run pgr-curiosity = %v ± %v, want 817.36 ± 35.93", r.Mean, r.Std)
	}
	if r, ok := Reference(Of{"cartpole-swingup", "sac", "state", ""}); ok {
		t.Errorf("cartpole-swingup is not in the paper, got %v", r)
	}
	// walker-walk with SynthER is printed for pixels only.
	if r, ok := Reference(Of{"walker-walk", "synther", "state", ""}); ok {
		t.Errorf("walker-walk synther on state observations is not in the paper, got %v", r)
	}
}

// A lost row fails here.
func TestReferencesComplete(t *testing.T) {
	count, measures := map[string]int{}, map[string]int{}
	for _, r := range references().results {
		count[r.Source]++
		if r.Task == "" || r.Method == "" || r.Mean <= 0 || r.Std <= 0 || r.Steps == 0 {
			t.Errorf("incomplete result %+v", r)
		}
	}
	for _, m := range references().measures {
		measures[m.Source]++
		if m.What == "" || m.Task == "" || m.Method == "" || m.Value < 0 || m.Value == 0 && m.What != untrained {
			t.Errorf("incomplete measure %+v", m)
		}
	}
	for source, n := range map[string]int{
		"Table 1":                                    10*4 + 4*2,
		"Table 2":                                    6 * 3,
		"appendix, RND and pseudo-counts":            5 * 2,
		"appendix, exploration bonuses":              9 * 2,
		"appendix, noised dynamics data":             6 * 3,
		"appendix, PER and VAE":                      7 * 3,
		"appendix, randomised DMLab with a noisy TV": 7 * 2,
		"son9ih/pgr: exp/01_experiments.md":          2 * 7,
		"an unnamed fork of renwang435/pgr":          2,
		"facebookresearch/drqv2: curves":             4*8 + 3*2,
		"danijar/dreamerv3: scores":                  13 + 16 + 6 + 4*7 + 2*2,
	} {
		if count[source] != n {
			t.Errorf("%s has %d results, want %d", source, count[source], n)
		}
		delete(count, source)
	}
	if len(count) > 0 {
		t.Errorf("unexpected sources: %v", count)
	}
	if measures["Table 3"] != 3+2+2+2+3+3 || measures["dynamics error at epoch 50"] != 6 || measures["son9ih/pgr: exp/01_experiments.md"] != 6 || measures["facebookresearch/drqv2: curves"] != 6 {
		t.Errorf("measures: %v", measures)
	}
}

// A run at 600 on cheetah-run must not look broken: the independent results are listed, and are
// never taken for the paper's.
func TestIndependentResultsAreMarked(t *testing.T) {
	found := Independent("cheetah-run")
	if len(found) != 11+9 {
		t.Fatalf("%d independent results on cheetah-run, want 11 from states and 9 from pixels", len(found))
	}
	for _, r := range found {
		if !r.Independent || r.Source == "Table 1" {
			t.Errorf("%+v is not marked", r)
		}
	}
	if got := found[1].String(); got != "independent 411 ± 57 at 100K" {
		t.Errorf("%q", got)
	}
	if got, want := Beside(Of{"cheetah-run", "pgr-curiosity", "state", ""}), "paper 817 ± 36 at 100K; independent (son9ih/pgr) 411 ± 57 at 100K; independent (an unnamed fork of renwang435/pgr) 613 ± 35 at 100K"; got != want {
		t.Errorf("beside a run stands %q, want %q", got, want)
	}
	if got := Beside(Of{"cartpole-swingup", "sac", "state", ""}); got != "" {
		t.Errorf("beside a task without results stands %q", got)
	}
	for _, r := range References("cheetah-run") {
		if r.Independent {
			t.Errorf("%+v is among the paper's", r)
		}
	}
	if r, ok := Reference(Of{"quadruped-walk", "pgr-curiosity", "state", ""}); !ok || r.Mean != 927.98 {
		t.Errorf("%+v", r)
	}
	if got := Measures("Hopper-v2"); len(got) != 4 || !got[3].Independent || got[3].Value != 0.14 {
		t.Errorf("%+v", got)
	}
}

// Every result on state observations, of the paper and of others, belongs to a run that this program
// makes: task × method × scale, with as many steps, except for the points of others' curves, which are
// read at several steps of a run.
func TestEveryStateCellIsARun(t *testing.T) {
	cells := 0
	for _, r := range references().results {
		if r.Observation != "state" {
			continue
		}
		c, err := Resolve(Choice{Task: r.Task, Method: r.Method, Scale: "paper"})
		if err != nil {
			t.Errorf("%s × %s: %v", r.Task, r.Method, err)
			continue
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s × %s: %v", r.Task, r.Method, err)
		}
		if curve := r.Source == "danijar/dreamerv3: scores"; c.Steps != r.Steps && !curve {
			t.Errorf("%s × %s: %d steps, the result is read at %d", r.Task, r.Method, c.Steps, r.Steps)
		}
		cells++
	}
	if want := 10*4 + 6*3 + 9*2 + 6*3 + 7*3; cells < want {
		t.Errorf("%d cells, the paper alone has %d", cells, want)
	}
}

// A run from pixels is shown beside the results reported from pixels, in env steps and frames, and
// beside the return of an untrained policy, which depends on the task and not on the method.
func TestReferencesFromPixels(t *testing.T) {
	for _, tt := range []struct{ task, method, want string }{
		{"cheetah-run", "drqv2", "paper 489 ± 69 at 100K (200K frames); independent (facebookresearch/drqv2) 273 ± 130 at 50K (100K frames); independent (facebookresearch/drqv2) 479 ± 49 at 100K (200K frames); untrained 0"},
		{"walker-walk", "pgr-rnd", "paper 602 ± 43 at 100K (200K frames); untrained 21"},
		{"cheetah-run", "pgr-rnd", "paper 513 ± 24 at 100K (200K frames); untrained 0"},
		{"walker-walk", "pgr-count", "paper 541 ± 88 at 100K (200K frames); untrained 21"},
		{"cheetah-run", "pgr-count", "paper 508 ± 74 at 100K (200K frames); untrained 0"},
		{"cartpole-balance", "drqv2", "independent (facebookresearch/drqv2) 987 ± 13 at 50K (100K frames); independent (facebookresearch/drqv2) 983 ± 18 at 100K (200K frames); untrained 374"},
		{"cheetah-run", "dreamerv3", "paper 298 ± 86 at 100K; independent (danijar/dreamerv3) 333 ± 31 at 100K (100K frames), with its version of 2023; independent (danijar/dreamerv3) 325 ± 46 at 100K (100K frames), with its version of 2024; untrained 0"},
		{"cartpole-balance", "synther", "untrained 374"},
		{"finger-turn-hard", "drqv2", ""},
	} {
		if got := Beside(Of{tt.task, tt.method, "pixels", ""}); got != tt.want {
			t.Errorf("%s on %s: %q, want %q", tt.method, tt.task, got, tt.want)
		}
	}
	for _, name := range []string{"table-1-pixels-walker", "table-1-pixels-cheetah", "fig-pixels", "fig-pixels-cheetah"} {
		p := named(t, name)
		paper, others := 5, 7
		if strings.HasPrefix(name, "table") {
			paper, others = 6, 9 // the figure has no DreamerV3
		}
		if len(p.Results) != paper+others || p.Observation != "pixels" {
			t.Errorf("%s, %s: %d results, want %d of the paper and %d independent ones: %v", name, p.Observation, len(p.Results), paper, others, p.Results)
		}
		for _, method := range append([]string{p.Method}, p.Compare...) {
			c, err := Resolve(Choice{Preset: name, Method: method})
			if err != nil {
				t.Fatal(err)
			}
			if m, is := strings.CutPrefix(method, "pgr-"); is && c.Knobs.Relevance != m {
				t.Errorf("%s with %s: F is %s", name, method, c.Knobs.Relevance)
			}
			frames, side := 200_000, 84
			if method == "dreamerv3" {
				frames, side = 100_000, 64 // it repeats no action
			}
			if !c.Sees() || c.Frames(c.Steps) != frames || c.Pixels.Side != side {
				t.Errorf("%s with %s: %d frames of %d pixels", name, method, c.Frames(c.Steps), c.Pixels.Side)
			}
		}
	}
}

// The table of mazes stands beside runs with the noisy TV, from rays as well as from frames, and
// says where it was measured. Without the TV there is nothing to compare with. Its presets have
// every cell that is a run here.
func TestTheTableOfMazes(t *testing.T) {
	for _, tt := range []struct {
		run  Of
		want string
	}{
		{Of{"maze-sparse", "ppo-eco", "state", "noise"}, "paper 16.3 ± 3.6 at 10M, from frames of DeepMind Lab"},
		{Of{"maze-sparse", "ppo", "pixels", "noise"}, "paper 7.3 ± 2.7 at 10M, from frames of DeepMind Lab"},
		{Of{"maze-very-sparse", "pgr-eco", "state", "noise"}, "paper 18.7 ± 2.1 at 10M, from frames of DeepMind Lab"},
		{Of{"maze-sparse", "ppo", "state", "off"}, ""},
		{Of{"maze-sparse", "ppo", "state", "noise-action"}, ""},
		{Of{"maze-sparse", "ppo-oracle", "state", "noise"}, ""},
	} {
		if got := Beside(tt.run); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.run, got, tt.want)
		}
	}
	for task, names := range map[string][]string{
		"maze-sparse": {"table-mazes-sparse", "table-mazes-pixels-sparse"}, "maze-very-sparse": {"table-mazes-very-sparse", "table-mazes-pixels-very-sparse"},
	} {
		for _, name := range names {
			p := named(t, name)
			methods := append([]string{p.Method}, p.Compare...)
			if len(p.Results) != len(methods) || p.Task != task {
				t.Errorf("%s: %d results for %d methods: %v", name, len(p.Results), len(methods), p.Results)
			}
			for _, method := range methods {
				c, err := Resolve(Choice{Preset: name, Method: method})
				if err != nil {
					t.Fatal(err)
				}
				if r, ok := Reference(OfRun(c)); !ok || c.Steps != c.RoundUp(r.Steps) {
					t.Errorf("%s with %s is %d env steps of %d copies with tv %s beside %v", name, method, c.Steps, c.Environment.Copies, c.Knobs.TV, r)
				}
			}
		}
		p := named(t, names[0])
		for _, r := range References(task) {
			is := known("method", r.Method, methodNames) == nil
			if in := r.Method == p.Method || slices.Contains(p.Compare, r.Method); in != is {
				t.Errorf("%s: method %s: in the preset %v, in this program %v: add it to compare", p.Name, r.Method, in, is)
			}
		}
	}
}

// The curves of DrQ-v2's authors are in env steps at repeat 2 and in frames, and those of walker-walk say
// that two of their seeds never learn.
func TestCurvesOfDrQv2(t *testing.T) {
	for task, want := range map[string]map[int][2]float64{ // by frame
		"walker-walk":      {40_000: {65, 55}, 60_000: {89, 77}, 80_000: {132, 118}, 100_000: {170, 160}, 200_000: {428, 280}, 300_000: {596, 361}, 500_000: {722, 379}},
		"cheetah-run":      {40_000: {73, 65}, 60_000: {178, 101}, 80_000: {228, 132}, 100_000: {273, 130}, 200_000: {479, 49}, 300_000: {538, 26}, 500_000: {603, 35}},
		"cartpole-swingup": {40_000: {203, 123}, 60_000: {326, 214}, 100_000: {626, 268}, 200_000: {807, 30}},
		"walker-stand":     {40_000: {166, 72}, 60_000: {196, 89}, 100_000: {324, 235}, 200_000: {677, 311}},
	} {
		points := 0
		for _, r := range Independent(task) {
			if r.Observation != "pixels" || r.Method != "drqv2" {
				continue
			}
			points++
			if of := want[r.Frames]; r.Mean != of[0] || r.Std != of[1] || r.Frames != 2*r.Steps || r.Method != "drqv2" || r.Seeds != map[string]int{"walker-stand": 8}[task] && r.Seeds != 10 {
				t.Errorf("%s: %+v, want %v", task, r, of)
			}
			if said := strings.Contains(r.Note, "two of the ten seeds never learn"); said != (task == "walker-walk") {
				t.Errorf("%s: %q", task, r.Note)
			}
		}
		if points != len(want) {
			t.Errorf("%s has %d points, want %d", task, points, len(want))
		}
	}
}

// The curves of DreamerV3's authors are in env steps with repeats counted, so that they can stand beside
// runs without a repeat, and rise; the line beside a run has the points that runs at short and paper reach.
func TestCurvesOfDreamerV3(t *testing.T) {
	for task, want := range map[string]map[int][2]float64{ // by env step
		"cheetah-run":      {20_000: {53.9, 23.5}, 50_000: {228.5, 87.9}, 100_000: {307.6, 86.9}, 200_000: {425.9, 57}, 300_000: {469.8, 94.8}, 400_000: {531.4, 78.5}, 480_000: {613.6, 25.6}},
		"finger-turn-hard": {20_000: {278.4, 437.6}, 50_000: {220.5, 137.1}, 100_000: {279.5, 193.1}, 200_000: {543, 208.9}, 300_000: {482.1, 265.5}, 400_000: {862.6, 41.2}, 480_000: {889.1, 30.7}},
		"hopper-hop":       {100_000: {0.6, 1.2}, 200_000: {7.9, 10.2}, 300_000: {33.3, 38.1}, 400_000: {109.6, 29.4}, 480_000: {113.4, 34.1}},
		"quadruped-walk":   {},
	} {
		points := 0
		for _, r := range Independent(task) {
			if r.Method != "dreamerv3" || r.Observation != "state" {
				continue
			}
			points++
			if of := want[r.Steps]; r.Mean != of[0] || r.Std != of[1] || r.Seeds != 5 || r.Frames != 0 || !strings.Contains(r.Note, "in 2023") {
				t.Errorf("%s: %+v, want %v", task, r, of)
			}
		}
		if points != len(want) {
			t.Errorf("%s has %d points, want %d", task, points, len(want))
		}
	}
	if got, want := Beside(Of{"cheetah-run", "dreamerv3", "state", ""}), "paper 362 ± 31 at 100K; independent (danijar/dreamerv3) 54 ± 24 at 20K; independent (danijar/dreamerv3) 308 ± 87 at 100K"; got != want {
		t.Errorf("beside a run stands %q, want %q", got, want)
	}
}
