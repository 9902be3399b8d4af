package lab

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/replay"
)

// ringOf is a ring of rows of worldShape: s, a, r, s', d.
func ringOf(rows ...[]float32) *replay.Ring {
	r := replay.NewRing(worldShape, len(rows))
	for _, row := range rows {
		r.AddRows(row)
	}
	return r
}

// described holds rows to real ones; all of them are D_syn.
func described(rows []float32, real *replay.Ring) (event.Generated, error) {
	e := &examining{m: &member{real: real}, syn: replay.NewRing(real.Shape(), max(1, len(rows)/real.Shape().Width())), breathe: onward}
	e.syn.AddRows(rows)
	return e.describe(rows)
}

func TestGeneratedRowsAgainstRealOnes(t *testing.T) {
	real := ringOf(
		[]float32{0, 0, -1, 0, 0, 0, 0}, []float32{2, 4, 1, 8, 2, 4, 1},
		[]float32{0, 4, -1, 0, 2, 0, 0}, []float32{2, 0, 1, 8, 0, 4, 0},
	)
	rows := slices.Concat(
		[]float32{0, 0, -1, 0, 0, 0, 0},  // a real one
		[]float32{3, 0, 0, 4, 0, 0, 0},   // s outside
		[]float32{0, 0, 1.5, 9, 0, 0, 1}, // a and r outside
		[]float32{0, 0, 0, 4, 0, 4.5, 0}, // s' outside
	)
	g, err := described(rows, real)
	if err != nil {
		t.Fatal(err)
	}
	if g.Rows != 4 || g.OutsideStates != 0.5 || g.OutsideActions != 0.25 || g.OutsideRewards != 0.25 {
		t.Errorf("%+v", g)
	}
	if g.Terminal != 0.25 || g.TerminalReal != 0.25 {
		t.Errorf("terminal %v of %v real", g.Terminal, g.TerminalReal)
	}
	// Every dimension has two values at one deviation from their mean: real rows
	// differ by two deviations in at least two of six dimensions.
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-5 {
			t.Errorf("%s is %g, want %g", what, got, want)
		}
	}
	near("nearest real row of a real one", float64(g.NearestReal), math.Sqrt(2*4/6.0))
	if !(g.Nearest > 0) || !(g.Nearest < g.NearestReal) {
		t.Errorf("nearest %v, among real rows %v", g.Nearest, g.NearestReal)
	}
	if same, err := described(rows[:7], real); err != nil || same.Nearest != 0 {
		t.Errorf("a real row is %v from the nearest", same.Nearest)
	}
}

// placedEnv can be set to a state; its physics adds 1 to t and keeps the reward.
type placedEnv struct{ worldEnv }

func (e *placedEnv) Place(obs []float32) error {
	e.now = slices.Clone(obs)
	return nil
}

func (e *placedEnv) Step(action, obs []float32) (float64, bool, bool, error) {
	if e.w != nil {
		return e.worldEnv.Step(action, obs)
	}
	copy(obs, []float32{e.now[0] + action[0], e.now[1] + 1})
	return float64(e.now[0]), false, false, nil
}

func TestDynamicsOfAMember(t *testing.T) {
	m := &member{real: ringOf([]float32{0, 0, 0, 0, 1, 0, 0}, []float32{0, 0, 0, 0, 3, 0, 0})}
	made := 0
	task := Task{New: func(uint64) (Env, error) { made++; return &placedEnv{}, nil }}
	rows := slices.Concat([]float32{5, 1, 1, 5, 6, 2, 0}, []float32{5, 1, 1, 7, 8, 2, 0})
	for range 2 {
		told, err := m.simulate(task, rows, onward)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := dynamicsOf(told, m.real.Shape(), m.reference())
		// By hand: the first row obeys; the second is off by 2 in s'₀, of variance 1,
		// and by 2 in r, which never varies. Of the real rows' changes, 1 and 3 in s'₀
		// and 0 in s'₁, the variances are 1 and 0.
		if d.Rows != 2 || d.State != 1 || d.Reward != 2 || d.Combined != 1.5 || d.Relative != 1 || *d.Change != 2 || d.EachChange[0] != 2 {
			t.Errorf("%+v", d)
		}
		if !math.IsNaN(float64(d.EachChange[1])) || !math.IsNaN(float64(*d.RewardRelative)) {
			t.Errorf("errors without a variance: %+v", d)
		}
	}
	m.close()
	if made != 1 || m.simulator != nil {
		t.Errorf("%d environments", made)
	}
	other := &member{real: m.real}
	if d, err := other.simulate(newWorld().task(), rows, onward); d.Rows(m.real.Shape()) != 0 || err != nil {
		t.Errorf("an environment that cannot be set gave %+v, %v", d, err)
	}
}

// Every generation and every evaluation is described, and a run that is described
// does nothing else.
func TestAnalysesAreLinesOfTheJournal(t *testing.T) {
	c := newWorld().config()
	_, plain := play(t, newWorld(), c)
	c.Evaluation.AnalysedRows = 8
	c.Schedule = []string{"20/generate:1:top_fraction=0.5"}
	l, _ := play(t, newWorld(), c)
	generated, steps := bodies[event.Generated](l)
	if !slices.Equal(steps, []int{20, 40}) {
		t.Fatalf("generations described at %v", steps)
	}
	for i, g := range generated {
		if g.Rows != 8 || g.Relevance != "curiosity" || g.Asked == nil || g.Achieved == nil || g.Obeyed == nil || g.Dynamics != nil {
			t.Errorf("%+v", g)
		}
		want := quantiles((&worldGenerator{scores: l.x.first().gen.(*worldGenerator).scores}).Asked(l.x.Generating, uint64(i), 8))
		if i == 1 && *g.Asked != *want {
			t.Errorf("asked for %+v, want %+v", g.Asked, want)
		}
	}
	if l.x.Generating.TopFraction != 0.5 {
		t.Errorf("the last generation had %+v", l.x.Generating)
	}
	bias, steps := bodies[event.QBias](l)
	if !slices.Equal(steps, []int{15, 30, 45, 60}) {
		t.Fatalf("bias at %v", steps)
	}
	// Copy i earns i+1 for 10(i+1) steps.
	want := 0.0
	for i := range 3 {
		want += float64(i+1) * (1 - math.Pow(0.99, 10*float64(i+1))) / 0.01 / 3
	}
	for _, b := range bias {
		if math.Abs(float64(b.Return)-want) > 1e-5 || math.Abs(float64(b.Q-b.Return-b.Bias)) > 1e-9 || !(b.Std > 0) {
			t.Errorf("%+v, want a return of %g", b, want)
		}
	}
	if bodies, _ := bodies[event.Generated](replayed(t, plain)); len(bodies) != 0 {
		t.Error("a run without analyses is described")
	}
}

// replayed plays the plain run again, for its events.
func replayed(t *testing.T, plain *memoryFolder) *Lab {
	t.Helper()
	l, folder := play(t, newWorld(), newWorld().config())
	if folder.canonical(t) != plain.canonical(t) {
		t.Error("the plain run cannot be repeated")
	}
	return l
}

func TestAnalysedRunsGoOnFromEveryBorder(t *testing.T) {
	resumeEverywhere(t, 1, func(r record) *Lab {
		w := newWorld()
		c := w.config()
		c.Evaluation.AnalysedRows, c.Schedule = 5, busySchedule
		c.Schedule = append([]string{"20/generate:5:relevance=reward", "40/generate:6:samples=7!", "60/generate:4:relevance=td"}, c.Schedule...)
		return w.lab(t, c, r)
	})
}
