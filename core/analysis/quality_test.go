package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgrlab/core/replay"
)

// pit is s' = s + a in one coordinate, with a reward of 1 in a narrow interval and an end below 0.
type pit struct{ at float32 }

func (p *pit) Place(obs []float32) error { p.at = obs[0]; return nil }

func (p *pit) Step(action, obs []float32) (float64, bool, bool, error) {
	p.at += action[0]
	obs[0] = p.at
	return float64(flag(p.at > 9)), p.at < 0, false, nil
}

var pitShape = replay.Shape{Obs: 1, Act: 1}

// pitRows makes n true transitions, concatenated.
func pitRows(seed uint64, n int) (rows []float32) {
	draw := rand.New(rand.NewPCG(seed, 0))
	p, next := &pit{}, make([]float32, 1)
	for range n {
		s, a := 10*draw.Float32(), 2*draw.Float32()-1
		p.Place([]float32{s})
		r, end, _, _ := p.Step([]float32{a}, next)
		rows = append(rows, s, a, float32(r), next[0], flag(end))
	}
	return rows
}

func rowsOf(rows []float32) func(i int) []float32 {
	w := pitShape.Width()
	return func(i int) []float32 { return rows[i*w : (i+1)*w] }
}

func slicesOf(rows []float32) (all [][]float32) {
	for i := range len(rows) / pitShape.Width() {
		all = append(all, rowsOf(rows)(i))
	}
	return all
}

// Real rows have no error and full precision and recall. With shuffled rewards the error is twice
// the variance, and precision and recall are the share of rare rewards. With the mean as every
// reward the error is that of the constant guess, the variance.
func TestRewardLabelsOfKnownRows(t *testing.T) {
	real := pitRows(1, 20_000)
	ref := NewReference(pitShape, len(real)/5, rowsOf(real))
	rare := 0.0
	for i := range len(real) / 5 {
		rare += float64(rowsOf(real)(i)[2]) / float64(len(real)/5)
	}
	if !(ref.Rare > 0 && ref.Rare < 1) {
		t.Fatalf("of rewards 0 and 1 those above %v are rare", ref.Rare)
	}
	look := func(change func(rows []float32)) (DynamicsError, Detection, Detection) {
		rows := slices.Clone(pitRows(2, 20_000))
		change(rows)
		s, err := Simulate(&pit{}, pitShape, rows)
		if err != nil {
			t.Fatal(err)
		}
		return s.Error(pitShape, ref), s.RareRewards(pitShape, ref), s.Ends(pitShape)
	}
	e, rewards, ends := look(func([]float32) {})
	if e.Change != 0 || e.RewardRelative != 0 || rewards.Precision != 1 || rewards.Recall != 1 || ends.Precision != 1 || ends.Recall != 1 || ends.True == 0 {
		t.Errorf("real rows: %+v %+v %+v", e, rewards, ends)
	}
	e, rewards, ends = look(func(rows []float32) {
		at := rowsOf(rows)
		rand.New(rand.NewPCG(3, 0)).Shuffle(len(rows)/5, func(i, j int) {
			at(i)[2], at(j)[2] = at(j)[2], at(i)[2]
			at(i)[4], at(j)[4] = at(j)[4], at(i)[4]
		})
	})
	near(t, "shuffled rewards", e.RewardRelative, 2, 0.1)
	near(t, "their precision", rewards.Precision, rare, 0.03)
	near(t, "their recall", rewards.Recall, rare, 0.03)
	if !(ends.Precision < 0.1 && ends.Recall < 0.1) {
		t.Errorf("shuffled ends: %+v", ends)
	}
	e, rewards, _ = look(func(rows []float32) {
		for i := range len(rows) / 5 {
			rowsOf(rows)(i)[2] = float32(rare)
		}
	})
	near(t, "a constant reward", e.RewardRelative, e.ConstantReward, 0.01)
	if rewards.Predicted != 0 || !math.IsNaN(rewards.Precision) || rewards.Recall != 0 {
		t.Errorf("a constant reward: %+v", rewards)
	}
}

