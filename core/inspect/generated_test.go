package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// ringOf makes a ring of rows of a two-dimensional observation and a one-dimensional action: s, a,
// r, s', d.
func ringOf(rows ...[]float32) *replay.Ring {
	r := replay.NewRing(replay.Shape{Obs: 2, Act: 1}, len(rows))
	for _, row := range rows {
		r.AddRows(row)
	}
	return r
}

// described compares rows with real ones; D_syn consists of these rows.
func described(rows []float32, real *replay.Ring) (event.Generated, error) {
	syn := replay.NewRing(real.Shape(), max(1, len(rows)/real.Shape().Width()))
	syn.AddRows(rows)
	return (&examiner{View: View{Real: real, Syn: syn}, yield: atOnce}).describe(rows)
}

func TestGeneratedRowsAgainstRealOnes(t *testing.T) {
	real := ringOf(
		[]float32{0, 0, -1, 0, 0, 0, 0}, []float32{2, 4, 1, 8, 2, 4, 1},
		[]float32{0, 4, -1, 0, 2, 0, 0}, []float32{2, 0, 1, 8, 0, 4, 0},
	)
	rows := slices.Concat(
		[]float32{0, 0, -1, 0, 0, 0, 0},  // a real row
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
	if math.Abs(float64(g.Furthest)-1) > 1e-6 { // s of the second row; s' of the fourth is a quarter of a deviation outside
		t.Errorf("the furthest state is %v deviations outside", g.Furthest)
	}
	// Every dimension has two values, one deviation from their mean. Real rows differ by two
	// deviations in at least two of six dimensions.
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-5 {
			t.Errorf("%s is %g, want %g", what, got, want)
		}
	}
	near("nearest real row of a real one", float64(g.NearestReal), math.Sqrt(2*4/6.0))
	if !(g.Nearest > 0) || !(g.Nearest < g.NearestReal) {
		t.Errorf("nearest %v, among real rows %v", g.Nearest, g.NearestReal)
	}
	if same, err := described(rows[:7], real); err != nil || same.Nearest != 0 || same.Furthest != 0 {
		t.Errorf("a real row is %v from the nearest, and %v outside", same.Nearest, same.Furthest)
	}
}

// countingEnv can be set to a state. Its physics adds the action to the first number and 1 to the
// second; the reward is the first number.
type countingEnv struct {
	at     []float32
	closed *int
}

func (e *countingEnv) Place(obs []float32) error {
	e.at = slices.Clone(obs)
	return nil
}

func (e *countingEnv) Step(action, obs []float32) (float64, bool, bool, error) {
	copy(obs, []float32{e.at[0] + action[0], e.at[1] + 1})
	return float64(e.at[0]), false, false, nil
}

func (e *countingEnv) Close() error {
	*e.closed++
	return nil
}

func TestDynamicsOfRows(t *testing.T) {
	made, closed := 0, 0
	v := View{
		Real:      ringOf([]float32{0, 0, 0, 0, 1, 0, 0}, []float32{0, 0, 0, 0, 3, 0, 0}),
		Simulator: &Simulator{Start: func() (io.Closer, error) { made++; return &countingEnv{closed: &closed}, nil }},
	}
	e := &examiner{View: v, yield: atOnce}
	rows := slices.Concat([]float32{5, 1, 1, 5, 6, 2, 0}, []float32{5, 1, 1, 7, 8, 2, 0})
	for range 2 {
		predicted, err := e.simulate(rows)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := dynamicsOf(predicted, v.Real.Shape(), e.scale())
		// By hand, the first row obeys. The second is off by 2 in s'₀, which has variance 1, and by
		// 2 in r, which never varies. The real rows' changes are 1 and 3 in s'₀, with variance 1,
		// and 0 in s'₁, with variance 0.
		if d.Rows != 2 || d.State != 1 || d.Reward != 2 || d.Combined != 1.5 || d.Relative != 1 || d.Change != 2 || d.EachChange[0] != 2 {
			t.Errorf("%+v", d)
		}
		if !math.IsNaN(float64(d.EachChange[1])) || !math.IsNaN(float64(d.RewardRelative)) {
			t.Errorf("errors without a variance: %+v", d)
		}
	}
	v.Simulator.Close()
	if made != 1 || closed != 1 {
		t.Errorf("%d environments were started, %d closed", made, closed)
	}
	v.Simulator = &Simulator{Start: func() (io.Closer, error) { return io.NopCloser(nil), nil }}
	other := &examiner{View: v, yield: atOnce}
	if d, err := other.simulate(rows); d.Rows(v.Real.Shape()) != 0 || err != nil {
		t.Errorf("an environment that cannot be set gave %+v, %v", d, err)
	}
}

