package envs

import (
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// Constants of dm_control/suite/cartpole.py.
const (
	cartpoleNoise      = 0.01 // m, radians, m/s, radians/s: spread of the start
	cartpoleCentre     = 2    // m, margin of the cart's reward
	cartpoleAngleSpeed = 5    // radians/s, margin of the pole's
)

var cartpoleSwingup = Task{
	Name:         "cartpole-swingup",
	Doc:          "a cart swings its pole up and balances it near the centre",
	ObsSize:      5, // cart position, cosine and sine of the pole, velocities (2)
	ActSize:      1,
	EpisodeSteps: episodeSteps, // 10 s of 0.01 s
	mjcf:         cartpoleModel,
	substeps:     1,
	bind:         bindCartpole,
}

// cartpoleModel has the figures of dm_control/suite/cartpole.xml: metres, kg.
// Nothing collides. The rails, which are decoration, are left out, and so is
// the energy, which nobody reads.
const cartpoleModel = `<mujoco model="cartpole">
  <size memory="1M"/>
  <option timestep="0.01" integrator="RK4"><flag contact="disable" autoreset="disable"/></option>
  <worldbody>
    <geom name="floor" type="plane" pos="0 0 -.05" size="4 4 .2"/>
    <body name="cart" pos="0 0 1">
      <joint name="slider" type="slide" axis="1 0 0" limited="true" range="-1.8 1.8" solreflimit=".08 1" damping="5e-4"/>
      <geom name="cart" type="box" size=".2 .15 .1" mass="1"/>
      <body name="pole_1">
        <joint name="hinge_1" type="hinge" axis="0 1 0" damping="2e-6"/>
        <geom name="pole_1" type="capsule" fromto="0 0 0 0 0 1" size=".045" mass=".1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="slide" joint="slider" gear="10" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>`

// cartpole measures.
type cartpole struct {
	*physics
	pole int // its body
}

// position is that of the cart on its rail, metres.
func (c cartpole) position() float64 { return c.QPos[0] }

// angle gives cosine and sine of the pole's angle from upright.
func (c cartpole) angle() (cos, sin float64) { return c.XMat[9*c.pole+8], c.XMat[9*c.pole+2] }

// angleSpeed is how fast the pole turns, radians/s.
func (c cartpole) angleSpeed() float64 { return c.QVel[1] }

// cartpoleTask swings up and balances.
type cartpoleTask struct{ cartpole }

var (
	cartpoleCentred = tolerance{margin: cartpoleCentre, atMargin: 0.1, sigmoid: gaussian}
	cartpoleGentle  = tolerance{margin: 1, atMargin: 0, sigmoid: quadratic}
	cartpoleSteady  = tolerance{margin: cartpoleAngleSpeed, atMargin: 0.1, sigmoid: gaussian}
)

func bindCartpole(p *physics) (behaviour, error) {
	pole, err := p.model.Index(mujoco.Body, "pole_1")
	return cartpoleTask{cartpole{p, pole}}, err
}

// start hangs the pole down, with a little noise to break the symmetry.
func (t cartpoleTask) start(r *rand.Rand) error {
	t.QPos[0] = cartpoleNoise * r.NormFloat64()
	t.QPos[1] = math.Pi + cartpoleNoise*r.NormFloat64()
	for i := range t.QVel {
		t.QVel[i] = cartpoleNoise * r.NormFloat64()
	}
	return nil
}

func (t cartpoleTask) observe(obs []float64) {
	obs[0] = t.position()
	obs[1], obs[2] = t.angle()
	copy(obs[3:], t.QVel)
}

func (t cartpoleTask) reward() float64 {
	cos, _ := t.angle()
	upright := (cos + 1) / 2
	centred := (1 + cartpoleCentred.of(t.position())) / 2
	gentle := (4 + cartpoleGentle.of(t.Ctrl[0])) / 5
	steady := (1 + cartpoleSteady.of(t.angleSpeed())) / 2
	return upright * gentle * steady * centred
}

func (t cartpoleTask) written() []float64 { return nil }
