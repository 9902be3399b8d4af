package relevance

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/replay"
)

// fakeValues answers Q = 10·s₀ and δ = s₀ − r.
type fakeValues struct{ err error }

func (v fakeValues) Q(dst, obs []float32, rows int) error {
	for i := range rows {
		dst[i] = 10 * obs[2*i]
	}
	return v.err
}

func (v fakeValues) TDError(dst []float32, b *replay.Batch, rows int) error {
	for i := range rows {
		dst[i] = b.Obs[2*i] - b.Reward[i]
	}
	return v.err
}

func threeRows() *replay.Batch {
	return &replay.Batch{
		Size: 3, Obs: []float32{1, 9, -2, 9, 3, 9}, Act: []float32{0, 0, 0},
		Reward: []float32{4, 0, 1}, Next: make([]float32, 6), Done: make([]float32, 3),
	}
}

func TestScores(t *testing.T) {
	deps := Deps{Values: fakeValues{}}
	for name, want := range map[string][]float32{
		"reward": {4, 0}, "return": {10, -20}, "td": {3, 2}, "td-signed": {-3, -2}, "none": {0, 0},
	} {
		f, err := New(name, deps)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name() != name {
			t.Errorf("%s calls itself %q", name, f.Name())
		}
		got := []float32{77, 77, 77}
		if err := f.Score(got, threeRows(), 2); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got[:2], want) || got[2] != 77 {
			t.Errorf("%s scores %v, want %v and the third untouched", name, got, want)
		}
	}
}

func TestFailuresOfTheAgentAreWrapped(t *testing.T) {
	broken := errors.New("device lost")
	for _, name := range []string{"return", "td", "td-signed"} {
		f, err := New(name, Deps{Values: fakeValues{broken}})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Score(make([]float32, 3), threeRows(), 3); !errors.Is(err, broken) {
			t.Errorf("%s: error %v, want %v", name, err, broken)
		}
	}
}

func TestUnknownNamesNameTheNearest(t *testing.T) {
	for name, want := range map[string]string{
		"curiousity": "curiosity", "TD": "td", "td-sign": "td-signed", "retrun": "return", "rewards": "reward", "nome": "none",
	} {
		_, err := New(name, Deps{Values: fakeValues{}})
		if err == nil || !strings.Contains(err.Error(), `did you mean "`+want+`"`) {
			t.Errorf("%q: error %v, want one that names %q", name, err, want)
		}
	}
	for _, name := range []string{"return", "td", "td-signed", "ensemble"} {
		if _, err := New(name, Deps{}); err == nil || !strings.Contains(err.Error(), "missing") {
			t.Errorf("%s without what it needs: error %v", name, err)
		}
	}
}

// The registry keeps its order, and its description of a function is true.
func TestRegistry(t *testing.T) {
	want := []string{"curiosity", "disagreement", "rnd", "count", "eco", "ensemble", "return", "reward", "td", "td-signed", "none"}
	old := slices.DeleteFunc(Names(), func(name string) bool { return !slices.Contains(want, name) })
	if !slices.Equal(old, want) { // a new one stands between them
		t.Errorf("names are %v, want %v", old, want)
	}
	for _, s := range Specs() {
		if strings.ToLower(s.Name) != s.Name || strings.ContainsAny(s.Name+s.Doc+s.Equation+s.Source, "\n") {
			t.Errorf("%s: %+v", s.Name, s)
		}
		if s.Config != nil {
			if err := s.Config.Validate(); err != nil {
				t.Errorf("%s: its default settings are wrong: %v", s.Name, err)
			}
			if small, large := s.Config.Memory(plane), s.Config.Memory(replay.Shape{Obs: 78, Act: 12}); !(small > 0) || !(large > small) {
				t.Errorf("%s: memory of %g and %g bytes", s.Name, small, large)
			}
		}
		f, err := New(s.Name, Deps{Values: fakeValues{}, Models: fakeModels{members: 2, out: plane.Obs}, Shape: plane, Met: plane, Copies: 2, Log: newLog(DefaultECO(), plane.Obs, Frames{}, 2), Device: newDevice(t), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		model, trained, counted, given := f.State != nil, f.Steps != nil, f.Counts != nil, f.Rounds != nil
		if (f.Known != nil) != (s.Learning == LearnsWithGenerator) {
			t.Errorf("%s is known from the generator's first fit on: %v", s.Name, f.Known != nil)
		}
		if f.Name() != s.Name || model != (s.Learning != LearnsNothing) || trained != (s.Learning == LearnsInSteps) || counted != (s.Learning == LearnsFromScratch) || given != (s.Learning == LearnsInRounds) {
			t.Errorf("%s is a %T called %q: a model %v, trained %v, counted %v, given env steps %v", s.Name, f.Function, f.Name(), model, trained, counted, given)
		}
		if model {
			f.State.Close()
		}
	}
}

// A run whose model diverges says which key to lower: the learning rate of every function that learns
// by gradient steps is lr.
func TestFunctionsThatLearnHaveARate(t *testing.T) {
	for _, s := range Specs() {
		if !s.HasRate() {
			continue
		}
		found := false
		for _, field := range reflect.VisibleFields(reflect.TypeOf(s.Config)) {
			found = found || field.Tag.Get("toml") == "lr"
		}
		if !found {
			t.Errorf("%s learns by gradient steps and has no setting lr", s.Name)
		}
	}
}
