package generative

import (
	"fmt"
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9g, want %.9g ± %g", what, got, want, tolerance)
	}
}

// The settings are those of the released sampler, N = 128 and S_churn = 80; the levels are computed
// by hand from equation 5.
func TestNoiseLevels(t *testing.T) {
	c := Default()
	levels := noiseLevels(c, 128)
	if len(levels) != 129 {
		t.Fatalf("%d levels, want 128 and a final zero", len(levels))
	}
	near(t, "first level", levels[0], 80, 1e-12*80)
	near(t, "last level", levels[127], 0.002, 1e-12)
	near(t, "final level", levels[128], 0, 0)
	high, low := math.Pow(80, 1.0/7), math.Pow(0.002, 1.0/7)
	near(t, "level 64", levels[64], math.Pow(high+64.0/127*(low-high), 7), 1e-12)
	churned := 0
	for i := range 128 {
		if levels[i+1] >= levels[i] {
			t.Errorf("level %d is %g, level %d %g: not falling", i, levels[i], i+1, levels[i+1])
		}
		gamma := churn(c, levels[i], 80, 128)
		if gamma == 0 {
			continue
		}
		churned++
		near(t, "γ", gamma, 0.41421356, 1e-8)
	}
	if churned != 96 {
		t.Errorf("%d of 128 levels are churned, want 96", churned)
	}
	near(t, "γ at 18 steps with churn 1.8", churn(c, 1, 1.8, 18), 0.1, 1e-15)
	near(t, "γ above S_tmax", churn(c, 50.1, 80, 128), 0, 0)
	near(t, "γ below S_tmin", churn(c, 0.049, 80, 128), 0, 0)
	near(t, "γ without churn", churn(c, 1, 0, 32), 0, 0)
}

func TestPrecondition(t *testing.T) {
	skip, out, in := precondition(1, 1)
	near(t, "c_skip(1)", skip, 0.5, 1e-15)
	near(t, "c_out(1)", out, math.Sqrt(0.5), 1e-15)
	near(t, "c_in(1)", in, math.Sqrt(0.5), 1e-15)
	near(t, "c_noise(1)", noiseInput(1), 0, 0)
	skip, out, in = precondition(3, 0.5)
	near(t, "c_skip(3)", skip, 0.25/9.25, 1e-15)
	near(t, "c_out(3)", out, 1.5/math.Sqrt(9.25), 1e-15)
	near(t, "c_in(3)", in, 1/math.Sqrt(9.25), 1e-15)
	near(t, "c_noise(3)", noiseInput(3), math.Log(3)/4, 1e-15)
	// λ = (σ²+σ_d²)/(σσ_d)² is 1/c_out².
	near(t, "λ·c_out²", (9+0.25)/(1.5*1.5)*out*out, 1, 1e-15)
}

func TestCosineEndsAtZero(t *testing.T) {
	near(t, "first rate", cosine(3e-4, 0, 1000), 3e-4, 0)
	near(t, "middle rate", cosine(3e-4, 500, 1000), 1.5e-4, 1e-18)
	near(t, "quarter rate", cosine(3e-4, 250, 1000), 3e-4*(2+math.Sqrt2)/4, 1e-18)
	near(t, "last rate", cosine(3e-4, 999, 1000), 3e-4/2*(1-math.Cos(math.Pi/1000)), 1e-18)
}

// The values are those of ema_pytorch's warm-up at its own step counter.
func TestAverageWarmUp(t *testing.T) {
	c := Default()
	for _, want := range []struct {
		step      int
		decay     float64
		tolerance float64
	}{
		{1, 0, 0}, {91, 0, 0}, {101, 0, 0}, {111, 0, 0},
		{121, 1 - math.Pow(21, -2.0/3), 1e-15},
		{200, 0.954, 5e-4}, {1000, 0.989, 5e-4},
		{2900, 1 - math.Pow(2800, -2.0/3), 1e-15},
		{2931, 0.995, 0}, {100_000, 0.995, 0},
	} {
		near(t, "decay", emaDecay(c, want.step), want.decay, want.tolerance)
	}
	due := []int{}
	for step := 1; step <= 31; step++ {
		if emaDue(c, step) {
			due = append(due, step)
		}
	}
	if len(due) != 4 || due[0] != 1 || due[1] != 11 || due[3] != 31 {
		t.Errorf("averages after steps %v, want 1 11 21 31", due)
	}
}

