package analysis

import (
	"fmt"
	"math"

	"pgrlab/core/replay"
)

// Simulator is the true system: it can be set to the state that an observation
// describes, and stepped.
type Simulator interface {
	Place(obs []float32) error
	Step(action, obs []float32) (reward float64, terminated, truncated bool, err error)
}

// DynamicsError says how far transitions are from what the true system would have
// done (Wang et al. 2025, section on the quality of generations; the way in which
// state and reward are put together is that of son9ih/pgr:
// synther/online/online_cond_ddpm_ori.py).
type DynamicsError struct {
	Rows     int     // that could be compared
	Failed   int     // whose state or action the simulator did not take
	State    float64 // mean over rows and dimensions of (s' − ŝ')²
	Reward   float64 // mean over rows of (r − r̂)²
	Combined float64 // ½(State + Reward)
	Relative float64 // State with each dimension in units of its variance; NaN without scale
	Each     []float32
}

// Dynamics steps the simulator from each transition's s by its a, cut off at ±1, and
// compares. rows
// are [s, a, r, s', d] one behind the other; variance is that of each dimension of s'
// in real data, nil if it does not matter. Each holds ½(mean Δs'² + Δr²) of every
// row that could be compared.
func Dynamics(sim Simulator, shape replay.Shape, rows []float32, variance []float64) (DynamicsError, error) {
	if len(rows)%shape.Width() != 0 {
		return DynamicsError{}, fmt.Errorf("dynamics error: %d numbers are no rows of %d", len(rows), shape.Width())
	}
	e := DynamicsError{Each: make([]float32, 0, len(rows)/shape.Width())}
	next, cut := make([]float32, shape.Obs), make([]float32, shape.Act)
	for ; len(rows) > 0; rows = rows[shape.Width():] {
		obs, act := rows[:shape.Obs], rows[shape.Obs:shape.Obs+shape.Act]
		reward, told := rows[shape.Obs+shape.Act], rows[shape.Obs+shape.Act+1:]
		for i, a := range act {
			cut[i] = min(max(a, -1), 1)
		}
		if err := sim.Place(obs); err != nil {
			e.Failed++
			continue
		}
		r, _, _, err := sim.Step(cut, next)
		if err != nil {
			e.Failed++
			continue
		}
		state := 0.0
		for k, want := range next {
			d := float64(told[k]) - float64(want)
			state += d * d / float64(shape.Obs)
			if variance != nil && variance[k] > 0 {
				e.Relative += d * d / variance[k] / float64(shape.Obs)
			}
		}
		d := float64(reward) - r
		e.State, e.Reward = e.State+state, e.Reward+d*d
		e.Each = append(e.Each, float32((state+d*d)/2))
	}
	e.Rows = len(e.Each)
	n := float64(e.Rows)
	e.State, e.Reward, e.Relative = e.State/n, e.Reward/n, e.Relative/n
	e.Combined = (e.State + e.Reward) / 2
	if variance == nil {
		e.Relative = math.NaN()
	}
	return e, nil
}

// With is the error of these rows and of others together.
func (e DynamicsError) With(o DynamicsError) DynamicsError {
	switch {
	case o.Rows == 0:
		e.Failed += o.Failed
		return e
	case e.Rows == 0:
		o.Failed += e.Failed
		return o
	}
	a := float64(e.Rows) / float64(e.Rows+o.Rows)
	mean := func(x, y float64) float64 { return a*x + (1-a)*y }
	return DynamicsError{
		Rows: e.Rows + o.Rows, Failed: e.Failed + o.Failed, State: mean(e.State, o.State), Reward: mean(e.Reward, o.Reward),
		Combined: mean(e.Combined, o.Combined), Relative: mean(e.Relative, o.Relative), Each: append(e.Each, o.Each...),
	}
}

// Scatter is how rows lie: mean and variance of each column.
type Scatter struct{ Mean, Variance []float64 }

// Spread takes the scatter of the first width columns of n rows. A column of equal
// numbers has variance 0, also where their mean is rounded.
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
	const rounding = 1e-10 // float32 that differ do so by more of their size, over fewer than 10⁵ rows
	for k, v := range s.Variance {
		if v < rounding*rounding*s.Mean[k]*s.Mean[k] {
			s.Variance[k] = 0
		}
	}
	return s
}
