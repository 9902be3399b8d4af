package generative

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/replay"
	"pgrlab/core/testing/cputest"
)

// Min-max generators stay within the real range, even if they have learned nothing; standard ones
// need not. Terminals are 0 or 1.
func TestSamplesPerNormaliserAndArchitecture(t *testing.T) {
	rows, scores := randomRows(40)
	for i := range rows {
		rows[i][2] = float32(math.Tanh(float64(rows[i][2]))) // the action
	}
	for _, architecture := range []string{ArchitecturePGR, ArchitectureSynthER} {
		for _, normaliser := range []string{NormaliserMinMax, NormaliserStandard} {
			for _, conditional := range []bool{true, false} {
				t.Run(fmt.Sprint(architecture, " ", normaliser, " conditional ", conditional), func(t *testing.T) {
					c := tiny()
					c.Architecture, c.Normaliser, c.Conditional, c.ModelTerminals = architecture, normaliser, conditional, conditional
					d := newDiffusion(t, c, tinyShape)
					relevance := scores
					if !conditional {
						relevance = nil
					}
					startFit(t, d, rows, relevance, tinyFit, 1)
					finishFit(t, d, 20)
					knobs := tinyGenerate
					knobs.Samples = 200
					checkSamples(t, d, rows, generateAll(t, d, knobs, 1))
				})
			}
		}
	}
}

func checkSamples(t *testing.T, d *Diffusion, rows table, samples []float32) {
	t.Helper()
	width, outside, terminals := tinyShape.Width(), 0, 0
	if len(samples) != 200*width {
		t.Fatalf("%d numbers, want 200 transitions of %d", len(samples), width)
	}
	for k := range width - 1 {
		low, high := float32(math.Inf(1)), float32(math.Inf(-1))
		for _, row := range rows {
			low, high = min(low, row[k]), max(high, row[k])
		}
		for i := range 200 {
			if v := samples[i*width+k]; v < low-1e-4 || v > high+1e-4 {
				outside++
			}
		}
	}
	for i := range 200 {
		switch samples[(i+1)*width-1] {
		case 0:
		case 1:
			terminals++
		default:
			t.Errorf("terminal flag is %v", samples[(i+1)*width-1])
		}
	}
	if clamps := d.config.Normaliser == NormaliserMinMax; clamps != (outside == 0) {
		t.Errorf("%d numbers outside the real range with normaliser %s", outside, d.config.Normaliser)
	}
	if d.config.ModelTerminals != (terminals > 0) {
		t.Errorf("%d of 200 transitions are terminal, modelled: %v", terminals, d.config.ModelTerminals)
	}
}

// A conditional network that is fitted without scores generates unconditionally, whatever the
// guidance. Fitted with scores, it depends on guidance and prompts.
func TestKnobsOfAGenerationMatter(t *testing.T) {
	rows, scores := randomRows(40)
	for name, relevance := range map[string][]float32{"with scores": scores, "without scores": nil} {
		d := newDiffusion(t, tiny(), tinyShape)
		startFit(t, d, rows, relevance, tinyFit, 1)
		finishFit(t, d, 20)
		base := generateAll(t, d, tinyGenerate, 1)
		for what, turn := range map[string]func(*GenKnobs){
			"guidance":     func(k *GenKnobs) { k.Guidance = 1 },
			"top fraction": func(k *GenKnobs) { k.TopFraction = 1 },
		} {
			knobs := tinyGenerate
			turn(&knobs)
			if same := slices.Equal(base, generateAll(t, d, knobs, 1)); same != (relevance == nil) {
				t.Errorf("%s: turning the %s changes nothing: %v", name, what, same)
			}
		}
	}
}

// If all scores are negative, the padding of the released range affects the scale only: prompts are
// conditions of real transitions.
func TestPromptsOfNegativeScores(t *testing.T) {
	c, err := conditions([]float32{-3, -1, -2, -4}, ConditionPadded)
	if err != nil {
		t.Fatal(err)
	}
	top := prompts(c, 0.5)
	if want := []float32{c[2], c[1]}; !slices.Equal(top, want) || top[1] >= 1 {
		t.Errorf("prompts are %v, want the conditions %v of −2 and −1", top, want)
	}
}

// The number of workers changes no bit of a fit or of its samples.
func TestWorkersDoNotChangeSamples(t *testing.T) {
	rows, scores := randomRows(200)
	var samples [2][]float32
	for i := range samples {
		c := learner(NormaliserMinMax)
		c.Chunk = 128
		d, err := New(c, tinyShape, cputest.New(t, cpu.Options{Threads: i + 1}), 11)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		startFit(t, d, rows, scores, tinyFit, 1)
		finishFit(t, d, 20)
		samples[i] = generateAll(t, d, GenKnobs{Samples: 128, Steps: 4, Guidance: 2, TopFraction: 0.25, SChurn: 2}, 1)
	}
	if !slices.Equal(samples[0], samples[1]) {
		t.Error("two workers give other samples than one")
	}
}

