package analysis

import (
	"fmt"
	"math"

	"pgrlab/core/replay"
)

// Simulator is the true system. It can be set to the state that an observation
// describes, and stepped.
type Simulator interface {
	Place(obs []float32) error
	Step(action, obs []float32) (reward float64, terminated, truncated bool, err error)
}

// Simulated pairs transitions with what the true system does from the same s by the
// same a, clipped to ±1. Both lists hold consecutive rows [s, a, r, s', d] with the same s
// and a.
type Simulated struct {
	Predicted, True []float32
	Failed          int // rows left out: the simulator did not take their state or action
}

// Simulate steps the simulator from each row's s by its a. A true d is 1 if the task ends
// there.
func Simulate(sim Simulator, shape replay.Shape, rows []float32) (Simulated, error) {
	width := shape.Width()
	if len(rows)%width != 0 {
		return Simulated{}, fmt.Errorf("simulate: %d numbers are no rows of %d", len(rows), width)
	}
	var s Simulated
	next, cut := make([]float32, shape.Obs), make([]float32, shape.Act)
	for ; len(rows) > 0; rows = rows[width:] {
		obs, act := rows[:shape.Obs], rows[shape.Obs:shape.Obs+shape.Act]
		for i, a := range act {
			cut[i] = min(max(a, -1), 1)
		}
		if err := sim.Place(obs); err != nil {
			s.Failed++
			continue
		}
		r, terminated, _, err := sim.Step(cut, next)
		if err != nil {
			s.Failed++
			continue
		}
		s.Predicted = append(s.Predicted, rows[:width]...)
		s.True = append(append(append(s.True, rows[:shape.Obs+shape.Act]...), float32(r)), next...)
		s.True = append(s.True, flag(terminated))
	}
	return s, nil
}

func flag(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// With returns the transitions of s and of o.
func (s Simulated) With(o Simulated) Simulated {
	return Simulated{Predicted: append(s.Predicted, o.Predicted...), True: append(s.True, o.True...), Failed: s.Failed + o.Failed}
}

// Rows is how many transitions could be compared.
func (s Simulated) Rows(shape replay.Shape) int { return len(s.Predicted) / shape.Width() }

// Where returns the transitions for which keep is true.
func (s Simulated) Where(shape replay.Shape, keep func(i int) bool) (kept Simulated) {
	w := shape.Width()
	for i := range s.Rows(shape) {
		if keep(i) {
			kept.Predicted = append(kept.Predicted, s.Predicted[i*w:(i+1)*w]...)
			kept.True = append(kept.True, s.True[i*w:(i+1)*w]...)
		}
	}
	return kept
}

// DynamicsError says how far transitions are from what the true system does (Wang et
// al. 2025, section on the quality of generations; state and reward are combined as in
// son9ih/pgr: synther/online/online_cond_ddpm_ori.py). A number divided by a variance of
// 0 is NaN. The best constant guess scores 1 on rows that are spread like the real ones.
// ConstantChange and ConstantReward are its scores on these rows, which prompts may have
// asked for because they are hard.
type DynamicsError struct {
	Rows     int     // rows that could be compared
	Failed   int     // rows whose state or action the simulator did not take
	State    float64 // mean over rows and dimensions of (s' − ŝ')²
	Reward   float64 // mean over rows of (r − r̂)²
	Combined float64 // ½(State + Reward)

	Relative       float64   // State with each dimension in units of its variance in real s'
	Change         float64   // State with each dimension in units of the variance of real s' − s, the mean over dimensions that change
	EachChange     []float64 // Change of each dimension
	RewardRelative float64   // Reward in units of the variance of real r
	ConstantChange float64   // Change of the constant guess
	ConstantReward float64   // RewardRelative of the constant guess

	Each []float32 // ½(mean Δs'² + Δr²) of each row
}

// Error compares the predicted transitions with the true ones.
func (s Simulated) Error(shape replay.Shape, ref Reference) DynamicsError {
	o, width, reward := shape.Obs, shape.Width(), shape.Obs+shape.Act
	n := s.Rows(shape)
	e := DynamicsError{Rows: n, Failed: s.Failed, Each: make([]float32, n)}
	squares, guessed := make([]float64, o), make([]float64, o) // mean of Δs'² by dimension, and the same of the constant guess
	reward2 := 0.0                                             // mean of Δr² of the constant guess
	for i := range n {
		predicted, truth := s.Predicted[i*width:], s.True[i*width:]
		state := 0.0
		for k := range o {
			d := float64(predicted[reward+1+k]) - float64(truth[reward+1+k])
			state += d * d / float64(o)
			squares[k] += d * d / float64(n)
			if ref.MeanChange != nil {
				g := float64(truth[reward+1+k]) - float64(truth[k]) - ref.MeanChange[k]
				guessed[k] += g * g / float64(n)
			}
		}
		g := float64(truth[reward]) - ref.MeanReward
		reward2 += g * g / float64(n)
		d := float64(predicted[reward]) - float64(truth[reward])
		e.State, e.Reward = e.State+state/float64(n), e.Reward+d*d/float64(n)
		e.Each[i] = float32((state + d*d) / 2)
	}
	e.Combined = (e.State + e.Reward) / 2
	e.RewardRelative = over(e.Reward, ref.Reward)
	e.EachChange = make([]float64, o)
	changing := 0
	for k, square := range squares {
		if ref.Next[k] > 0 {
			e.Relative += square / ref.Next[k] / float64(o)
		}
		e.EachChange[k] = over(square, ref.Change[k])
		if ref.Change[k] > 0 {
			e.Change += e.EachChange[k]
			e.ConstantChange += guessed[k] / ref.Change[k]
			changing++
		}
	}
	e.Change, e.ConstantChange = over(e.Change, float64(changing)), over(e.ConstantChange, float64(changing))
	e.ConstantReward = over(reward2, ref.Reward)
	return e
}

func over(x, by float64) float64 {
	if by == 0 {
		return math.NaN()
	}
	return x / by
}

// Scatter holds the mean and the variance of each column of rows.
type Scatter struct{ Mean, Variance []float64 }

// Spread returns the scatter of the first width columns of n rows. A column of equal
// numbers has variance 0, even if their mean is rounded.
func Spread(n, width int, row func(i int) []float32) Scatter {
	s := Scatter{Mean: make([]float64, width), Variance: make([]float64, width)}
	for i := range n {
		for k, v := range row(i)[:width] {
			s.Mean[k] += float64(v) / float64(n)
		}
	}
	for i := range n {
		for k, v := range row(i)[:width] {
			d := float64(v) - s.Mean[k]
			s.Variance[k] += d * d / float64(n)
		}
	}
	const rounding = 1e-10 // float32 that differ have a larger relative deviation, over fewer than 10⁵ rows
	for k, v := range s.Variance {
		if v < rounding*rounding*s.Mean[k]*s.Mean[k] {
			s.Variance[k] = 0
		}
	}
	return s
}
