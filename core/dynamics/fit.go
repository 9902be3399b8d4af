package dynamics

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// Fit are the settings of one fit.
type Fit struct {
	Steps int     // most gradient steps
	Rate  float64 // learning rate of Adam
	Refit uint64  // number of the fit, for its random numbers
	Fresh bool    // starts from initial weights; otherwise weights and moments go on
}

// fit is a fit under way.
type fit struct {
	Fit
	data     Data
	order    order
	held     []int32   // rows that are held out
	training []int32   // the others
	scales   [2]Scale  // of inputs and outcomes
	mean     []float64 // of the outcomes that are learned, standardised
	rows     [][]int32 // of each member in this epoch
	progress
}

// progress is what changes while a fit goes on, as a checkpoint has it.
type progress struct {
	step   int
	since  int       // epochs in a row in which no member improved
	best   []float64 // least held-out error of each member so far in this fit
	kept   []float32 // the members' weights at that time, as members holds them, one member after the other
	latest []float64 // held-out error after the last epoch

	ordered bool // whether rows are those of this epoch: not after a load
}

// startBest is above every error (mbpo/models/bnn.py).
const startBest = 1e10

// improvement is by which share an error has to fall to count.
const improvement = 0.01

// StartFit begins a fit to data. A fit under way is abandoned.
func (e *Ensemble) StartFit(data Data, f Fit) error {
	return e.startFit(data, f, drawn{e.stream, f.Refit})
}

func (e *Ensemble) startFit(data Data, f Fit, o order) error {
	if err := f.validate(); err != nil {
		return err
	}
	made, err := e.newFit(data, f, o)
	if err != nil {
		return err
	}
	e.fit = nil
	if f.Fresh {
		fresh := newNetwork(e.name+" fresh", e.config, e.config.Members, e.stream.Sub(fmt.Sprintf("refit %d", f.Refit)))
		if err := plan.Copy(e.device, e.model.params(), fresh.params()); err != nil {
			return err
		}
		if err := e.optimiser.Reset(); err != nil {
			return err
		}
	}
	made.best = make([]float64, e.config.Members)
	for i := range made.best {
		made.best[i] = startBest
	}
	made.kept = make([]float32, numbers(e.model.members()))
	e.fit = made
	return nil
}

// validate bounds what a damaged file can ask for.
func (f Fit) validate() error {
	switch {
	case f.Steps < 1 || f.Steps > 1e9:
		return fmt.Errorf("%d gradient steps, want 1 to 1e9", f.Steps)
	case !(f.Rate > 0) || math.IsInf(f.Rate, 0):
		return fmt.Errorf("learning rate %g, want a positive number", f.Rate)
	}
	return nil
}

// newFit splits the rows and measures them.
func (e *Ensemble) newFit(data Data, f Fit, o order) (*fit, error) {
	n := data.Len()
	held := min(int(heldOutShare*float64(n)), mostHeldOut)
	if held < 1 {
		return nil, fmt.Errorf("%d real transitions, want at least %d: a fifth of them is held out", n, int(1/heldOutShare))
	}
	all := o.split(n)
	made := &fit{Fit: f, data: data, order: o, held: all[:held], training: all[held:]}
	var err error
	if made.scales, err = measure(data, f.Refit, e.config.Batch, made.training, e.config.In, e.config.Out); err != nil {
		return nil, err
	}
	made.mean = make([]float64, e.config.Out)
	if !e.config.Scaled {
		made.mean, made.scales[1] = made.scales[1].Mean, unscaled(e.config.Out)
	}
	for range e.config.Members {
		made.rows = append(made.rows, make([]int32, len(made.training)))
	}
	return made, nil
}

// batches is the number of gradient steps in an epoch.
func (f *fit) batches(batch int) int { return (len(f.training) + batch - 1) / batch }

// begin orders the rows of the epoch to which the next step belongs.
func (f *fit) begin(epoch int) {
	for member, rows := range f.rows {
		f.order.rows(rows, member, epoch, len(f.training))
		for i, place := range rows {
			rows[i] = f.training[place]
		}
	}
	f.ordered = true
}

// FitSteps makes up to n gradient steps. It returns their mean loss and whether the fit is complete;
// predictions then come from its elites.
func (e *Ensemble) FitSteps(n int) (loss float64, done bool, err error) {
	f := e.fit
	if f == nil {
		return 0, false, errors.New("no fit is under way")
	}
	made := 0
	for ; made < n && !done; made++ {
		l, ended, err := e.step(f)
		if err != nil {
			return 0, false, fmt.Errorf("step %d: %w", f.step, err)
		}
		loss, done = loss+l, ended
	}
	if done {
		if err := e.finish(f); err != nil {
			return 0, false, err
		}
	}
	return loss / float64(made), done, nil
}

