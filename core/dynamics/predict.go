package dynamics

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// predictor is the served network for a number of rows of each elite.
type predictor struct {
	*plan.Program
	x, mean, logVariance *op.Node // [E,R,I], [E,R,D]
	rows                 int
}

func (e *Ensemble) newPredictor(rows int) (*predictor, error) {
	p, c := &predictor{rows: rows}, e.config
	g, err := op.Build(fmt.Sprintf("%s, %d rows of each elite", e.name, rows), func(g *op.Graph) {
		p.x = g.Input("x", c.Elites, rows, c.In)
		p.mean, p.logVariance = e.served.apply(g, p.x)
	})
	if err != nil {
		return nil, err
	}
	p.Program, err = plan.Compile(g, plan.Spec{Outputs: []*op.Node{p.mean, p.logVariance}}, e.device)
	return p, err
}

// share is how many of n rows, divided among elites at random, one of them gets at most in nearly all
// cases: four deviations above the mean.
func share(n, elites int) int {
	mean := float64(n) / float64(elites)
	return min(n, int(math.Ceil(mean+4*math.Sqrt(mean))))
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
	c := e.config
	p, err := e.predictor.Of(share(len(which), c.Elites))
	if err != nil {
		return err
	}
	x, mean, logVariance := p.Data(p.x), p.Data(p.mean), p.Data(p.logVariance)
	places, filled := make([]int, len(which)), make([]int, c.Elites)
	for first := 0; first < len(which); {
		clear(filled)
		last := first
		for ; last < len(which); last++ {
			elite := int(which[last])
			if elite == None {
				continue
			}
			if filled[elite] == p.rows {
				break // the others wait for the next call
			}
			at := elite*p.rows + filled[elite]
			places[last] = at
			filled[elite]++
			e.serving.Inputs.standardise(x[at*c.In:(at+1)*c.In], in[last*c.In:(last+1)*c.In])
		}
		if err := p.Run(0); err != nil {
			return err
		}
		for i := first; i < last; i++ {
			if which[i] == None {
				continue
			}
			for j := range c.Out {
				k := places[i]*c.Out + j
				v := float64(mean[k]) + math.Exp(float64(logVariance[k])/2)*float64(noise[i*c.Out+j])
				dst[i*c.Out+j] = float32(v*e.serving.Outcomes.Deviation[j] + e.serving.Outcomes.Mean[j])
			}
		}
		first = last
	}
	return nil
}

// lookedAt is how many rows Predict computes together.
const lookedAt = 512

// Predict writes what every elite predicts of the outcomes of n inputs [n,I]: means and variances,
// [E,n,D] each, standardised as the outcomes were that the elites learned.
func (e *Ensemble) Predict(means, variances, in []float32, n int) error {
	if e.serving == nil {
		return errors.New("no fit is complete yet")
	}
	c := e.config
	p, err := e.predictor.Of(min(n, lookedAt))
	if err != nil {
		return err
	}
	x, mean, logVariance := p.Data(p.x), p.Data(p.mean), p.Data(p.logVariance)
	for first := 0; first < n; first += p.rows {
		rows := min(p.rows, n-first)
		for i := range rows {
			e.serving.Inputs.standardise(x[i*c.In:(i+1)*c.In], in[(first+i)*c.In:(first+i+1)*c.In])
		}
		for elite := 1; elite < c.Elites; elite++ {
			copy(x[elite*p.rows*c.In:], x[:rows*c.In])
		}
		if err := p.Run(0); err != nil {
			return err
		}
		for elite := range c.Elites {
			from, to := elite*p.rows*c.Out, (elite*n+first)*c.Out
			copy(means[to:to+rows*c.Out], mean[from:])
			for i, v := range logVariance[from : from+rows*c.Out] {
				variances[to+i] = float32(math.Exp(float64(v)))
			}
		}
	}
	return nil
}
