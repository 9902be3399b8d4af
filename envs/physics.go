package envs

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// Numbers of mjtJoint and mjtIntegrator.
const (
	jointHinge    = 3
	integratorRK4 = 1
)

// order is how a collection of tasks divides a step of the physics. The observations
// after a step depend on it.
type order int

const (
	// suiteOrder is dm_control's (dm_control/mujoco/engine.py, legacy_step): after
	// a control step, everything that depends on position and velocity belongs to
	// the new state, while accelerations and contact forces are those of the last
	// physics step's start.
	suiteOrder order = iota
	// gymOrder is that of OpenAI Gym (gym/envs/mujoco/mujoco_env.py,
	// do_simulation): whole steps; only positions and velocities are up to date.
	gymOrder
)

// skipped are parts of the engine that are switched off for built-in bodies. The search for contacts by trees of
// boxes, useful for bodies with many geoms, and the solution by groups of bodies that touch,
// useful for many bodies, change no result beyond rounding and cost up to a quarter of a step
// of these small bodies. The automatic reset is off because a state that is not finite is an
// error here.
const skipped = mujoco.DisableMidphase | mujoco.DisableIsland | mujoco.DisableAutoReset

// physics is a body in the simulator.
type physics struct {
	*mujoco.Data
	model    *mujoco.Model
	order    order
	halves   bool   // whether a control step begins with the second half of a physics step
	flags    int    // parts that are switched off (mjtDisableBit)
	controls []span // [nu] ranges of the actuators
	joints   []joint
}

// written is nil: most tasks write nothing into the model.
func (p *physics) written() []float64 { return nil }

// show writes the positions but the first skipped ones, then the velocities, and returns how many numbers
// these are.
func (p *physics) show(obs []float64, skipped int) int {
	n := copy(obs, p.QPos[skipped:])
	return n + copy(obs[n:], p.QVel)
}

// take reads what show wrote. The skipped positions stay at the origin.
func (p *physics) take(obs []float64, skipped int) error {
	n := copy(p.QPos[skipped:], obs)
	copy(p.QVel, obs[n:])
	return nil
}

// span is a closed interval.
type span struct{ low, high float64 }

func (s span) draw(r *rand.Rand) float64 { return s.low + (s.high-s.low)*r.Float64() }

// nearest adds whole turns to an angle to bring it as near as possible to the middle of the
// span. A joint with such limits can have no other of these angles.
func (s span) nearest(angle float64) float64 {
	middle := (s.low + s.high) / 2
	return angle - 2*math.Pi*math.Round((angle-middle)/(2*math.Pi))
}

// joint is a joint of the model; hinges and slides have one position.
type joint struct {
	kind    int32 // mjtJoint
	at      int32 // its first place in qpos
	limited bool
	limits  span // radians or metres
}

func newPhysics(in *mujoco.Instance, t *Task) (*physics, error) {
	m, err := t.compile(in)
	if err != nil {
		return nil, err
	}
	d, err := m.Data()
	if err != nil {
		return nil, err
	}
	p := &physics{Data: d, model: m, order: t.order}
	integrator, err := m.Integrator()
	if err != nil {
		return nil, err
	}
	p.halves = t.order == suiteOrder && integrator != integratorRK4 // mj_step2 makes no step of RK4
	if p.flags, err = m.Disabled(); err != nil {
		return nil, err
	}
	p.flags |= t.skipped()
	if err := m.Disable(p.flags); err != nil {
		return nil, err
	}
	controls, err := m.Float64s("actuator_ctrlrange")
	if err != nil {
		return nil, err
	}
	for i := range m.NU {
		p.controls = append(p.controls, span{controls[2*i], controls[2*i+1]})
	}
	return p, p.describeJoints()
}

func (p *physics) describeJoints() error {
	kinds, err := p.model.Int32s("jnt_type")
	if err != nil {
		return err
	}
	limits, err := p.model.Float64s("jnt_range")
	if err != nil {
		return err
	}
	places, err := p.model.Int32s("jnt_qposadr")
	if err != nil {
		return err
	}
	for i, kind := range kinds {
		s := span{limits[2*i], limits[2*i+1]}
		p.joints = append(p.joints, joint{kind: kind, at: places[i], limited: s.low < s.high, limits: s})
	}
	return nil
}

// step makes a control step of n physics steps under the present controls. Sensors are
// computed only in the last one, because earlier values are not read.
func (p *physics) step(n int) error {
	if n > 1 && p.model.NSensorData > 0 {
		if err := p.model.Disable(p.flags | mujoco.DisableSensor); err != nil {
			return err
		}
	}
	for k := range n {
		if k > 0 && k == n-1 && p.model.NSensorData > 0 {
			if err := p.model.Disable(p.flags); err != nil {
				return err
			}
		}
		if err := p.substep(k); err != nil {
			return errors.Join(err, p.model.Disable(p.flags))
		}
	}
	if p.order == gymOrder {
		return nil
	}
	return p.Step1()
}

// substep makes physics step k of a control step. With halves, the first one
// completes the Step1 that ended the control step before.
func (p *physics) substep(k int) error {
	if k == 0 && p.halves {
		return p.Step2()
	}
	return p.Step()
}

// forward computes everything from the state with the actuators switched off, as needed
// around the start of an episode.
func (p *physics) forward() error {
	if err := p.model.Disable(p.flags | mujoco.DisableActuation); err != nil {
		return err
	}
	return errors.Join(p.Forward(), p.model.Disable(p.flags))
}

// prepare computes the quantities that the next control step builds on, after a state was
// written. In gymOrder it builds on none of them, but the body is drawn by them.
func (p *physics) prepare() error { return p.Step1() }

// limit is the magnitude from which MuJoCo calls a number bad (mjMAXVAL).
const limit = 1e10

// diverged returns an error for a simulation that has diverged: a number of the state is
// not finite or beyond MuJoCo's limit, or the engine has warned of something.
func (p *physics) diverged() error {
	for _, part := range [...]struct {
		name string
		x    []float64
	}{{"position", p.QPos}, {"velocity", p.QVel}, {"acceleration", p.QAcc}, {"activation", p.Act}} {
		for i, x := range part.x {
			if !(math.Abs(x) < limit) {
				return &Diverged{fmt.Sprintf("%s %d is %v", part.name, i, x)}
			}
		}
	}
	if w := p.Warning(); w != "" {
		return &Diverged{"MuJoCo warns of " + w}
	}
	return nil
}

// Diverged is the error of a simulation that has diverged, wrapped by a description of the
// failed operation. The episode is over; a Reset starts the next one as usual.
type Diverged struct{ Reason string }

func (d *Diverged) Error() string { return "the simulation diverged: " + d.Reason }

// EpisodeLost says that only the episode is lost.
func (d *Diverged) EpisodeLost() bool { return true }

// drawJoints draws every limited joint from its range and every free hinge from
// the whole turn; free slides stay (dm_control/suite/utils/randomizers.py).
func (p *physics) drawJoints(r *rand.Rand) {
	for _, j := range p.joints {
		switch {
		case j.limited:
			p.QPos[j.at] = j.limits.draw(r)
		case j.kind == jointHinge:
			p.QPos[j.at] = span{-math.Pi, math.Pi}.draw(r)
		}
	}
}