// step makes a gradient step and, after the last one of an epoch, looks at the rows that are held out.
func (e *Ensemble) step(f *fit) (loss float64, done bool, err error) {
	per := f.batches(e.config.Batch)
	at := f.step % per
	if at == 0 || !f.ordered {
		f.begin(f.step / per)
	}
	first := at * e.config.Batch
	rows := min(e.config.Batch, len(f.training)-first)
	e.fill(f, first, rows)
	e.rate.Data[0] = float32(f.Rate)
	if err := e.program.Run(f.Refit<<32 | uint64(f.step)); err != nil {
		return 0, false, err
	}
	if loss = e.program.Loss(); math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, false, fmt.Errorf("loss is %g", loss)
	}
	f.step++
	limit := f.step >= f.Steps
	if at == per-1 || limit {
		if err := e.endEpoch(f); err != nil {
			return 0, false, err
		}
	}
	return loss, limit || f.since > e.config.Patience, nil
}

// fill writes a batch: for each member rows of its own, and weights 1/rows; rows beyond them weigh
// nothing.
func (e *Ensemble) fill(f *fit, first, rows int) {
	c := e.config
	x, y, weights := e.program.Data(e.x), e.program.Data(e.y), e.program.Data(e.weights)
	for i := range weights {
		weights[i] = 0
		if i < rows {
			weights[i] = 1 / float32(rows)
		}
	}
	for member := range c.Members {
		x, y := x[member*c.Batch*c.In:][:c.Batch*c.In], y[member*c.Batch*c.Out:][:c.Batch*c.Out]
		f.data.Learn(Place{f.Refit, f.step, member}, f.rows[member][first:first+rows], x, y)
		f.scales[0].standardise(x[:rows*c.In], x)
		f.scales[1].standardise(y[:rows*c.Out], y)
		clear(x[rows*c.In:])
		clear(y[rows*c.Out:])
	}
}

// pairs writes some rows, standardised.
func (f *fit) pairs(rows []int32, in, out []float32) {
	f.data.Pairs(rows, in, out)
	f.scales[0].standardise(in[:len(rows)*len(f.scales[0].Mean)], in)
	f.scales[1].standardise(out[:len(rows)*len(f.scales[1].Mean)], out)
}

// endEpoch measures the members on the rows that are held out, and keeps the weights of those that
// have improved.
func (e *Ensemble) endEpoch(f *fit) error {
	var err error
	if f.latest, err = e.errors(f); err != nil {
		return err
	}
	improved := false
	for member, now := range f.latest {
		if (f.best[member]-now)/f.best[member] > improvement {
			if !improved {
				if err := plan.Fetch(e.device, e.model.members()...); err != nil {
					return err
				}
			}
			improved, f.best[member] = true, now
			f.keep(member, e.model.members())
		}
	}
	if f.since++; improved {
		f.since = 0
	}
	return nil
}

// keep copies the weights of a member; restore puts them back.
func (f *fit) keep(member int, tensors []*op.Tensor) {
	f.each(member, tensors, func(kept, weights []float32) { copy(kept, weights) })
}

func (f *fit) restore(member int, tensors []*op.Tensor) {
	f.each(member, tensors, func(kept, weights []float32) { copy(weights, kept) })
}

func (f *fit) each(member int, tensors []*op.Tensor, do func(kept, weights []float32)) {
	at := 0
	for _, t := range tensors {
		n := len(t.Data) / t.Shape[0]
		do(f.kept[at+member*n:at+(member+1)*n], t.Data[member*n:(member+1)*n])
		at += len(t.Data)
	}
}

// errors returns the mean squared error of each member over the rows that are held out.
func (e *Ensemble) errors(f *fit) ([]float64, error) {
	c, sums := e.config, make([]float64, e.config.Members)
	x, mean := e.look.Data(e.lookX), e.look.Data(e.lookMean)
	y := make([]float32, len(f.held)*c.Out)
	for first := 0; first < len(f.held); first += lookRows {
		rows := min(lookRows, len(f.held)-first)
		clear(x[rows*c.In:])
		f.pairs(f.held[first:first+rows], x, y[first*c.Out:])
		if err := e.look.Run(0); err != nil {
			return nil, err
		}
		for member := range sums {
			for i, v := range mean[member*lookRows*c.Out:][:rows*c.Out] {
				miss := float64(v) - float64(y[first*c.Out+i])
				sums[member] += miss * miss
			}
		}
	}
	for member := range sums {
		sums[member] /= float64(len(y))
	}
	return sums, nil
}

// constant returns the mean squared error of the mean outcome over the rows that are held out.
func (e *Ensemble) constant(f *fit) (sum float64) {
	in, out := make([]float32, e.config.In), make([]float32, e.config.Out)
	for i := range f.held {
		f.pairs(f.held[i:i+1], in, out)
		for j, v := range out {
			sum += (float64(v) - f.mean[j]) * (float64(v) - f.mean[j])
		}
	}
	return sum / float64(len(f.held)*len(out))
}
