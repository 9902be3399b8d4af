package relabel_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/generative"
	"pgrlab/core/generative/relabel"
	"pgrlab/core/replay"
)

var shape = replay.Shape{Obs: 2, Act: 1}

const width = 7 // s, a, r, s', d

type table [][]float32

func (r table) Len() int            { return len(r) }
func (r table) Row(i int) []float32 { return r[i] }

// real transitions have observations that tell them apart.
func real() (rows table, scores []float32) {
	for i := range 40 {
		x := float32(i)
		rows, scores = append(rows, []float32{x, -x, 0.5, x, x + 1, -x, 0}), append(scores, x)
	}
	return rows, scores
}

// policy acts by the observation, and by noise that belongs to the occasion and the place in a call.
type policy struct{}

func (policy) Sample(dst, obs []float32, rows int, occasion uint64) error {
	for i := range rows {
		dst[i] = float32(math.Tanh(float64(obs[2*i])/40 + math.Sin(float64(occasion%1009)+float64(i))))
	}
	return nil
}

// mover is a task that moves by its action, and whose observations are of no state from limit on.
type mover struct {
	x      []float32
	limit  float32
	closed *int
}

func (m *mover) Place(obs []float32) error {
	if m.x = slices.Clone(obs); obs[0] >= m.limit {
		return errors.New("there is no such state")
	}
	return nil
}

func (m *mover) Step(action, obs []float32) (float64, bool, bool, error) {
	obs[0], obs[1] = m.x[0]+10*action[0], m.x[1]
	return float64(2 * action[0]), obs[0] > 30, false, nil
}

func (m *mover) Close() error { *m.closed++; return nil }

// setting is how a generator under test is made.
type setting struct {
	actions, outcomes string
	chunk             int
	limit             float32
	label             func(rows []float32) error
	blind             bool // there is no policy
}

func (s setting) make(t *testing.T) *relabel.Generator {
	t.Helper()
	c := generative.Default()
	c.Chunk, c.Actions, c.Outcomes = s.chunk, s.actions, s.outcomes
	inner, err := generative.NewResample(c, generative.ResampleConfig{Rows: 100}, shape, 11)
	if err != nil {
		t.Fatal(err)
	}
	d := generative.Deps{Config: c, Shape: shape, Seed: 11, Policy: policy{}}
	if s.blind {
		d.Policy = nil
	}
	closed := 0
	g, err := relabel.New(inner, d, s.label, func() (relabel.Simulator, error) {
		return &mover{limit: s.limit, closed: &closed}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil || closed != 1 && s.outcomes == generative.OutcomesSimulator {
			t.Errorf("%v, closed %d times", err, closed)
		}
	})
	rows, scores := real()
	if err := g.StartFit(rows, scores, generative.FitKnobs{Steps: 1, LR: 1}, 1); err != nil {
		t.Fatal(err)
	}
	if _, done, err := g.FitSteps(1); err != nil || !done {
		t.Fatal(done, err)
	}
	return g
}

var knobs = generative.GenKnobs{Samples: 700, Steps: 2, TopFraction: 1}

// generation makes a whole generation; between two slices g may become another generator.
func generation(t *testing.T, g *relabel.Generator, border func(*relabel.Generator) *relabel.Generator) (made []float32) {
	t.Helper()
	if err := g.StartGenerate(knobs, 3); err != nil {
		t.Fatal(err)
	}
	for done, total := 0, 1; done < total; {
		rows, n, of, err := g.GenerateSlice()
		if err != nil {
			t.Fatal(err)
		}
		made, done, total = append(made, rows...), n, of
		g = border(g)
	}
	return made
}

func same(g *relabel.Generator) *relabel.Generator { return g }

// A row's action is the policy's in its state, with noise of its own whatever the chunks are; what follows
// is predicted after that.
func TestActionsOfThePolicy(t *testing.T) {
	mark := func(rows []float32) error {
		for row := range slices.Chunk(rows, width) {
			row[3] = 100 * row[2]
		}
		return nil
	}
	s := setting{actions: generative.ActionsPolicy, chunk: 1000, label: mark}
	whole := generation(t, s.make(t), same)
	plain := generation(t, setting{chunk: 1000}.make(t), same)
	if len(whole) != knobs.Samples*width || len(plain) != len(whole) {
		t.Fatalf("%d and %d numbers", len(whole), len(plain))
	}
	actions := map[[2]float32]bool{}
	for i, row := range slices.Collect(slices.Chunk(whole, width)) {
		from := plain[i*width : (i+1)*width]
		if !slices.Equal(row[:2], from[:2]) || row[2] == 0.5 || row[3] != 100*row[2] {
			t.Fatalf("%v of %v", row, from)
		}
		actions[[2]float32{row[0], row[2]}] = true
	}
	if len(actions) < knobs.Samples*9/10 {
		t.Errorf("%d rows have %d pairs of state and action", knobs.Samples, len(actions))
	}
	for _, chunk := range []int{1, 100, 256, 300} {
		s.chunk = chunk
		if made := generation(t, s.make(t), same); !slices.Equal(made, whole) {
			t.Errorf("chunks of %d make other rows", chunk)
		}
	}
}