// squared is a relevance function whose values may exceed all float32.
type squared struct{ firstNumber }

func (squared) Score(dst []float32, b *replay.Batch, rows int) error {
	err := firstNumber{}.Score(dst, b, rows)
	for i, v := range dst {
		dst[i] = v * v
	}
	return err
}

// A generated row so far out that F of it is infinite makes a line of the journal as others do.
func TestExaminationWithInfiniteF(t *testing.T) {
	v := dreamView(50, 20)
	v.F, v.Settings.Relevance = relevance.Of(squared{}), "reward"
	v.Simulator = &Simulator{Start: func() (io.Closer, error) { return io.NopCloser(nil), nil }}
	v.Syn.Row(0)[0] = 1e20
	out, again := event.Examined{}, event.Examined{}
	if err := Finish(Examine(v, Examination{Rows: 100}, nil, &out)); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(&out)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &again); err != nil || !math.IsInf(float64(again.Synthetic.Max), 1) || *again.Synthetic != *out.Synthetic || math.IsInf(again.Synthetic.High, 0) {
		t.Errorf("%v: %+v, written as %s", err, out.Synthetic, text)
	}
}

// Rewarded rows are counted in all of D_syn and D_real. A generated reward counts if it is nearer to
// the smallest real one than to 0, whatever its sign.
func TestRewardedRows(t *testing.T) {
	rows := func(rewards ...float32) (all [][]float32) {
		for i, r := range rewards {
			all = append(all, []float32{float32(i), 0, float32(i % 2), r, 1, float32(i), 0})
		}
		return all
	}
	share := func(v float64) *run.Float { return float(v) }
	for name, c := range map[string]struct {
		real, dreamt   []float32
		wantReal, want *run.Float
	}{
		"a goal":            {[]float32{0, 0, 10, 0}, []float32{0.3, -0.2, 5.1, 4.9, 11, 0, 0, 9.8}, share(0.25), share(3.0 / 8)},
		"both signs":        {[]float32{0, -2, 4, 0, 0}, []float32{-1.1, -0.9, 0.9, 1.1}, share(0.4), share(0.5)},
		"half":              {[]float32{0, 1}, []float32{0.4, 0.4, 0.6, 0.4}, share(0.5), share(0.25)},
		"no reward yet":     {[]float32{0, 0, 0}, []float32{0, 0.001}, share(0), nil},
		"none generated":    {[]float32{0, 0, 10}, []float32{0.1, 3}, share(1.0 / 3), share(0)},
		"a dense reward":    {[]float32{0.2, 0.4, 0}, []float32{0.3, 0.1}, nil, nil},
		"all sizes":         {[]float32{0, 0, 0.001, 0, 0, 0, 0.9}, []float32{0.3, 0.1}, nil, nil},
		"a bonus on all":    {[]float32{0.01, 10.02, -0.01}, []float32{0, 10}, nil, nil},
		"more than is seen": {slices.Concat(make([]float32, 99), []float32{10}), slices.Concat(make([]float32, 30), []float32{10}, make([]float32, 19)), share(0.01), share(0.02)},
	} {
		syn := ringOf(rows(c.dreamt...)...)
		e := &examiner{View: View{Real: ringOf(rows(c.real...)...), Syn: syn}, yield: atOnce}
		g, err := e.describe(slices.Concat(rows(c.dreamt[:2]...)...)) // by its first two rows
		if err != nil {
			t.Fatal(err)
		}
		if !same(g.RewardedReal, c.wantReal) || !same(g.Rewarded, c.want) {
			t.Errorf("%s: %v real and %v generated, want %v and %v", name, text(g.RewardedReal), text(g.Rewarded), text(c.wantReal), text(c.want))
		}
	}
}

func same(a, b *run.Float) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

func text(v *run.Float) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprint(*v)
}
