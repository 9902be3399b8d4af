package relevance

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgrlab/core/formula"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// fakeCritics are fakeValues with critics of single actions: Q(s,a) = s₀ + a, their deviation |a|.
type fakeCritics struct{ fakeValues }

func (fakeCritics) Value(dst, obs, act []float32, rows int) error {
	for i := range rows {
		dst[i] = obs[2*i] + act[i]
	}
	return nil
}

func (fakeCritics) Spread(dst, _, act []float32, rows int) error {
	for i := range rows {
		dst[i] = max(act[i], -act[i])
	}
	return nil
}

// scopeOf makes each function once.
func scopeOf(t *testing.T) Scope {
	made := map[string]*Model{}
	values := fakeCritics{}
	return Scope{Shape: plane, Names: []string{"x", "the height"}, Values: values, Function: func(name string) (*Model, error) {
		if made[name] == nil {
			settings := map[string]Config{"curiosity": smallICM(), "rnd": smallRND(), "disagreement": smallDisagreement()}
			f, err := New(name, Deps{Config: settings[name], Values: values, Shape: plane, Met: plane, Copies: 2, Device: newDevice(t), Seed: 1})
			if err != nil {
				return nil, err
			}
			if f.State != nil {
				t.Cleanup(func() { f.State.Close() })
			}
			made[name] = f
		}
		return made[name], nil
	}}
}

func formulaOf(t *testing.T, text string, s Scope) *Model {
	t.Helper()
	f, err := NewFormula(FormulaMark+text, s)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

// A formula that is only the name of a function is that function, in every bit.
func TestAFormulaOfANameIsTheFunction(t *testing.T) {
	const rows = 700 // more than a block of formulas
	s := scopeOf(t)
	b := replay.NewBatch(plane, rows)
	fillBatch(b, 3)
	named := 0
	for _, spec := range Specs() {
		name := strings.ReplaceAll(spec.Name, "-", "_")
		if quantities[name] != spec.Name && name != "reward" {
			continue
		}
		named++
		own, err := s.Function(spec.Name)
		if err != nil {
			t.Fatal(err)
		}
		if own.Counts != nil {
			own.Counts.Begin(b, rows)
			if err := own.Counts.Observe(b, rows); err != nil {
				t.Fatal(err)
			}
		}
		want, got := make([]float32, rows), make([]float32, rows)
		if err := own.Score(want, b, rows); err != nil {
			t.Fatal(err)
		}
		f := formulaOf(t, name, s)
		if err := f.Score(got, b, rows); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Errorf("=%s of row %d is %v, want %v", name, i, got[i], want[i])
				break
			}
		}
		if f.Slice != own.Slice || f.Sees != own.Sees || f.skips != own.skips {
			t.Errorf("=%s has not what %s has", name, name)
		}
	}
	if named < 8 {
		t.Errorf("%d functions can be named", named)
	}
}

func TestFormulasOfARow(t *testing.T) {
	b := &replay.Batch{
		Size: 3, Obs: []float32{1, 2, 3, 4, 0, -1}, Act: []float32{0.5, -1, 0}, Reward: []float32{4, 0, 1}, Next: []float32{1, 2, 0, 8, 3, 3}, Done: []float32{0, 0, 1},
		Ages: []float32{2, 1, 0},
	}
	for text, want := range map[string][]float32{
		"reward + done":                        {4, 0, 2},
		"done ? -1 : reward":                   {4, 0, -1},
		"obs[1] + next[0] - act[0]":            {2.5, 5, 2},
		`obs["the height"]`:                    {2, 4, -1},
		"obs_norm^2":                           {5, 25, 1},
		"move":                                 {0, 5, 5},
		"norm(next - obs) - move":              {0, 0, 0},
		"action_norm + next_norm - norm(next)": {0.5, 1, 0},
		"age":                                  {2, 1, 0},
		"q + 10*q_std":                         {6.5, 12, 0},
		"td_signed + return":                   {-3 + 10, 3 + 30, -1},
	} {
		s := scopeOf(t)
		s.Shape = replay.Shape{Obs: 2, Act: 1}
		f := formulaOf(t, text, s)
		got := make([]float32, 3)
		if err := f.Score(got, b, 3); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if !(math.Abs(float64(got[i]-want[i])) <= 1e-6) {
				t.Errorf("%s is %v, want %v", text, got, want)
				break
			}
		}
	}
}

func TestFormulasAreMeasuredAndKept(t *testing.T) {
	const rows = 600
	s := scopeOf(t)
	b := replay.NewBatch(plane, rows)
	fillBatch(b, 4)
	f := formulaOf(t, "mix(0.7, td, 0.3, reward) + zscore(rank(curiosity))", s)
	if f.Whole == nil || f.Whole.Passes() != 2 || f.Whole.Measured() {
		t.Fatalf("the formula is %+v", f)
	}
	for pass := range f.Whole.Passes() {
		f.Whole.BeginPass(pass)
		for first := 0; first < rows; first += 256 { // in slices, as a run does
			n := min(256, rows-first)
			part := replay.NewBatch(plane, n)
			copy(part.Obs, b.Obs[first*plane.Obs:])
			copy(part.Act, b.Act[first*plane.Act:])
			copy(part.Reward, b.Reward[first:])
			copy(part.Next, b.Next[first*plane.Obs:])
			copy(part.Done, b.Done[first:])
			if err := f.Whole.Observe(pass, part, n); err != nil {
				t.Fatal(err)
			}
		}
		f.Whole.EndPass(pass)
	}
	want, got := make([]float32, rows), make([]float32, rows)
	if err := f.Score(want, b, rows); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := f.State.Save(&file); err != nil {
		t.Fatal(err)
	}
	other := formulaOf(t, "mix(0.7, td, 0.3, reward) + zscore(rank(curiosity))", s)
	if err := other.State.Load(&file); err != nil || file.Len() != 0 {
		t.Fatalf("load: %v, %d bytes are left", err, file.Len())
	}
	if err := other.Score(got, b, rows); err != nil || !slices.Equal(got, want) {
		t.Errorf("after it was loaded, the formula scores differently: %v", err)
	}
	terms, err := f.Terms.ScoreTerms(b, rows)
	if err != nil || len(terms) != 3 {
		t.Fatalf("%d terms: %v", len(terms), err)
	}
	for i := range want {
		if sum := terms[0][i] + terms[1][i] + terms[2][i]; !(math.Abs(float64(sum-want[i])) <= 1e-5) {
			t.Fatalf("terms of row %d add up to %v, want %v", i, sum, want[i])
		}
	}
}