func TestConditions(t *testing.T) {
	scores := []float32{1, 3, 2, 5}
	padded, err := conditions(scores, ConditionPadded)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range []float64{1, 3, 2, 5} {
		near(t, "padded condition", float64(padded[i]), 2*f/(5+1e-5)-1, 1e-6)
	}
	filled, err := conditions(scores, ConditionFilled)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range []float64{1, 3, 2, 5} {
		near(t, "filled condition", float64(filled[i]), 2*(f-1)/(4+1e-5)-1, 1e-6)
	}
	negative, err := conditions([]float32{-4, -1}, ConditionPadded)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "condition of a negative score", float64(negative[0]), -1, 1e-6)
	near(t, "condition of −1 beside padding", float64(negative[1]), 2*3/(4+1e-5)-1, 1e-6)
	constant, err := conditions([]float32{7, 7}, ConditionFilled)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "condition of constant scores", float64(constant[1]), -1, 0)
	for _, scale := range []float64{1e6, 1, 1e-4, 1e-5, 1e-6, 1e-12, 1e-30} {
		scores := []float32{0, float32(scale) / 2, float32(scale)}
		c, err := conditions(scores, ConditionScaled)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{-1, 0, 1} {
			near(t, fmt.Sprintf("condition %d of scores up to %g", i, scale), float64(c[i]), want, 1e-4)
		}
	}
	// The released formula has an absolute slack.
	for _, released := range []string{ConditionPadded, ConditionFilled} {
		small, err := conditions([]float32{0, 1e-5}, released)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "condition of 1e-5 beside the released slack", float64(small[1]), 0, 1e-6)
	}
	// A constant F, also one with an error in its last place, has no conditions that fill the range.
	for _, f := range []float32{0, 7, -7, 3e-9, 1e9} {
		c, err := conditions([]float32{f, f, math.Nextafter32(f, float32(math.Inf(1)))}, ConditionScaled)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("condition of a constant %g", f), float64(c[0]), -1, 0)
		if !(c[2] >= -1 && c[2] < 0) {
			t.Errorf("a constant %g with a rounding error has condition %g", f, c[2])
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := conditions([]float32{1, float32(bad)}, ConditionFilled); err == nil {
			t.Errorf("a score of %g passes", bad)
		}
	}
}

func TestPromptsAreTheTopShare(t *testing.T) {
	c := []float32{-0.5, 0.9, -1, 0.1, 0.2, -0.9, 0.3, 0.4, -0.2, 0.8}
	for _, want := range []struct {
		fraction float64
		k        int
		least    float32
	}{{0.25, 2, 0.8}, {0.1, 1, 0.9}, {0.05, 1, 0.9}, {0.59, 5, 0.2}, {1, 10, -1}} {
		got := prompts(c, want.fraction)
		if len(got) != want.k || got[0] != want.least {
			t.Errorf("prompts of share %g are %v, want %d of at least %g", want.fraction, got, want.k, want.least)
		}
	}
	if c[0] != -0.5 || c[9] != 0.8 {
		t.Error("prompts reordered the conditions")
	}
}

func TestKnobsAndConfigAreChecked(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Errorf("default configuration: %v", err)
	}
	for name, spoil := range map[string]func(*Config){
		"architecture": func(c *Config) { c.Architecture = "unet" },
		"activation":   func(c *Config) { c.Activation = "gelu" },
		"odd width":    func(c *Config) { c.Width = 33 },
		"skip reward":  func(c *Config) { c.SkipReward = true },
		"sigma":        func(c *Config) { c.SigmaMin = 80 },
		"batch":        func(c *Config) { c.Batch = 0 },
		"chunk":        func(c *Config) { c.Chunk = 0 },
		"nan":          func(c *Config) { c.Rho = math.NaN() },
		"corrector":    func(c *Config) { c.Corrector = "" },
	} {
		c := Default()
		spoil(&c)
		if c.Validate() == nil {
			t.Errorf("%s: a spoiled configuration passes", name)
		}
	}
	for _, k := range []FitKnobs{{0, 1e-3, 0}, {1, 0, 0}, {1, 1e-3, 1.1}, {1, math.NaN(), 0}} {
		if k.validate() == nil {
			t.Errorf("fit knobs %v pass", k)
		}
	}
	for _, k := range []GenKnobs{{0, 2, 1, 1, 0, 1}, {1, 1, 1, 1, 0, 1}, {1, 2, -1, 1, 0, 1}, {1, 2, 1, 0, 0, 1}, {1, 2, 1, 1, math.NaN(), 1}, {1, 2, 1, 1, 0, -1}} {
		if k.validate() == nil {
			t.Errorf("generation knobs %v pass", k)
		}
	}
}
