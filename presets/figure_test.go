package presets

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/testing/golden"
)

func named(t *testing.T, name string) Preset {
	t.Helper()
	for _, p := range Figures() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no preset %s", name)
	return Preset{}
}

// Every preset resolves to a run with every method of its figure, at every scale.
func TestPresetsAreRuns(t *testing.T) {
	for _, p := range Figures() {
		if p.Doc == "" || strings.Contains(p.Doc, "\n") {
			t.Errorf("%s: doc %q is not one line", p.Name, p.Doc)
		}
		if strings.HasPrefix(p.Name, "fig-") && p.Figure == "" {
			t.Errorf("%s belongs to no figure", p.Name)
		}
		for _, method := range append([]string{p.Method}, p.Compare...) {
			for _, scale := range scaleNames {
				c, err := Resolve(Choice{Preset: p.Name, Method: method, Scale: scale})
				if err != nil {
					t.Fatalf("%s with %s at %s: %v", p.Name, method, scale, err)
				}
				if err := c.Validate(); err != nil {
					t.Errorf("%s with %s at %s: %v", p.Name, method, scale, err)
				}
			}
		}
	}
}

// Every cell that the paper has of a method with a model of the world is a preset, which shows the
// paper's number.
func TestEveryCellOfAModelIsAPreset(t *testing.T) {
	cells := 0
	for _, r := range references().results {
		if !slices.Contains([]string{"mbpo", "dreamerv3", "dreamerv3-noised", "max", "max-noised"}, r.Method) || r.Independent {
			continue
		}
		cells++
		if !slices.ContainsFunc(Figures(), func(p Preset) bool {
			return p.Task == r.Task && p.Method == r.Method && p.Observation == r.Observation && slices.ContainsFunc(p.Results, r.repeats)
		}) {
			t.Errorf("%s: no preset is %s on %s from %s beside %v", r.Source, r.Method, r.Task, r.Observation, r)
		}
	}
	if cells != 2*7+2+4*3 {
		t.Errorf("%d cells", cells)
	}
}

