package generative

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/replay"
	"pgrlab/core/testing/allocs"
)

// leaning acts by the observation, and by noise that belongs to occasion and row; where it has no
// answer, the action is not a number.
type leaning struct{ none func(obs []float32) bool }

func (l leaning) Sample(dst, obs []float32, rows int, occasion uint64) error {
	for i := range rows {
		dst[i] = float32(math.Tanh(float64(obs[2*i]) + float64((occasion+uint64(i))%7)/7))
		if l.none != nil && l.none(obs[2*i:2*i+2]) {
			dst[i] = float32(math.NaN())
		}
	}
	return nil
}

func tinyEnsemble() EnsembleConfig {
	return EnsembleConfig{Members: 3, Elites: 2, Width: 8, Layers: 2, Patience: 3, Target: TargetDelta, TargetScale: ScaleRaw}
}

func ensembleOn(t testing.TB, dev device.Device, change func(*Deps, *EnsembleConfig)) *Ensemble {
	t.Helper()
	own := tinyEnsemble()
	d := Deps{Config: tiny(), Shape: tinyShape, Device: dev, Seed: 11, Policy: leaning{}}
	d.Config.Init = InitPrevious
	change(&d, &own)
	d.Settings = own
	e, err := NewEnsemble(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func newTinyEnsemble(t testing.TB, change func(*Deps, *EnsembleConfig)) *Ensemble {
	return ensembleOn(t, newDevice(t), change)
}

// rowsOf are the transitions of a generation.
func rowsOf(all []float32) [][]float32 { return slices.Collect(slices.Chunk(all, tinyShape.Width())) }

func asIs(*Deps, *EnsembleConfig) {}

var rollingKnobs = GenKnobs{Samples: 20, Steps: 2, TopFraction: 0.25, Horizon: 3}

// Rollouts begin in real states, go on where the step before has ended, act by the policy, and end
// where the task's rule says so; only their last transition is terminal.
func TestRolloutsFollowTheirRules(t *testing.T) {
	rows, _ := randomRows(40)
	ends := func(s, a, next []float32) bool { return next[0] > 0.5 }
	e := newTinyEnsemble(t, func(d *Deps, _ *EnsembleConfig) { d.Ends, d.Config.Chunk = ends, 1000 })
	startFit(t, e, rows, nil, tinyFit, 1)
	finishFit(t, e, 7)
	made := rowsOf(generateAll(t, e, rollingKnobs, 1))
	states := map[[2]float32]bool{}
	for _, row := range rows {
		states[[2]float32(row[:2])] = true
	}
	begun, ended, went := 0, 0, map[[2]float32]int{}
	for _, row := range made {
		if at := [2]float32(row[:2]); states[at] {
			begun++
		} else if went[at]--; went[at] < 0 {
			t.Fatalf("%v follows no step", row)
		}
		if terminal := row[6] == 1; terminal != ends(row[:2], row[2:3], row[4:6]) {
			t.Errorf("%v: by the rule terminal is %v", row, !terminal)
		} else if terminal {
			ended++
		} else {
			went[[2]float32(row[4:6])]++
		}
		if !(math.Abs(float64(row[2])-math.Tanh(float64(row[0]))) <= 0.8) {
			t.Errorf("%v: the action is not the policy's", row)
		}
	}
	if n := e.Rolled(); n != (Rollouts{Horizon: 3, Begun: int64(begun), Rows: int64(len(made)), Ended: int64(ended)}) {
		t.Errorf("counted are %+v", n)
	}
	if begun != 7 || ended == 0 || len(made) > rollingKnobs.Samples || len(made) <= begun {
		t.Errorf("%d rollouts, %d ended, %d transitions", begun, ended, len(made))
	}
	if whole := generateAll(t, newFitted(t, e, rows), rollingKnobs, 1); len(whole) != 20*tinyShape.Width() {
		t.Errorf("%d numbers of rollouts that never end, want %d", len(whole), 20*tinyShape.Width())
	}
}

// newFitted has learned what e has, and has no ends.
func newFitted(t *testing.T, e *Ensemble, rows Rows) *Ensemble {
	t.Helper()
	var file bytes.Buffer
	if err := e.Save(&file); err != nil {
		t.Fatal(err)
	}
	other := newTinyEnsemble(t, func(d *Deps, _ *EnsembleConfig) { d.Config.Chunk = 1000 })
	if err := other.Load(&file, rows); err != nil {
		t.Fatal(err)
	}
	return other
}

// With scores, rollouts begin in the most relevant share of the real transitions, and PromptScores
// says which.
func TestRolloutsBeginWhereFIsHigh(t *testing.T) {
	rows, scores := randomRows(40)
	e := newTinyEnsemble(t, asIs)
	startFit(t, e, rows, scores, tinyFit, 1)
	finishFit(t, e, 7)
	knobs := rollingKnobs
	knobs.Horizon = 1
	asked := e.PromptScores(knobs, 4, 20)
	made := rowsOf(generateAll(t, e, knobs, 4))
	top := slices.Sorted(slices.Values(scores))[30] // the 10 largest of 40
	of := map[[2]float32]float32{}
	for i, row := range rows {
		of[[2]float32(row[:2])] = scores[i]
	}
	for i, row := range made {
		score, is := of[[2]float32(row[:2])]
		if !is || score < top || score != asked[i] {
			t.Errorf("rollout %d begins at F = %v, said %v, the least is %v", i, score, asked[i], top)
		}
	}
	if starts := e.StartScores(knobs, 4, 20); !slices.Equal(starts, asked) {
		t.Errorf("rollouts of one step begin at F = %v, said %v", asked, starts)
	}
	if other := e.PromptScores(knobs, 5, 20); slices.Equal(other, asked) {
		t.Error("every generation begins in the same states")
	}
	startFit(t, e, rows, nil, tinyFit, 2)
	finishFit(t, e, 7)
	if e.PromptScores(knobs, 4, 20) != nil {
		t.Error("a fit without scores has prompts")
	}
}

// A generation without a fit begins no rollout in a state that was overwritten since: its F is that of another
// transition. The saved ensemble goes on likewise.
func TestRolloutsBeginWhereFIsKnown(t *testing.T) {
	rows, scores := randomRows(40)
	ring := replay.NewRing(tinyShape, 40)
	for _, row := range rows {
		ring.AddRows(row)
	}
	e := newTinyEnsemble(t, asIs)
	startFit(t, e, ring, scores, tinyFit, 1)
	finishFit(t, e, 7)
	later, _ := randomRows(50)
	for _, row := range later[40:] { // over the first ten
		ring.AddRows(row)
	}
	knobs := rollingKnobs
	knobs.Horizon = 1
	var saved bytes.Buffer
	made := generateAll(t, e, knobs, 4)
	known := slices.Sorted(slices.Values(scores[10:]))
	top := known[len(known)-7] // a quarter of the thirty that are left
	for i, row := range rowsOf(made) {
		at := slices.IndexFunc(rows, func(r []float32) bool { return slices.Equal(r[:2], row[:2]) })
		if at < 10 || scores[at] < top {
			t.Errorf("rollout %d begins in row %d", i, at)
		}
	}
	if err := e.Save(&saved); err != nil {
		t.Fatal(err)
	}
	asked := e.PromptScores(knobs, 4, 20)
	o := newTinyEnsemble(t, asIs)
	if err := o.Load(&saved, ring); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.PromptScores(knobs, 4, 20), asked) || !slices.Equal(generateAll(t, o, knobs, 5), generateAll(t, e, knobs, 5)) {
		t.Error("a loaded one begins elsewhere")
	}
}

// A transition that is not finite is dropped and counted, and its rollout ends; the others stay what
// they are.
func TestWhatIsNotFiniteIsDropped(t *testing.T) {
	rows, _ := randomRows(40)
	none := func(obs []float32) bool { return obs[1] > 0.3 }
	e := newTinyEnsemble(t, asIs)
	bad := newTinyEnsemble(t, func(d *Deps, _ *EnsembleConfig) { d.Policy = leaning{none} })
	var all [2][][]float32
	for i, e := range []*Ensemble{e, bad} {
		startFit(t, e, rows, nil, tinyFit, 1)
		finishFit(t, e, 7)
		knobs := rollingKnobs
		knobs.Horizon, knobs.Samples = 1, 8 // one piece
		all[i] = rowsOf(generateAll(t, e, knobs, 1))
	}
	all[0] = slices.DeleteFunc(all[0], func(row []float32) bool { return none(row[:2]) })
	if n := bad.Rolled(); n.Dropped != int64(8-len(all[1])) || n.Rows != int64(len(all[1])) {
		t.Errorf("counted are %+v", n)
	}
	if len(all[1]) == 0 || len(all[1]) == 8 || !slices.EqualFunc(all[0], all[1], slices.Equal) {
		t.Errorf("left are %v, want %v", all[1], all[0])
	}
}

// The target that is predicted changes what is learned, and never what a transition means: s' stays
// near s where it is.
func TestTargetsOfAnEnsemble(t *testing.T) {
	rows, _ := randomRows(300)
	for _, row := range rows { // s' = s + (0.1, a/10), far away from 0
		row[0], row[1] = row[0]+5, row[1]-5
		row[3], row[4], row[5] = row[0], row[0]+0.1, row[1]+row[2]/10
	}
	for _, target := range []string{TargetDelta, TargetNext} {
		for _, scale := range []string{ScaleRaw, ScaleEach} {
			e := newTinyEnsemble(t, func(d *Deps, own *EnsembleConfig) {
				own.Width, own.Patience, own.Target, own.TargetScale = 32, 20, target, scale
			})
			startFit(t, e, rows, nil, FitKnobs{Steps: 800, LR: 3e-3}, 1)
			finishFit(t, e, 800)
			miss, made := [2]float64{}, rowsOf(generateAll(t, e, GenKnobs{Samples: 200, Steps: 2, TopFraction: 1}, 1))
			for _, row := range made {
				miss[0] += math.Abs(float64(row[4]-row[0])-0.1) / 200
				miss[1] += math.Abs(float64(row[3]-row[0])) / 200
			}
			next, reward := make([]float32, 200*2), make([]float32, 200)
			var obs, act []float32
			for _, row := range made {
				obs, act = append(obs, row[:2]...), append(act, row[2])
			}
			if err := e.Foresee(next, reward, obs, act, 200); err != nil {
				t.Fatal(err)
			}
			mean := [2]float64{} // the same without the noise of the networks
			for i := range made {
				mean[0] += math.Abs(float64(next[2*i]-obs[2*i])-0.1) / 200
				mean[1] += math.Abs(float64(reward[i]-obs[2*i])) / 200
			}
			t.Logf("%s, %s: error of s' %.3f, of r %.3f; of their means %.3f", target, scale, miss[0], miss[1], mean)
			if mean[0] > 0.15 || mean[1] > 0.15 {
				t.Errorf("%s, %s: error of the mean of s' and r %.3f", target, scale, mean)
			}
			if miss[0] > 0.2 || miss[1] > 0.2 {
				t.Errorf("%s, %s: error of s' %.3f, of r %.3f", target, scale, miss[0], miss[1])
			}
		}
	}
}

// What does not fit is refused.
func TestEnsembleMisuse(t *testing.T) {
	rows, scores := randomRows(40)
	e := newTinyEnsemble(t, func(d *Deps, _ *EnsembleConfig) { d.Policy = nil })
	if err := e.StartFit(rows, scores[1:], tinyFit, 1); err == nil {
		t.Error("fewer scores than transitions")
	}
	startFit(t, e, rows, nil, tinyFit, 1)
	if err := e.StartFit(rows, nil, tinyFit, 2); err == nil {
		t.Error("two fits at once")
	}
	finishFit(t, e, 7)
	if err := e.StartGenerate(rollingKnobs, 1); err == nil || !strings.Contains(err.Error(), "no policy") {
		t.Errorf("rollouts without a policy: %v", err)
	}
	for want, change := range map[string]func(*EnsembleConfig){
		`ensemble.target is "x"`:            func(c *EnsembleConfig) { c.Target = "x" },
		`ensemble.target_scale is ""`:       func(c *EnsembleConfig) { c.TargetScale = "" },
		"ensemble.members is 128":           func(c *EnsembleConfig) { c.Members = 128 },
		"elites is 4, more than members, 3": func(c *EnsembleConfig) { c.Elites = 4 },
		"layers is 0":                       func(c *EnsembleConfig) { c.Layers = 0 },
	} {
		c := tinyEnsemble()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The networks that are rolled out predict standardised changes of the state, without the reward; other
// targets are refused.
func TestModelsPredictChangesOfTheState(t *testing.T) {
	kind, err := Find("ensemble")
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := randomRows(40)
	e := newTinyEnsemble(t, func(_ *Deps, own *EnsembleConfig) { own.TargetScale = ScaleEach })
	m, err := kind.Models(e.own, e)
	if err != nil || m.Fitted() || m.Members() != 2 {
		t.Fatalf("%+v, %v before a fit", m, err)
	}
	startFit(t, e, rows, nil, tinyFit, 1)
	finishFit(t, e, 7)
	obs, act := []float32{0.1, -0.4, 0.3, 0.2, 0, 1}, []float32{0.5, -0.5, 0}
	means, variances := make([]float32, 2*3*2), make([]float32, 2*3*2)
	if err := m.Predict(means, variances, obs, act, 3); err != nil || !m.Fitted() {
		t.Fatal(err)
	}
	mean := make([]float32, 3*3) // of [r, s'−s]
	for i, got := range means {
		elite, row, j := i/6, i%6/2, i%2
		out := make([]float32, 3)
		in := []float32{obs[2*row], obs[2*row+1], act[row]}
		if err := e.model.Sample(out, in, make([]float32, 3), []int8{int8(elite)}); err != nil {
			t.Fatal(err)
		}
		for k := range out {
			mean[3*row+k] += out[k] / 4 // of two elites, met twice each
		}
		s := e.model.Serving().Outcomes
		if want := (float64(out[1+j]) - s.Mean[1+j]) / s.Deviation[1+j]; !(math.Abs(float64(got)-want) <= 1e-4) || !(variances[i] > 0) {
			t.Errorf("elite %d, row %d, number %d: %v with variance %v, want %v", elite, row, j, got, variances[i], want)
		}
	}
	next, reward := slices.Clone(obs), make([]float32, 3)
	if err := e.Foresee(next, reward, next, act, 3); err != nil {
		t.Fatal(err)
	}
	for i, v := range next {
		row, j := i/2, i%2
		if want := obs[i] + mean[3*row+1+j]; !(math.Abs(float64(v-want)) <= 1e-5) || !(math.Abs(float64(reward[row]-mean[3*row])) <= 1e-5) {
			t.Errorf("row %d: the elites foresee %v and reward %v, want %v and %v", row, v, reward[row], want, mean[3*row])
		}
	}
	for _, change := range []func(*EnsembleConfig){func(c *EnsembleConfig) { c.Target = TargetNext }, func(c *EnsembleConfig) { c.TargetScale = ScaleRaw }} {
		own := e.own
		change(&own)
		if _, err := kind.Models(own, nil); err == nil || !strings.Contains(err.Error(), `want "delta" and "each"`) {
			t.Errorf("%+v: %v", own, err)
		}
	}
}

// resting acts without memory of its own.
type resting struct{}

func (resting) Sample(dst, _ []float32, _ int, _ uint64) error { clear(dst); return nil }

// Rollouts allocate nothing but what a generation begins with.
func TestRolloutsAllocateNothing(t *testing.T) {
	rows, _ := randomRows(40)
	e := newTinyEnsemble(t, func(d *Deps, _ *EnsembleConfig) { d.Policy, d.Config.Chunk = resting{}, 30 })
	startFit(t, e, rows, nil, tinyFit, 1)
	finishFit(t, e, 7)
	knobs := rollingKnobs
	knobs.Samples = 30 * 1000
	if err := e.StartGenerate(knobs, 1); err != nil {
		t.Fatal(err)
	}
	if n := allocs.Least(5, func() {
		if _, _, _, err := e.GenerateSlice(); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("a piece allocates %v times", n)
	}
}

// What was asked for stands beside the rows of the rollouts that were to have it, in pieces and steps.
func TestPromptsAreThoseOfTheirRows(t *testing.T) {
	rows, scores := randomRows(40)
	e := newTinyEnsemble(t, func(d *Deps, _ *EnsembleConfig) { d.Ends, d.Config.Chunk = nil, 6 }) // two rollouts a piece
	startFit(t, e, rows, scores, tinyFit, 1)
	finishFit(t, e, 7)
	made, of := rowsOf(generateAll(t, e, rollingKnobs, 4)), map[[2]float32]float32{}
	for i, r := range rows {
		of[[2]float32(r[:2])] = scores[i]
	}
	for i, f := range e.PromptScores(rollingKnobs, 4, 20) {
		want := of[[2]float32(made[i][:2])]
		of[[2]float32(made[i][4:6])] = want // where the next step of the rollout begins
		if f != want {
			t.Errorf("row %d: %v was asked for, and its rollout begins where F is %v", i, f, want)
		}
	}
}
