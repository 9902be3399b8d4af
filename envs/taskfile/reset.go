package taskfile

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"

	"pgrlab/core/formula"
	"pgrlab/envs/mujoco"
)

// Random functions, by their slots.
const (
	drawUniform = iota
	drawNormal
	drawLimited
)

var draws = map[string]formula.Random{
	"uniform": {Slot: drawUniform, Params: 2}, // from, to
	"normal":  {Slot: drawNormal, Params: 2},  // mean, deviation
	"limited": {Slot: drawLimited},            // positions, those of joints with limits drawn between these
}

// starting is the vocabulary of a formula for an array of the start state: with random numbers, one
// for each element.
type starting struct {
	*vocabulary
	target string
	width  int
}

// Random is of formula.Draws.
func (s starting) Random(name string) (formula.Random, bool) {
	d, known := draws[name]
	if name == "limited" && s.target != "qpos" {
		return d, false
	}
	d.Width = s.width
	return d, known
}

// limit is a joint with limits that has one position.
type limit struct {
	at        int // in qpos
	low, high float64
}

// Numbers of mjtJoint.
const (
	jointSlide = 2
	jointHinge = 3
)

// limitsOf are the slides and hinges with limits, in the order of the model.
func limitsOf(m *mujoco.Model) (all []limit, err error) {
	kinds, err := m.Int32s("jnt_type")
	if err != nil {
		return nil, err
	}
	kinds = slices.Clone(kinds)
	places, err := m.Int32s("jnt_qposadr")
	if err != nil {
		return nil, err
	}
	places = slices.Clone(places)
	ranges, err := m.Float64s("jnt_range")
	if err != nil {
		return nil, err
	}
	for i, kind := range kinds {
		if low, high := ranges[2*i], ranges[2*i+1]; (kind == jointSlide || kind == jointHinge) && low < high {
			all = append(all, limit{int(places[i]), low, high})
		}
	}
	return all, nil
}

var errLimitedInList = errors.New("limited() stands for all of qpos: write it outside of [ ]")

// Draw is of formula.Drawer.
func (b *body) Draw(dst []float64, slot int, args [][]float64) {
	switch slot {
	case drawUniform:
		for i := range dst {
			low := element(args[0], i)
			dst[i] = low + (element(args[1], i)-low)*b.rand.Float64()
		}
	case drawNormal:
		for i := range dst {
			dst[i] = element(args[0], i) + element(args[1], i)*b.rand.NormFloat64()
		}
	case drawLimited:
		if len(dst) != len(b.qpos0) {
			b.wrong = errLimitedInList
			return
		}
		copy(dst, b.qpos0)
		for _, l := range b.task.limits {
			dst[l.at] = l.low + (l.high-l.low)*b.rand.Float64()
		}
	}
}

// element is an argument for element i.
func element(x []float64, i int) float64 {
	if len(x) == 1 {
		return x[0]
	}
	return x[i]
}

// Start draws the start state: qpos, qvel and mocap_pos, those that the document names.
func (b *body) Start(r *rand.Rand) error {
	b.rand, b.wrong = r, nil
	b.present()
	for i := range b.starts {
		s, into := &b.starts[i], *b.targets[i]
		if err := s.fill(into); err != nil {
			return cmp.Or(b.wrong, err)
		}
	}
	return b.wrong
}
