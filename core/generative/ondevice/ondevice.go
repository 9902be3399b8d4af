// Package ondevice makes the gradient steps of a fit on a device that samples their batches itself: several steps are one
// sequence, for which the host waits once.
package ondevice

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// Source is the data of a fit, of which its batches are samples with replacement.
type Source struct {
	Rows, Width int
	Write       func(dst []float32, i int) // row i, [Width]
	Batch       int                        // rows of a batch
	Stream      rng.Stream                 // which at the occasion of a gradient step names the rows of its batch
	Into        []plan.Into                // where the columns of the rows go
}

// Steps are the gradient steps of a fit. An update of the average follows those that are due.
type Steps struct {
	Step, Average *plan.Program
	Due           func(i int) bool // of the i-th of the steps that are made together; nil: there is no average
	Own           []*op.Tensor     // that the host writes for each step, or for each update of the average
}

// Data is the data of a fit in a device's memory, where batches are sampled, and a sequence of gradient steps that the device
// makes without the host.
type Data struct {
	source   Source
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

// Take brings data into the memory of a device that samples batches, with a sequence of n gradient steps. The
// result is nil if n is 0 or the device has no room: then the host samples the batches.
func Take(dev device.Device, s Source, n int, of Steps) (*Data, error) {
	sequencer, can := dev.(device.Sequencer)
	if !can || n == 0 {
		return nil, nil
	}
	o := &Data{source: s, dev: sequencer, mix: device.Mix{First: s.Batch, Held: [2]int{s.Rows}}}
	err := o.prepare(n, of)
	if err == nil {
		return o, nil
	}
	var small *device.OutOfMemory
	if errors.As(err, &small) {
		err = nil
	}
	return nil, errors.Join(err, o.Close())
}

// prepare allocates, compiles and copies.
func (o *Data) prepare(n int, of Steps) (err error) {
	if o.store, err = o.dev.Store(o.source.Rows, o.source.Width); err != nil {
		return err
	}
	r := plan.SampleBatch{From: [2]device.Store{o.store}, Width: o.source.Width, Mix: &o.mix, Into: o.source.Into}
	r.Streams[0] = o.source.Stream
	if o.sample, err = plan.CompileRoutine("sample for "+of.Step.Name, r, o.dev); err != nil {
		return err
	}
	var programs []*plan.Program
	for i := range n {
		programs = append(programs, o.sample, of.Step)
		o.steps, o.averages = append(o.steps, len(programs)-1), append(o.averages, -1)
		if of.Due != nil && of.Due(i) {
			programs = append(programs, of.Average)
			o.averages[i] = len(programs) - 1
		}
	}
	o.at = make([]uint64, len(programs))
	if o.sequence, err = plan.NewSequence(o.dev, programs, of.Own...); err != nil {
		return err
	}
	return o.put()
}

// put copies the rows to the device.
func (o *Data) put() error {
	const most = 4096 // rows of a copy
	lost := o.store.Lost()
	rows := make([]float32, min(most, o.source.Rows)*o.source.Width)
	for first := 0; first < o.source.Rows; first += most {
		n := min(most, o.source.Rows-first)
		for i := range n {
			o.source.Write(rows[i*o.source.Width:(i+1)*o.source.Width], first+i)
		}
		if err := o.store.Put(first, rows[:n*o.source.Width]); err != nil {
			return fmt.Errorf("the data of a fit: %w", err)
		}
	}
	o.lost = lost // only now: rows that could not be put are put again
	return nil
}

// Current puts the rows again if the device has lost them. It does nothing with nil.
func (o *Data) Current() error {
	if o == nil || o.store.Lost() == o.lost {
		return nil
	}
	return o.put()
}

// Due says whether the gradient steps from one on can be made together if at most n are to be made. They cannot with nil.
func (o *Data) Due(step, n int) bool {
	return o != nil && step%len(o.steps) == 0 && n >= len(o.steps)
}

// Run makes the gradient steps, each at the occasion that at returns, and returns the sum of their losses and how many were
// made, which are fewer if one stops at a number that is not finite.
func (o *Data) Run(at func(i int) uint64) (made int, loss float64, err error) {
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

// Sample samples the batch of a single gradient step.
func (o *Data) Sample(at uint64) error { return o.sample.Run(at) }

// Own returns what the i-th gradient step of the next Run reads in the place of a tensor of Steps.Own.
func (o *Data) Own(i int, t *op.Tensor) []float32 { return o.sequence.Own(o.steps[i], t) }

// OwnOfAverage is Own for the update of the average after that step; nil if there is none.
func (o *Data) OwnOfAverage(i int, t *op.Tensor) []float32 {
	if o.averages[i] < 0 {
		return nil
	}
	return o.sequence.Own(o.averages[i], t)
}

// Close gives everything back; it does nothing with nil.
func (o *Data) Close() error {
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
