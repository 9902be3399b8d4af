package generative

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// source is the data of a fit, of which its batches are samples with replacement.
type source struct {
	rows, width int
	write       func(dst []float32, i int) // row i, [width]
	batch       int                        // rows of a batch
	stream      rng.Stream                 // which at the occasion of a gradient step names the rows of its batch
	into        []plan.Into                // where the columns of the rows go
}

// steps are the gradient steps of a fit. An update of the average follows those that are due.
type steps struct {
	step, average *plan.Program
	due           func(i int) bool // of the i-th of the steps that are made together; nil: there is no average
	own           []*op.Tensor     // that the host writes for each step, or for each update of the average
}

// onDevice is the data of a fit in a device's memory, where batches are sampled, and a sequence of gradient steps that the device makes
// without the host.
type onDevice struct {
	source
	dev      device.Sequencer
	store    device.Store
	lost     int // of the store, when its rows were put
	mix      device.Mix
	sample   *plan.Program
	sequence *plan.Sequence
	steps    []int // places of the gradient steps in the sequence
	averages []int // place of the average's update after each step; −1: there is none
	at       []uint64
}

// takeData brings data into the memory of a device that samples batches, with a sequence of n gradient steps. The
// result is nil if n is 0 or the device has no room: then the host samples the batches.
func takeData(dev device.Device, s source, n int, of steps) (*onDevice, error) {
	sequencer, can := dev.(device.Sequencer)
	if !can || n == 0 {
		return nil, nil
	}
	o := &onDevice{source: s, dev: sequencer, mix: device.Mix{First: s.batch, Held: [2]int{s.rows}}}
	err := o.prepare(n, of)
	if err == nil {
		return o, nil
	}
	var small *device.OutOfMemory
	if errors.As(err, &small) {
		err = nil
	}
	return nil, errors.Join(err, o.close())
}

// prepare allocates, compiles and copies.
func (o *onDevice) prepare(n int, of steps) (err error) {
	if o.store, err = o.dev.Store(o.rows, o.width); err != nil {
		return err
	}
	r := plan.SampleBatch{From: [2]device.Store{o.store}, Width: o.width, Mix: &o.mix, Into: o.into}
	r.Streams[0] = o.stream
	if o.sample, err = plan.CompileRoutine("sample for "+of.step.Name, r, o.dev); err != nil {
		return err
	}
	var programs []*plan.Program
	for i := range n {
		programs = append(programs, o.sample, of.step)
		o.steps, o.averages = append(o.steps, len(programs)-1), append(o.averages, -1)
		if of.due != nil && of.due(i) {
			programs = append(programs, of.average)
			o.averages[i] = len(programs) - 1
		}
	}
	o.at = make([]uint64, len(programs))
	if o.sequence, err = plan.NewSequence(o.dev, programs, of.own...); err != nil {
		return err
	}
	return o.put()
}

// put copies the rows to the device.
func (o *onDevice) put() error {
	const most = 4096 // rows of a copy
	o.lost = o.store.Lost()
	rows := make([]float32, min(most, o.rows)*o.width)
	for first := 0; first < o.rows; first += most {
		n := min(most, o.rows-first)
		for i := range n {
			o.write(rows[i*o.width:(i+1)*o.width], first+i)
		}
		if err := o.store.Put(first, rows[:n*o.width]); err != nil {
			return fmt.Errorf("the data of a fit: %w", err)
		}
	}
	return nil
}

// current puts the rows again if the device has lost them. It does nothing with nil.
func (o *onDevice) current() error {
	if o == nil || o.store.Lost() == o.lost {
		return nil
	}
	return o.put()
}

// due says whether the gradient steps from one on can be made together if at most n are to be made. They cannot with nil.
func (o *onDevice) due(step, n int) bool {
	return o != nil && step%len(o.steps) == 0 && n >= len(o.steps)
}

// run makes the gradient steps, each at the occasion that at returns, and returns the sum of their losses and how many were
// made, which are fewer if one stops at a number that is not finite.
func (o *onDevice) run(at func(i int) uint64) (made int, loss float64, err error) {
	for i, step := range o.steps {
		o.at[step-1] = at(i)
		o.at[step] = o.at[step-1]
	}
	if err := o.sequence.Run(o.at); err != nil {
		if stopped, is := errors.AsType[*plan.Stopped](err); is {
			for made < len(o.steps) && o.steps[made] < stopped.Program {
				made++
			}
		}
		return made, 0, err
	}
	for _, step := range o.steps {
		loss += o.sequence.Loss(step)
	}
	return len(o.steps), loss, nil
}

// close gives everything back; it does nothing with nil.
func (o *onDevice) close() error {
	if o == nil {
		return nil
	}
	var err error
	if o.sequence != nil {
		err = o.sequence.Close()
	}
	if o.sample != nil {
		err = errors.Join(err, o.sample.Close())
	}
	if o.store != nil {
		err = errors.Join(err, o.store.Close())
	}
	return err
}
