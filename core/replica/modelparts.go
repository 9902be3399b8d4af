package replica

import (
	"fmt"
	"math"

	"pgrlab/core/relevance"
)

// partsOf is how many parts an update of the model of that name has; 1 if it is made at once.
func partsOf(r *Replica, name string) int {
	if p, cut := r.models[name].(relevance.Parted); cut {
		return p.Parts()
	}
	return 1
}

// beginParts makes an update of the model of that name due. The parts of an earlier update, whose
// warm-up was given up, are dropped. Only the frames of its batch stay in the statistics of RND's
// whitening, which a new first part adds its own to.
func beginParts(r *Replica, name string) {
	s := r.stateOf(name)
	s.Due, s.Made = true, 0
}

// PartsDue is how many parts are left of r's updates of trained models that are due. They are made by
// TrainPart, before anything else uses the models.
func PartsDue(r *Replica) (parts int) {
	for _, s := range r.Models {
		if s.Due {
			parts += max(1, partsOf(r, s.Name)-s.Made)
		}
	}
	return parts
}

// TrainPart makes the next part of an update of r's models that is due, if there is one.
func TrainPart(r *Replica) error {
	for _, s := range r.Models {
		if s.Due {
			return trainPart(r, s.Name)
		}
	}
	return nil
}

// trainPart makes the next part of an update of the model of that name, on the update's batch. The
// last one ends the update, and so does an error.
func trainPart(r *Replica, name string) error {
	m, cut := r.models[name].(relevance.Parted)
	if !cut {
		return fmt.Errorf("train %s: it has no updates in parts", name)
	}
	if err := fillModel(r, name, m.Batch()); err != nil { // the same at each part: a loaded run goes on with any
		return err
	}
	s := r.stateOf(name)
	loss, err := m.TrainPart(s.Made)
	if s.Made++; err == nil && math.IsNaN(loss) {
		return nil
	}
	s.Due, s.Made = false, 0
	return modelUpdated(r, name, loss, err)
}

// warmPart makes the part of a warm-up that follows the first done ones. If an update has ended early,
// with an error that the run goes on from, its other parts do nothing.
func warmPart(r *Replica, name string, done, owed int) (err error) {
	s, parts := r.stateOf(name), partsOf(r, name)
	if done == 0 {
		s.Made = 0
	}
	if ended := s.Made == 0 && done%parts > 0; !ended {
		err = trainPart(r, name)
	}
	s.Missed = (owed - done - 1 + parts - 1) / parts
	return err
}