// Predicting no change scores the change's second moment divided by its variance, whatever the
// range of the states; predicting the mean change scores 1.
func TestErrorOfAConstantChangeIsOne(t *testing.T) {
	real := pitRows(4, 20_000)
	ref := NewReference(pitShape, len(real)/5, rowsOf(real))
	rows := pitRows(5, 20_000)
	for i := range len(rows) / 5 {
		rowsOf(rows)(i)[3] = rowsOf(rows)(i)[0]
	}
	s, err := Simulate(&pit{}, pitShape, rows)
	if err != nil {
		t.Fatal(err)
	}
	e := s.Error(pitShape, ref)
	near(t, "no change", e.Change, 1, 0.03) // actions have mean 0
	near(t, "what the constant guess scores", e.ConstantChange, 1, 0.03)
	hard := s.Where(pitShape, func(i int) bool { a := s.True[5*i+1]; return a > 0.8 || a < -0.8 })
	if e := hard.Error(pitShape, ref); !(e.Change > 2) || math.Abs(e.ConstantChange-e.Change) > 0.1 {
		t.Errorf("of the largest changes: no change %v, the constant guess %v", e.Change, e.ConstantChange)
	}
	if !(e.Relative < 0.1) {
		t.Errorf("in units of the states' own variance %v", e.Relative)
	}
}

// In a dense task the largest rewards are rare; among equal rewards none is rare.
func TestRareRewards(t *testing.T) {
	dense := make([]float32, 1001)
	for i := range dense {
		dense[i] = float32(i) / 1000
	}
	near(t, "of a uniform reward", rareAbove(dense), 0.925, 1e-3)
	if r := rareAbove([]float32{2, 2, 2}); !math.IsNaN(r) {
		t.Errorf("of equal rewards those above %v are rare", r)
	}
}

// Fresh real rows cover nearly everything. Copies cover nothing, even beside one fresh row, and
// rows from one place cover little.
func TestCoverageOfKnownRows(t *testing.T) {
	all := slicesOf(pitRows(6, 4000))
	real := all[:500]
	s := Spread(len(all), 4, func(i int) []float32 { return all[i] })
	itself := func(i int) int { return i }
	usual := Summarise(Nearest(all, all, s, itself)).Median
	look := func(rows [][]float32) (coverage, copies float64) {
		copied := Copies(Nearest(rows, all, s, nil), usual)
		for _, c := range copied {
			copies += float64(flag(c)) / float64(len(copied))
		}
		return Coverage(rows, real, s, func(i int) bool { return copied[i] }), copies
	}
	fresh := slicesOf(pitRows(7, 500))
	coverage, copies := look(fresh)
	if !(coverage > 0.93) || copies > 0.05 {
		t.Errorf("fresh real rows cover %v, %v of them are copies", coverage, copies)
	}
	if coverage, copies = look(all[1000:1500]); coverage != 0 || copies < 1-1e-9 {
		t.Errorf("copies cover %v, %v of them are copies", coverage, copies)
	}
	if coverage, _ = look(append(slices.Clone(all[1000:1499]), fresh[0])); !(coverage > 0 && coverage < 0.1) {
		t.Errorf("copies and one fresh row cover %v", coverage)
	}
	one := slicesOf(pitRows(8, 500))
	for i, row := range one {
		row[0], row[3] = 5+0.1*row[0], 5+0.1*row[3]
		one[i] = row
	}
	if coverage, _ = look(one); !(coverage < 0.5) {
		t.Errorf("rows of one place cover %v", coverage)
	}
	if c := Coverage(fresh, real[:5], s, func(int) bool { return false }); !math.IsNaN(c) {
		t.Errorf("five real rows are covered by %v", c)
	}
}