// A steady fit allocates nothing, and neither does a chunk of a generation.
func TestSlicesDoNotAllocate(t *testing.T) {
	rows, scores := randomRows(40)
	d := newDiffusion(t, tiny(), tinyShape)
	startFit(t, d, rows, scores, FitKnobs{Steps: 1000, LR: 1e-4, PUncond: 0.25}, 1)
	if n := testing.AllocsPerRun(50, func() {
		if _, _, err := d.FitSteps(1); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
	finishFit(t, d, 1000)
	if err := d.StartGenerate(GenKnobs{Samples: 8, Steps: 100, Guidance: 2, TopFraction: 1, SChurn: 80}, 1); err != nil {
		t.Fatal(err)
	}
	// The first level compiles the programs of predictor and corrector.
	for range 2 {
		if _, _, _, err := d.GenerateSlice(); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(50, func() {
		if _, _, _, err := d.GenerateSlice(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a network call", n)
	}
}

// Progress counts network calls over all chunks, including the last one, which needs only a part of
// its rows.
func TestProgressOfAGeneration(t *testing.T) {
	rows, scores := randomRows(40)
	d := newDiffusion(t, tiny(), tinyShape)
	startFit(t, d, rows, scores, tinyFit, 1)
	finishFit(t, d, 20)
	if err := d.StartGenerate(tinyGenerate, 1); err != nil {
		t.Fatal(err)
	}
	counts := []int{}
	for call := 1; ; call++ {
		made, done, total, err := d.GenerateSlice()
		if err != nil {
			t.Fatal(err)
		}
		// 20 samples take chunks of 8, and 4 levels cost 7 calls each.
		if done != call || total != 21 {
			t.Fatalf("call %d reports %d of %d, want %d of 21", call, done, total, call)
		}
		if len(made) > 0 {
			counts = append(counts, len(made)/tinyShape.Width())
		}
		if done == total {
			break
		}
	}
	if !slices.Equal(counts, []int{8, 8, 4}) {
		t.Errorf("chunks of %v transitions, want 8 8 4", counts)
	}
	if d.generation != nil {
		t.Error("the generation is under way after its end")
	}
}

// The real replay buffer implements Rows, in the column order of the vectors.
func TestFitsToARing(t *testing.T) {
	rows, scores := randomRows(40)
	ring := replay.NewRing(tinyShape, 64)
	for _, row := range rows {
		ring.Add(replay.Transition{Obs: row[:2], Act: row[2:3], Reward: row[3], Next: row[4:6], Done: row[6] > 0.5})
	}
	var samples [2][]float32
	for i, real := range []Rows{rows, ring} {
		c := tiny()
		c.ModelTerminals = true
		d := newDiffusion(t, c, tinyShape)
		startFit(t, d, real, scores, tinyFit, 1)
		finishFit(t, d, 20)
		samples[i] = generateAll(t, d, tinyGenerate, 1)
	}
	if !slices.Equal(samples[0], samples[1]) {
		t.Error("a ring of the same transitions fits otherwise")
	}
}

// Scores as small as those of episodic curiosity, of either sign, become conditions from −1 to 1.
// The largest of these are the prompts, and convert back to the scores.
func TestPromptsOfSmallScoresOfEitherSign(t *testing.T) {
	scores := []float32{0.002, -0.015, -0.005, 0.015}
	for _, conditionRange := range []string{ConditionFilled, ConditionPadded, ConditionScaled} {
		c, err := conditions(scores, conditionRange)
		if err != nil {
			t.Fatal(err)
		}
		low, high, _ := extremes(scores, conditionRange)
		s := serving{conditions: c, low: low, high: high}
		top := prompts(c, 0.5)
		if len(top) != 2 || top[0] != c[0] || top[1] != c[3] || c[1] != -1 || !(math.Abs(float64(c[3])-1) <= 1e-3) {
			t.Errorf("%s: conditions %v, prompts %v", conditionRange, c, top)
		}
		for i, f := range scores {
			if !(math.Abs(float64(s.score(c[i], conditionRange)-f)) <= 1e-8) {
				t.Errorf("%s: condition %v stands for F %v, want %v", conditionRange, c[i], s.score(c[i], conditionRange), f)
			}
		}
	}
}
