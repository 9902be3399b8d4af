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
	jointHinge      = 3
	integratorEuler = 0
	integratorRK4   = 1
)

// physics is a body in the simulator, stepped as dm_control does it
// (dm_control/mujoco/engine.py, legacy_step): after a step, everything that
// depends on position and velocity belongs to the new state, while
// accelerations and contact forces are those of the last physics step's start.
type physics struct {
	*mujoco.Data
	model      *mujoco.Model
	integrator int
	controls   []span // [nu] ranges of the actuators
	joints     []joint
}

// span is a closed interval.
type span struct{ low, high float64 }

func (s span) draw(r *rand.Rand) float64 { return s.low + (s.high-s.low)*r.Float64() }

// joint is a joint of the model; hinges and slides have one position.
type joint struct {
	kind    int32 // mjtJoint
	at      int32 // its first place in qpos
	limited bool
	limits  span // radians or metres
}

func newPhysics(in *mujoco.Instance, mjcf string) (*physics, error) {
	m, err := in.Model(mjcf)
	if err != nil {
		return nil, err
	}
	d, err := m.Data()
	if err != nil {
		return nil, err
	}
	p := &physics{Data: d, model: m}
	if p.integrator, err = m.Integrator(); err != nil {
		return nil, err
	}
	if p.integrator != integratorEuler && p.integrator != integratorRK4 {
		return nil, fmt.Errorf("integrator %d has no step order", p.integrator)
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

// step advances n physics steps under the present controls.
func (p *physics) step(n int) error {
	whole := n
	if p.integrator == integratorEuler {
		whole = n - 1
		if err := p.Step2(); err != nil { // completes the Step1 of last time
			return err
		}
	}
	for range whole {
		if err := p.Step(); err != nil {
			return err
		}
	}
	return p.Step1()
}

// forward computes everything from the state, with the actuators switched off,
// as around the start of an episode.
func (p *physics) forward() error {
	flags, err := p.model.Disabled()
	if err != nil {
		return err
	}
	if err := p.model.Disable(flags | mujoco.DisableActuation); err != nil {
		return err
	}
	return errors.Join(p.Forward(), p.model.Disable(flags))
}

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