// Outcomes are those of the task from the row's s by its a. A row of no state is left out, and then it is
// unknown which prompt a row had.
func TestOutcomesOfTheSimulator(t *testing.T) {
	for _, actions := range []string{generative.ActionsData, generative.ActionsPolicy} {
		s := setting{actions: actions, outcomes: generative.OutcomesSimulator, chunk: 100, limit: 100}
		g := s.make(t)
		made := generation(t, g, same)
		if len(made) != knobs.Samples*width || g.PromptScores(knobs, 3, 5) == nil {
			t.Fatalf("%d numbers", len(made))
		}
		want := func(row []float32) []float32 {
			next, end := row[0]+10*row[2], float32(0)
			if next > 30 {
				end = 1
			}
			return []float32{row[0], row[1], row[2], 2 * row[2], next, row[1], end}
		}
		for row := range slices.Chunk(made, width) {
			if !slices.Equal(row, want(row)) || (row[2] == 0.5) != (actions == generative.ActionsData) {
				t.Fatalf("%v, want %v", row, want(row))
			}
		}
		s.limit = 20
		g = s.make(t)
		if some := generation(t, g, same); len(some) == 0 || len(some) > len(made)*6/10 || g.PromptScores(knobs, 3, 5) != nil {
			t.Errorf("%d of %d numbers", len(some), len(made))
		}
		s.limit = 0
		g = s.make(t)
		if err := g.StartGenerate(knobs, 3); err != nil {
			t.Fatal(err)
		}
		var err error
		for done, total := 0, 1; done < total && err == nil; {
			_, done, total, err = g.GenerateSlice()
		}
		if err == nil || !strings.Contains(err.Error(), "takes none of them") {
			t.Errorf("a simulator that takes nothing: %v", err)
		}
	}
}

// A generation goes on bit for bit from between any two slices, and a sketch beside it changes nothing.
func TestAGenerationGoesOn(t *testing.T) {
	s := setting{actions: generative.ActionsPolicy, outcomes: generative.OutcomesSimulator, chunk: 100, limit: 20}
	whole := generation(t, s.make(t), same)
	rows, _ := real()
	var last *relabel.Generator
	made := generation(t, s.make(t), func(g *relabel.Generator) *relabel.Generator {
		next, err := g.Sketch(generative.GenKnobs{Samples: 30, Steps: 2, TopFraction: 1}, 9)
		if err != nil {
			t.Fatal(err)
		}
		if rows, _, _, err := next(); err != nil || len(rows) == 0 {
			t.Fatal(len(rows), err)
		}
		var file bytes.Buffer
		if err := g.Save(&file); err != nil {
			t.Fatal(err)
		}
		file.WriteString("more")
		last = s.make(t)
		if err := last.Load(&file, rows); err != nil || file.String() != "more" {
			t.Fatal(err, file.Len())
		}
		return last
	})
	if !slices.Equal(made, whole) {
		t.Error("a generation that was saved and loaded makes other rows")
	}
	if last.PromptScores(knobs, 3, 5) != nil {
		t.Error("it is forgotten that rows were left out")
	}
}

func TestWhatCannotBeChangedIsRefused(t *testing.T) {
	g := setting{actions: generative.ActionsPolicy, chunk: 100, blind: true}.make(t)
	if err := g.StartGenerate(knobs, 3); err == nil || !strings.Contains(err.Error(), "there is no policy") {
		t.Errorf("without a policy: %v", err)
	}
	c := generative.Default()
	c.Outcomes = generative.OutcomesSimulator
	inner, err := generative.NewResample(c, generative.ResampleConfig{Rows: 100}, shape, 11)
	if err != nil {
		t.Fatal(err)
	}
	_, err = relabel.New(inner, generative.Deps{Config: c, Shape: shape}, nil, func() (relabel.Simulator, error) { return nil, errors.New("there is no task") })
	if err == nil || !strings.Contains(err.Error(), `generator.outcomes "simulator": there is no task`) {
		t.Errorf("without a task: %v", err)
	}
	var file bytes.Buffer
	s := setting{actions: generative.ActionsPolicy, chunk: 100}
	if err := s.make(t).Save(&file); err != nil {
		t.Fatal(err)
	}
	rows, _ := real()
	for n := range file.Len() {
		if err := s.make(t).Load(bytes.NewReader(file.Bytes()[:n]), rows); err == nil {
			t.Fatalf("%d of %d bytes are loaded", n, file.Len())
		}
	}
}
