package taskfile

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pgrlab/core/formula"
	"pgrlab/envs/mujoco"
)

// body is a task bound to one copy of its model. It is an envs.Behaviour, and gives its formulas
// their numbers.
type body struct {
	task *File
	data *mujoco.Data

	from    []*[]float64 // where the numbers of each source are
	clock   []float64
	qpos0   []float64
	earlier []earlier
	moving  bool // formulas ask for velocities of subtrees
	timed   bool // formulas ask for the time or the step

	observe           []evaluation
	reward, terminate *evaluation
	starts            []evaluation
	targets           []*[]float64 // of starts

	rand  *rand.Rand // of the episode that starts
	wrong error      // what its random functions were asked for in vain
}

// earlier is an array as it was when the control step began.
type earlier struct {
	now  *[]float64
	then []float64
}

// evaluation is a formula with a machine of its own.
type evaluation struct {
	what    string // observe, reward
	machine *formula.Machine
	width   int
}

// bind binds the task to a state of its model.
func (f *File) bind(d *mujoco.Data) (*body, error) {
	b := &body{task: f, data: d, clock: make([]float64, clockSize), qpos0: f.qpos0}
	b.clock[clockDt] = f.dt
	arrays := map[string]*[]float64{clock: &b.clock, reference: &b.qpos0}
	before := map[string]*[]float64{}
	for _, s := range f.words.sources {
		now := arrays[s.array]
		if now == nil {
			var err error
			if now, err = d.View(s.array); err != nil {
				return nil, err
			}
			arrays[s.array] = now
		}
		if s.previous && before[s.array] == nil {
			then := make([]float64, len(*now))
			before[s.array] = &then
			b.earlier = append(b.earlier, earlier{now, then})
		}
		b.moving = b.moving || s.array == subtreeVel
		b.timed = b.timed || s.array == clock && s.from != clockDt
		if s.previous {
			now = before[s.array]
		}
		b.from = append(b.from, now)
	}
	machine := func(what string, p *formula.Program) evaluation {
		return evaluation{what, p.Machine(b, 1), p.Width()}
	}
	for _, p := range f.observe {
		b.observe = append(b.observe, machine("observe", p))
	}
	reward := machine("reward", f.reward)
	b.reward = &reward
	if f.terminate != nil {
		terminate := machine("terminate", f.terminate)
		b.terminate = &terminate
	}
	for _, s := range f.starts {
		into := map[string]*[]float64{"qpos": &d.QPos, "qvel": &d.QVel, "mocap_pos": &d.MocapPos}[s.target]
		b.starts, b.targets = append(b.starts, machine("reset."+s.target, s.program)), append(b.targets, into)
	}
	return b, nil
}

// Read is of formula.Values.
func (b *body) Read(dst []float64, slot, element, _, _ int) {
	copy(dst, (*b.from[slot])[b.task.words.sources[slot].from+element:])
}

// present brings up to date what the formulas ask for and the engine does not compute by itself.
func (b *body) present() error {
	if b.moving {
		if err := b.data.SubtreeVel(); err != nil {
			return err
		}
	}
	if b.timed {
		now, err := b.data.Time()
		if err != nil {
			return err
		}
		b.clock[clockTime], b.clock[clockStep] = now, math.Round(now/b.clock[clockDt])
	}
	return nil
}

// Depart keeps what formulas want to know about the beginning of a control step.
func (b *body) Depart() {
	if len(b.earlier) == 0 {
		return
	}
	b.present()
	for _, e := range b.earlier {
		copy(e.then, *e.now)
	}
}

// Earlier are the arrays that Depart fills.
func (b *body) Earlier() (all [][]float64) {
	for _, e := range b.earlier {
		all = append(all, e.then)
	}
	return all
}

// Observe writes the observation.
func (b *body) Observe(obs []float64) error {
	if err := b.present(); err != nil {
		return err
	}
	for i := range b.observe {
		o := &b.observe[i]
		n := max(1, o.width)
		if err := o.fill(obs[:n]); err != nil {
			return err
		}
		obs = obs[n:]
	}
	return nil
}

// Reward judges the step that Observe has seen.
func (b *body) Reward() (float64, error) {
	var x [1]float64
	err := b.reward.fill(x[:])
	return x[0], err
}

// Fallen says whether the state that Observe has seen ends the episode.
func (b *body) Fallen() (bool, error) {
	if b.terminate == nil {
		return false, nil
	}
	return b.terminate.machine.Truth(), nil
}

// fill evaluates a formula; one number goes to all of dst. The error says why a number is not finite.
func (e *evaluation) fill(dst []float64) error {
	if e.width == 0 {
		x := e.machine.Number()
		for i := range dst {
			dst[i] = x
		}
	} else {
		e.machine.Vector(dst)
	}
	for _, x := range dst {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s is %v: %s", e.what, x, e.machine.Trouble(0))
		}
	}
	return nil
}