func TestWhatAFormulaNeeds(t *testing.T) {
	for name, want := range map[string][]string{
		"td":                                {"td"},
		"=reward*2":                         nil,
		"=td_signed + td":                   {"td-signed", "td"},
		"=count + curiosity + rnd":          {"curiosity", "rnd", "count"},
		"=rank(curiosity)":                  {"curiosity", "=rank(curiosity)"},
		"=nothing":                          nil,
		"=let curious = curiosity; curious": {"curiosity"},
	} {
		if got := Needs(name); !slices.Equal(got, want) {
			t.Errorf("%s needs %q, want %q", name, got, want)
		}
	}
	for text, want := range map[string]string{
		"td": "td", "td-signed": "td-signed", "=0.70*td": "=0.7 * td", "abs(td)+curiosity": "=abs(td) + curiosity", "=td": "=td", "td-curiosity": "=td - curiosity", "td-sign": "td-sign",
	} {
		if got, err := Canonical(text); got != want || err != nil {
			t.Errorf("%s is %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestFormulasThatAreRefusedSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"0.5*curiousity":   `no quantity "curiousity" (did you mean curiosity?) (column 5)`,
		"eco + td":         `no quantity "eco", which is of episodes and not of single transitions (column 1)`,
		"1 + ensemble":     `no quantity "ensemble", which only stands alone: it is of the generator's models (column 5)`,
		"novelty * td":     `no quantity "novelty": pgrlab list formulas has all (column 1)`,
		"obs[2]":           "obs has 2 numbers: 0 to 1 (column 5)",
		`obs["speed"]`:     `obs has no element "speed": want one of x, the height (column 5)`,
		`td("x")`:          `td takes no name in brackets: elements are in square brackets, as in obs["x"] (column 1)`,
		"reward > 0":       "want a number here, not a condition: write (… ? 1 : 0) (column 8)",
		"curiosity > 0.1 ": "want a number here, not a condition: write (… ? 1 : 0) (column 11)",
	} {
		_, err := NewFormula(FormulaMark+text, scopeOf(t))
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
		if where := (*formula.Error)(nil); !errors.As(err, &where) {
			t.Errorf("%s: the error has no place", text)
		}
	}
	if err := Check("=q_std", plane, nil); err != nil {
		t.Errorf("q_std without a learner: %v", err)
	}
	s := scopeOf(t)
	s.Values = fakeValues{}
	if _, err := NewFormula("=q_std", s); err == nil || !strings.Contains(err.Error(), "no critics of single actions") {
		t.Errorf("q_std of a learner without critics: %v", err)
	}
}

func TestValuesThatAreNotFiniteAreCounted(t *testing.T) {
	b := threeRows()
	b.Reward[1], b.Reward[2] = -0.25, -1
	f := formulaOf(t, "1 + log(reward)", scopeOf(t))
	scores := make([]float32, 3)
	if err := f.Score(scores, b, 3); err != nil {
		t.Fatal(err)
	}
	err := f.Finite(scores, strconv.Itoa, func(i int) (*replay.Batch, int) { return b, i })
	if want := "F is NaN for 2 of 3 transitions, first at 1: log of -0.25 (column 5)"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if where := (*plan.NotFinite)(nil); !errors.As(err, &where) || where.Row != 1 {
		t.Errorf("the error is no number that is not finite: %v", err)
	}
	if err := f.Finite(scores[:1], strconv.Itoa, nil); err != nil {
		t.Errorf("finite scores: %v", err)
	}
}

// BenchmarkFormula scores a slice as a run does, of formulas without networks.
func BenchmarkFormula(b *testing.B) {
	const rows = 4096
	shape := replay.Shape{Obs: 17, Act: 6}
	batch := replay.NewBatch(shape, rows)
	fillBatch(batch, 2)
	for _, text := range []string{"reward", "abs(reward) + 0.1*done", "done ? 0 : clip(reward, 0, 1)", "norm(obs[8:11])", "rank(reward)"} {
		b.Run(text, func(b *testing.B) {
			f, err := NewFormula(FormulaMark+text, Scope{Shape: shape, Function: func(string) (*Model, error) { return nil, nil }})
			if err != nil {
				b.Fatal(err)
			}
			if f.Whole != nil {
				f.Whole.BeginPass(0)
				if err := f.Whole.Observe(0, batch, rows); err != nil {
					b.Fatal(err)
				}
				f.Whole.EndPass(0)
			}
			dst := make([]float32, rows)
			for b.Loop() {
				if err := f.Score(dst, batch, rows); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
