package envs

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// The common part of the -v2 tasks of OpenAI Gym 0.23 (gym/envs/mujoco): a planar body
// that runs along x. An observation consists of the positions except x, then the
// velocities. The reward is the speed along x, plus a bonus for being alive, minus a cost
// of the controls.

// Constants of gym/envs/mujoco/{hopper,walker2d,half_cheetah}.py.
const (
	gymSpeedClip  = 10 // m/s and radians/s: velocities are shown up to here (Hopper, Walker2d)
	gymStartNoise = 0.005
)

// runner is the body of such a task.
type runner struct {
	*physics
	duration float64 // duration of a control step, seconds
	price    float64 // weight of the sum of squared controls
	bonus    float64 // bonus of every step alive
	from     *float64
}

// newRunner makes a runner; substeps is Gym's frame_skip.
func newRunner(p *physics, substeps int, price, bonus float64) (runner, error) {
	dt, err := p.model.Timestep()
	return runner{p, dt * float64(substeps), price, bonus, new(float64)}, err
}

// depart records where the control step begins.
func (r runner) depart() { *r.from = r.QPos[0] }

func (r runner) reward() float64 {
	squares := 0.0
	for _, c := range r.Ctrl {
		squares += c * c
	}
	return (r.QPos[0]-*r.from)/r.duration + r.bonus - r.price*squares
}

// place puts the body at x = 0, because running does not depend on the position.
func (r runner) place(obs []float64) error { return r.take(obs, 1) }

// legged is a runner that can fall. Its velocities are shown clipped at gymSpeedClip.
type legged struct {
	runner
	stands func(height, angle float64) bool
}

func newLegged(p *physics, substeps int, price, bonus float64, stands func(height, angle float64) bool) (legged, error) {
	r, err := newRunner(p, substeps, price, bonus)
	return legged{r, stands}, err
}

// start adds noise to the start pose.
func (l legged) start(source *rand.Rand) error {
	for _, part := range [][]float64{l.QPos, l.QVel} {
		for i := range part {
			part[i] += span{-gymStartNoise, gymStartNoise}.draw(source)
		}
	}
	return nil
}

func (l legged) observe(obs []float64) {
	n := copy(obs, l.QPos[1:])
	for i, v := range l.QVel {
		obs[n+i] = min(max(v, -gymSpeedClip), gymSpeedClip)
	}
}

// place refuses a velocity at its bound, because it may have been any value beyond.
func (l legged) place(obs []float64) error {
	for i, v := range obs[len(l.QPos)-1:] {
		if math.Abs(v) >= gymSpeedClip {
			return fmt.Errorf("velocity %d is %v: velocities are clipped at %d, so the state does not follow", i, v, gymSpeedClip)
		}
	}
	return l.runner.place(obs)
}

func (l legged) fallen() bool { return !l.stands(l.QPos[1], l.QPos[2]) }

// gymLook holds the colours of Gym's bodies, and its floor without the texture.
const gymLook = `
  <asset>
    <material name="MatPlane" rgba=".4 .4 .4 1" reflectance=".5" shininess="1" specular="1"/>
    <material name="geom" rgba=".8 .6 .4 1"/>
  </asset>`

// gymLight is the light that all of them have.
const gymLight = `
    <light cutoff="100" diffuse="1 1 1" dir="0 0 -1.3" directional="true" exponent="1" pos="0 0 1.3" specular=".1 .1 .1"/>`