// What a preset sets holds at any scale, even where its own scale sets the same value.
func TestPresetsHoldAtOtherScales(t *testing.T) {
	c, err := Resolve(Choice{Preset: "fig-cadence-10000", Scale: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Knobs.RefitEvery != 10_000 || c.Agent.Hidden[0] != 128 || c.Scale != "demo" || c.Task != "hopper-stand" {
		t.Errorf("refit every %d, %d wide, %s, %s", c.Knobs.RefitEvery, c.Agent.Hidden[0], c.Scale, c.Task)
	}
}

// A method of a table that has numbers of its own on the table's task is run with them, and is then
// what its own preset is; other methods, and other tasks, are not.
func TestMethodsOfATableHaveTheirOwnNumbers(t *testing.T) {
	for _, name := range []string{"walker2d", "halfcheetah", "hopper"} {
		for _, scale := range scaleNames {
			want := resolved(t, Choice{Preset: "mbpo-" + name, Scale: scale})
			for _, table := range []string{"table-2-" + name, "dreamerv3-" + name} {
				got := resolved(t, Choice{Preset: table, Method: "mbpo", Scale: scale})
				got.Preset = want.Preset
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s with mbpo at %s is not mbpo-%s", table, scale, name)
				}
			}
		}
	}
	if c := resolved(t, Choice{Preset: "table-2-halfcheetah", Method: "mbpo"}); c.Knobs.UTD != 40 {
		t.Errorf("mbpo makes %d updates", c.Knobs.UTD)
	}
	if c := resolved(t, Choice{Preset: "table-2-halfcheetah", Method: "sac"}); c.Knobs.UTD == 40 {
		t.Error("sac makes MBPO's updates")
	}
	if c := resolved(t, Choice{Preset: "table-2-hopper", Method: "mbpo", Task: "cheetah-run"}); len(c.Schedule) > 0 {
		t.Errorf("cheetah-run has Hopper's horizon: %v", c.Schedule)
	}
	for _, name := range presetNames {
		var l layer
		if err := decode("preset/"+name+".toml", read("preset/"+name+".toml"), &l); err != nil {
			t.Fatal(err)
		}
		for method, other := range l.Own {
			if p := named(t, other); p.Method != method || p.Task != first(l.Task, defaultTask) || !slices.Contains(l.Compare, method) {
				t.Errorf("%s: %s is %s on %s", name, other, p.Method, p.Task)
			}
		}
	}
}

func resolved(t *testing.T, c Choice) config.Config {
	t.Helper()
	got, err := Resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// MBPO's horizons on Hopper-v2 and HalfCheetah-v2 are those of its program, recorded from jannerm/mbpo @ac694ff,
// mbpo/algorithms/mbpo.py, with rollout_schedule [20, 150, 1, 15] and [20, 150, 1, 1]. Its epochs of 1,000 steps
// begin after the 5,000 random ones. The rows of a generation grow with the horizon, so that as many rollouts
// begin, and D_syn has room for those it retains.
func TestGoldenHorizons(t *testing.T) {
	var file struct {
		Length struct {
			Epoch   []int
			Hopper  []int `json:"hopper_20_150_1_15"`
			Cheetah []int `json:"cheetah_20_150_1_1"`
		} `json:"rollout_length"`
	}
	golden.Recorded(t, "mbpo.json", &file)
	epochs, horizons := file.Length.Epoch, file.Length.Hopper
	if len(epochs) != len(horizons) || len(epochs) != len(file.Length.Cheetah) {
		t.Fatalf("of %d epochs, %d and %d horizons are recorded", len(epochs), len(horizons), len(file.Length.Cheetah))
	}
	// length is ⌊a + (b − a)·x⌋ with x how far the epoch is from 20 to 150: the same table, between its rows.
	length := func(epoch int) int { return 1 + 14*min(max(epoch-20, 0), 130)/130 }
	for i, e := range epochs {
		if length(e) != horizons[i] {
			t.Fatalf("epoch %d: %d, recorded %d", e, length(e), horizons[i])
		}
	}
	cheetah := resolved(t, Choice{Method: "mbpo", Task: "HalfCheetah-v2", Scale: "paper"})
	if other := func(horizon int) bool { return horizon != cheetah.Knobs.Horizon }; len(cheetah.Schedule) > 0 || slices.ContainsFunc(file.Length.Cheetah, other) {
		t.Errorf("HalfCheetah-v2 has horizon %d and changes %v, recorded %v", cheetah.Knobs.Horizon, cheetah.Schedule, file.Length.Cheetah)
	}
	c := resolved(t, Choice{Preset: "mbpo-hopper"})
	at := map[int]map[string]int{} // by step
	for _, change := range c.Schedule {
		var step, value int
		when, what, _ := strings.Cut(change, ":")
		knob, to, _ := strings.Cut(what, "=")
		if _, err := fmt.Sscan(when+" "+to, &step, &value); err != nil {
			t.Fatalf("%s: %v", change, err)
		}
		if at[step] == nil {
			at[step] = map[string]int{}
		}
		at[step][knob] = value
	}
	now := map[string]int{"horizon": c.Knobs.Horizon, "samples": c.Knobs.Samples}
	rollouts, compared := now["samples"]/now["horizon"], 0
	for step := 0; step < c.Steps; step++ { // a change between epochs is a fault too
		maps.Copy(now, at[step])
		delete(at, step)
		want := length(max(0, step-c.StartSteps) / 1_000)
		if now["horizon"] != want || now["samples"] != rollouts*want {
			t.Fatalf("step %d: horizon %d, %d samples; want %d and %d", step, now["horizon"], now["samples"], want, rollouts*want)
		}
		if i := slices.Index(epochs, (step-c.StartSteps)/1_000); i > 0 && now["horizon"] == horizons[i] {
			compared++
		}
	}
	want := 0
	for _, e := range epochs[1:] {
		if c.StartSteps+(e+1)*1_000 <= c.Steps {
			want += 1_000
		}
	}
	if want == 0 || compared != want || len(at) > 0 {
		t.Errorf("%d steps are in recorded epochs; changes left: %v", compared, at)
	}
	if c.Generator.Retain*now["samples"] > c.Buffer {
		t.Errorf("%d generations of %d rows do not fit %d", c.Generator.Retain, now["samples"], c.Buffer)
	}
}

// The appendix on noise is a table of four methods, with noise and without.
func TestNoisedPresetsAreATable(t *testing.T) {
	for _, task := range []string{"cheetah", "walker", "hopper"} {
		p := named(t, "fig-noised-"+task)
		clean := map[string]string{"pgr-noised-icm": "pgr-curiosity", "dreamerv3-noised": "dreamerv3", "max-noised": "max", "mbpo-noised": "mbpo"}
		methods := append([]string{p.Method}, p.Compare...)
		if len(methods) != 2*len(clean) {
			t.Errorf("%s has %v", p.Name, methods)
		}
		for noised, without := range clean {
			if !slices.Contains(methods, noised) || !slices.Contains(methods, without) {
				t.Errorf("%s has %v, want %s and %s", p.Name, methods, noised, without)
			}
		}
		paper := 0
		for _, r := range p.Results {
			if !r.Independent && r.Method != "mbpo" {
				paper++
			}
		}
		if paper != 6 {
			t.Errorf("%s shows %d results of the paper, want 6: %v", p.Name, paper, p.Results)
		}
	}
}

// The paper's scaling keeps the number of real rows and grows the number of synthetic ones.
func TestScalingPresets(t *testing.T) {
	for name, want := range map[string]struct {
		hidden, batch, utd, delay, samples int
		ratio                              float64
		hold                               string
	}{
		"fig-scaling-base":      {2, 256, 20, 20, 1e6, 0.5, "real"},
		"fig-scaling-networks":  {3, 1024, 20, 20, 1e6, 0.5, "batch"},
		"fig-scaling-ratio-75":  {2, 256, 20, 20, 1e6, 0.75, "real"},
		"fig-scaling-ratio-875": {2, 256, 20, 20, 1e6, 0.875, "real"},
		"fig-scaling-all":       {3, 256, 40, 40, 2e6, 0.75, "real"},
	} {
		c, err := Resolve(Choice{Preset: name})
		if err != nil {
			t.Fatal(err)
		}
		k := c.Knobs
		if len(c.Agent.Hidden) != want.hidden || k.Batch != want.batch || k.UTD != want.utd || c.Agent.PolicyDelay != want.delay ||
			k.Samples != want.samples || k.Ratio != want.ratio || k.Hold != want.hold || c.Buffer < k.Samples {
			t.Errorf("%s: %+v, hidden %v, delay %d, buffer %d", name, k, c.Agent.Hidden, c.Agent.PolicyDelay, c.Buffer)
		}
	}
}

// The results shown beside a run were reported for that run.
func TestPresetsShowWhatWasReported(t *testing.T) {
	per := named(t, "fig-per")
	var methods []string
	for _, r := range per.Results {
		if !r.Independent {
			methods = append(methods, r.Method)
		}
	}
	if want := []string{"redq", "synther", "pgr-td", "pgr-curiosity", "per-td", "per-curiosity"}; !slices.Equal(methods, want) {
		t.Errorf("fig-per shows %v, want %v", methods, want)
	}
	if n := len(per.Results); n != 8 || !per.Results[n-1].Independent {
		t.Errorf("fig-per shows %d results, want two independent ones at the end of 8: %v", n, per.Results)
	}
	if p := named(t, "fig-scaling-all"); len(p.Results) > 0 {
		t.Errorf("scaling shows the results of other runs: %v", p.Results)
	}
	if p := named(t, "fig-dynamics-hopper"); len(p.Measures) != 4 || p.Measures[0].Value != 0.178 || len(p.Results) > 0 {
		t.Errorf("fig-dynamics-hopper shows %v and %v", p.Measures, p.Results)
	}
	if p := named(t, "fig-time"); len(p.Measures) != 15 {
		t.Errorf("fig-time shows %d measures, want Table 3's 15", len(p.Measures))
	}
	for name, tasks := range map[string]string{"table-1-cheetah": "cheetah-run", "table-2-hopper": "Hopper-v2", "fig-efficiency-reacher": "reacher-hard"} {
		p := named(t, name)
		paper := 0
		for _, r := range p.Results {
			if !r.Independent {
				paper++
			}
		}
		if p.Task != tasks || paper != 1+len(p.Compare) {
			t.Errorf("%s on %s shows %d results of the paper for %d methods", name, p.Task, paper, 1+len(p.Compare))
		}
	}
	if c, err := Resolve(Choice{Preset: "fig-scaling-all", Method: "redq"}); err != nil || c.Knobs.Ratio != 0 || c.Knobs.UTD != 40 {
		t.Errorf("fig-scaling-all with redq: %+v, %v", c.Knobs, err)
	}
	if p := named(t, "fig-bonus"); len(p.Results) != 9+2 {
		t.Errorf("fig-bonus shows %d results, want 9 of the paper and 2 independent ones", len(p.Results))
	}
}
