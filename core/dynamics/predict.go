package dynamics

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// predictor is the served network for a number of rows of each elite.
type predictor struct {
	*plan.Program
	x, mean, deviation *op.Node // [E,R,I], [E,R,D]
	rows               int
	taken              []int32 // the row of Sample at each place [E·R]
	filled             []int   // places of each elite in use
}

func (e *Ensemble) newPredictor(rows int) (*predictor, error) {
	c := e.config
	p := &predictor{rows: rows, taken: make([]int32, c.Elites*rows), filled: make([]int, c.Elites)}
	g, err := op.Build(fmt.Sprintf("%s, %d rows of each elite", e.name, rows), func(g *op.Graph) {
		p.x = g.Input("x", c.Elites, rows, c.In)
		mean, logVariance := e.served.apply(g, p.x)
		p.mean, p.deviation = mean, g.Exp(g.Scale(logVariance, 0.5))
	})
	if err != nil {
		return nil, err
	}
	p.Program, err = plan.Compile(g, plan.Spec{Outputs: []*op.Node{p.mean, p.deviation}}, e.device)
	return p, err
}

// A call has this many places for each elite where few rows are left.
const fewPlaces = 64

// share is how many places for each elite a call has for n rows that are divided among elites at random:
// one and a half deviations above the mean. The rows that find no place are left for a small call.
func share(n, elites int) int {
	mean := float64(n) / float64(elites)
	return min(n, max(fewPlaces, int(math.Ceil(mean+1.5*math.Sqrt(mean)))))
}

// None in place of an elite leaves a row out of Sample.
const None = -1

// Sample writes a sample [n,D] of the outcomes of n inputs [n,I], each of the elite that which names
// by its place among them: mean + deviation·noise, in the units of the data. noise is [n,D]. It reads
// only the rows of which[i] ≠ None, and writes only those.
func (e *Ensemble) Sample(dst, in, noise []float32, which []int8) error {
	if e.serving == nil {
		return errors.New("no fit is complete yet")
	}
	e.waiting = e.waiting[:0]
	for i, elite := range which {
		if elite != None {
			e.waiting = append(e.waiting, int32(i))
		}
	}
	for places := share(len(which), e.config.Elites); len(e.waiting) > 0; places = min(places, fewPlaces) {
		p, err := e.predictor.Of(places)
		if err != nil {
			return err
		}
		e.place(p, in, which)
		if err := p.Run(0); err != nil {
			return err
		}
		e.read(p, dst, noise)
	}
	return nil
}

// place writes the inputs of waiting rows to p, standardised, as far as there are places.
func (e *Ensemble) place(p *predictor, in []float32, which []int8) {
	n, x, left := e.config.In, p.Data(p.x), e.waiting[:0]
	clear(p.filled)
	for _, i := range e.waiting {
		elite := int(which[i])
		if p.filled[elite] == p.rows {
			left = append(left, i)
			continue
		}
		at := elite*p.rows + p.filled[elite]
		p.filled[elite]++
		p.taken[at] = i
		e.serving.Inputs.standardise(x[at*n:(at+1)*n], in[int(i)*n:])
	}
	e.waiting = left
}

// read writes the samples of the rows that p had.
func (e *Ensemble) read(p *predictor, dst, noise []float32) {
	n, mean, deviation, scale := e.config.Out, p.Data(p.mean), p.Data(p.deviation), e.serving.Outcomes
	for elite, filled := range p.filled {
		for at := elite * p.rows; at < elite*p.rows+filled; at++ {
			row := int(p.taken[at]) * n
			to, noise, mean, deviation := dst[row:row+n], noise[row:row+n], mean[at*n:(at+1)*n], deviation[at*n:(at+1)*n]
			for j := range to {
				v := float64(mean[j]) + float64(deviation[j])*float64(noise[j])
				to[j] = float32(v*scale.Deviation[j] + scale.Mean[j])
			}
		}
	}
}

// lookedAt is how many rows Predict computes together.
const lookedAt = 512

// Predict writes what every elite predicts of the outcomes of n inputs [n,I]: means and variances,
// [E,n,D] each, standardised as the outcomes were that the elites learned.
func (e *Ensemble) Predict(means, variances, in []float32, n int) error {
	switch {
	case e.serving == nil:
		return errors.New("no fit is complete yet")
	case n < 1:
		return nil
	}
	c := e.config
	p, err := e.predictor.Of(min(1<<bits.Len(uint(n-1)), lookedAt)) // few sizes, as each is compiled
	if err != nil {
		return err
	}
	x, mean, deviation := p.Data(p.x), p.Data(p.mean), p.Data(p.deviation)
	for first := 0; first < n; first += p.rows {
		rows := min(p.rows, n-first)
		e.serving.Inputs.standardise(x[:rows*c.In], in[first*c.In:])
		for elite := 1; elite < c.Elites; elite++ {
			copy(x[elite*p.rows*c.In:], x[:rows*c.In])
		}
		if err := p.Run(0); err != nil {
			return err
		}
		for elite := range c.Elites {
			from, to := elite*p.rows*c.Out, (elite*n+first)*c.Out
			copy(means[to:to+rows*c.Out], mean[from:])
			for i, v := range deviation[from : from+rows*c.Out] {
				variances[to+i] = v * v
			}
		}
	}
	return nil
}
