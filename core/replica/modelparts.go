package replica

import (
	"fmt"
	"math"

	"pgrlab/core/knob"
)

// parts is how many parts an update of the model of that name has; 1 if it is made at once.
func (o *Functions) parts(name string) int {
	if m := o.built[name]; m != nil {
		return m.Parts()
	}
	return 1
}

// beginParts makes an update of the model of that name due. The parts of an earlier update, whose
// warm-up was given up, are dropped. Only the frames of its batch stay in the statistics of RND's
// whitening, which a new first part adds its own to.
func (o *Functions) beginParts(name string) {
	r := o.of
	s := r.stateOf(name)
	s.Due, s.Made = true, 0
}

// modelParts are the updates of relevance models that are too large for one slice; the step has made
// all others. They are made before anything else uses the models.
type modelParts struct{ *Functions }

// phase is the phase of these updates. One that fails ends before all of its parts are made.
func (p modelParts) phase() Phase {
	return Phase{
		At: knob.Model, Doing: "train models",
		Due:   func(Now) bool { return p.left() > 0 },
		Start: func(Now) (int, error) { return p.left(), nil },
		Slice: func(Now, int) (n int, ended bool, err error) {
			n = min(1, p.left())
			err = p.train()
			return n, p.left() == 0, err
		},
	}
}

// left is how many parts are left of the updates that are due.
func (p modelParts) left() (parts int) {
	for _, s := range p.of.Models {
		if s.Due {
			parts += max(1, p.parts(s.Name)-s.Made)
		}
	}
	return parts
}

// train makes the next part of an update that is due, if there is one.
func (p modelParts) train() error {
	for _, s := range p.of.Models {
		if s.Due {
			return p.trainPart(s.Name)
		}
	}
	return nil
}

// trainPart makes the next part of an update of the model of that name, on the update's batch. The
// last one ends the update, and so does an error.
func (o *Functions) trainPart(name string) error {
	r := o.of
	m := o.built[name]
	if m == nil || m.Parted == nil {
		return fmt.Errorf("train %s: it has no updates in parts", name)
	}
	if err := o.fill(name, m.Steps.Batch()); err != nil { // the same at each part: a loaded run goes on with any
		return err
	}
	s := r.stateOf(name)
	loss, err := m.Parted.TrainPart(s.Made)
	if s.Made++; err == nil && math.IsNaN(loss) {
		return nil
	}
	s.Due, s.Made = false, 0
	return o.updated(name, loss, err)
}

// warmPart makes the part of a warm-up that follows the first done ones. If an update has ended early,
// with an error that the run goes on from, its other parts do nothing.
func (o *Functions) warmPart(name string, done, owed int) (err error) {
	r := o.of
	s, parts := r.stateOf(name), o.parts(name)
	if done == 0 {
		s.Made = 0
	}
	if ended := s.Made == 0 && done%parts > 0; !ended {
		err = o.trainPart(name)
	}
	s.Missed = (owed - done - 1 + parts - 1) / parts
	return err
}
