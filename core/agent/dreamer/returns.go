package dreamer

import "slices"

// judge computes the returns of what was imagined, the weight of each of its env steps, and the returns along
// the replayed looks (dreamerv3/agent.py: imag_loss, repl_loss, lambda_return), and moves the range of returns.
func (b *batch) judge(c Config, returns span) span {
	rows, steps := c.rows(), c.Imagine
	for r := range rows {
		weight, ret := 1.0, float64(b.imagined[steps].value[r])
		for i := range b.imagined {
			weight *= float64(b.imagined[i].continues[r])
			b.imagined[i].weight[r] = float32(weight)
		}
		for i := steps - 1; i >= 0; i-- {
			next := &b.imagined[i+1]
			ret = float64(next.reward[r]) + float64(next.continues[r])*((1-lambda)*float64(next.value[r])+lambda*ret)
			b.ret[i*rows+r] = float32(ret)
		}
	}
	b.alongReplay(c)
	copy(b.sorted, b.ret)
	slices.Sort(b.sorted)
	returns.Low += moveRange * (percentile(b.sorted, lowest) - returns.Low)
	returns.High += moveRange * (percentile(b.sorted, highest) - returns.High)
	return returns
}

// alongReplay computes the returns along the replayed looks; what would come after each of them is the first
// imagined return there.
func (b *batch) alongReplay(c Config) {
	n := c.Sequences
	copy(b.replayed[(c.Length-1)*n:], b.ret[(c.Length-1)*n:c.Length*n])
	for r := (c.Length-1)*n - 1; r >= 0; r-- {
		next := r + n
		on, goes := 1-1.0/horizon, lambda
		if b.terminal[next] {
			on = 0
		}
		if b.last[next] {
			goes = 0
		}
		b.replayed[r] = float32(float64(b.reward[next]) + on*((1-goes)*float64(b.ret[next])+goes*float64(b.replayed[next])))
	}
}

// percentile interpolates linearly between sorted numbers.
func percentile(sorted []float32, share float64) float64 {
	at := share * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return float64(sorted[below]) + (at-float64(below))*(float64(sorted[above])-float64(sorted[below]))
}
