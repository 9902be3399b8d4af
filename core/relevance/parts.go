package relevance

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// Parted is a Trained whose update may be so much work that it is made in parts, each of some rows
// of the batch: a command need not wait for all of it. Train makes all parts.
type Parted interface {
	Trained
	// Parts is how many parts an update has, at least one.
	Parts() int
	// TrainPart makes the part of an update that follows the first done ones, all of them on the
	// same Batch. The last part makes the step and returns the loss of the update; the others return
	// NaN. After Load it makes the done ones again, because a file has no gradients. If done is more
	// than the update has parts here, it makes the last one. An error ends the update.
	TrainPart(done int) (loss float64, err error)
}

// updatePart is the program for some rows of an update's batch.
type updatePart struct {
	program     *plan.Program
	in          *op.Node
	first, rows int // of the batch
}

// partsOf returns how many rows each part of a batch has: at most slice, equally many but for the
// last part. A slice of 0 stands for all of them, and so does a device that does not need the host
// between programs: it is so quick that a command can wait for all.
func partsOf(batch, slice int, dev device.Device) (rows []int) {
	if _, whole := dev.(device.Sequencer); whole || slice < 1 || slice >= batch {
		return []int{batch}
	}
	parts := (batch + slice - 1) / slice
	each := (batch + parts - 1) / parts
	for ; batch > each; batch -= each {
		rows = append(rows, each)
	}
	return append(rows, batch)
}

// learnInParts compiles an update like learn, in parts of that many rows. build returns the input
// and the loss of a part, its share of that of all rows. The gradients of all parts are added before
// the step.
func (t *trainer) learnInParts(weights, trained []*op.Tensor, lr float64, rows []int, build func(g *op.Graph, rows int) (in, loss *op.Node)) (parts []updatePart, err error) {
	if err := plan.Push(t.device, weights...); err != nil {
		return nil, err
	}
	t.optimise(trained, lr)
	var sums *plan.Gradients
	if len(rows) > 1 {
		sums = plan.NewGradients(trained)
	}
	first := 0
	for i, n := range rows {
		p := updatePart{first: first, rows: n}
		first += n
		if i > 1 && i < len(rows)-1 { // as the one before
			p.program, p.in = parts[1].program, parts[1].in
			parts = append(parts, p)
			continue
		}
		var spec plan.Spec
		g, err := op.Build(t.name+" update", func(g *op.Graph) { p.in, spec.Loss = build(g, n) })
		if err != nil {
			return parts, err
		}
		if i > 0 {
			spec.Collected = sums
		}
		if i < len(rows)-1 {
			spec.Collect, spec.Finite = sums, []*op.Node{spec.Loss}
		} else {
			spec.Optimiser = t.optimiser
		}
		if p.program, err = plan.Compile(g, spec, t.device); err != nil {
			return parts, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// run makes a part and returns its loss.
func (p *updatePart) run(name string) (loss float64, err error) {
	if err := p.program.Run(0); err != nil {
		return 0, fmt.Errorf("train %s: %w", name, err)
	}
	return p.program.Loss(), nil
}
