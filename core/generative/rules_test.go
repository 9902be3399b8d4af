package generative

import (
	"math"
	"testing"
)

// directed makes rows whose s and s' are directions: s turns a little.
func directed(n int) (rows table, scores []float32) {
	rows, scores = randomRows(n)
	for i, row := range rows {
		angle := 2 * math.Pi * float64(i) / float64(n)
		for k, at := range []int{0, 4} {
			sin, cos := math.Sincos(angle + 0.1*float64(k))
			row[at], row[at+1] = float32(cos), float32(sin)
		}
	}
	return rows, scores
}

func norm(row []float32, at int) float64 { return math.Hypot(float64(row[at]), float64(row[at+1])) }

// A direction of s and of s' has norm 1, unless angles are raw or the generator models whole transitions.
func TestDirectionsStayDirections(t *testing.T) {
	rows, scores := directed(60)
	knobs := tinyGenerate
	knobs.Samples = 2*headRows + 44
	for name, c := range map[string]struct {
		change func(*Config)
		kept   bool
	}{
		"phase": {func(*Config) {}, true},
		"raw":   {func(c *Config) { c.Angles = AnglesRaw }, false},
		"whole": {func(c *Config) { c.Vector = VectorTransition }, false},
	} {
		config := phasedConfig()
		c.change(&config)
		made, err := New(config, tinyShape, newDevice(t), 11)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { made.Close() })
		d, err := WithHeads(made, tinyHead, Deps{Config: config, Shape: tinyShape, Directions: [][2]int{{0, 1}}, Device: newDevice(t), Seed: 11})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.closeHeads)
		startFit(t, d, rows, scores, tinyFit, 1)
		finishFit(t, d, 3)
		all, off := generateAll(t, d, knobs, 1), 0
		for row := all; len(row) > 0; row = row[tinyShape.Width():] {
			if !(math.Abs(norm(row, 0)-1) <= 1e-6) || !(math.Abs(norm(row, 4)-1) <= 1e-6) {
				off++
			}
		}
		if kept := off == 0; kept != c.kept {
			t.Errorf("%s: %d of %d rows are off their circle", name, off, knobs.Samples)
		}
	}
	straight := []float32{3, 4, 0, 0, 7}
	rules{directions: [][2]int{{0, 1}, {2, 3}}}.straighten(straight)
	for i, want := range []float32{0.6, 0.8, 0, 0, 7} {
		if !(math.Abs(float64(straight[i]-want)) <= 1e-6) {
			t.Errorf("straightened %v", straight)
		}
	}
}

// Where a task says which transitions end an episode, generated ones end by that rule of their own s, a
// and s'; a raw flag is what the head predicts.
func TestEndsFollowTheTask(t *testing.T) {
	rows, scores := directed(60)
	ends := func(obs, act, next []float32) bool { return obs[0]+act[0]+next[1] > 0.3 }
	for i, row := range rows {
		row[6] = float32(i % 2) // what heads would learn is not the rule
	}
	for terminals, follows := range map[string]bool{"": true, TerminalsRaw: false} {
		config := tiny()
		config.ModelTerminals, config.Terminals, config.Vector = true, terminals, VectorPair
		made, err := New(config, tinyShape, newDevice(t), 11)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { made.Close() })
		d, err := WithHeads(made, tinyHead, Deps{Config: config, Shape: tinyShape, Ends: ends, Device: newDevice(t), Seed: 11})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.closeHeads)
		startFit(t, d, rows, scores, tinyFit, 1)
		finishFit(t, d, 3)
		byRule, other := 0, 0
		for row := generateAll(t, d, tinyGenerate, 1); len(row) > 0; row = row[tinyShape.Width():] {
			want := float32(0)
			if ends(row[:2], row[2:3], row[4:6]) {
				want, byRule = 1, byRule+1
			}
			if row[6] != want {
				other++
			}
		}
		if obeyed := other == 0; obeyed != follows || follows && (byRule == 0 || byRule == tinyGenerate.Samples) {
			t.Errorf("terminals %q: %d rows end otherwise, %d of %d by the rule", terminals, other, byRule, tinyGenerate.Samples)
		}
	}
}
