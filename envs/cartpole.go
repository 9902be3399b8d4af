package envs

import (
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// Constants of dm_control/suite/cartpole.py.
const (
	cartpoleNoise        = 0.01  // m, radians, m/s, radians/s: spread of the start
	cartpoleNear         = 0.1   // m, largest distance from the centre at the start of balancing
	cartpoleUpright      = 0.034 // radians, largest angle from upright at the start of balancing
	cartpoleCentre       = 2     // m, margin of the cart's reward
	cartpoleAngleSpeed   = 5     // radians/s, margin of the pole's reward
	cartpoleSparseCart   = 0.25  // m from the centre, within which the sparse reward can be 1
	cartpoleSparseCosine = 0.995 // cosine of the pole's angle from which the sparse reward can be 1
)

var (
	cartpoleBalance = cartpoleAs("cartpole-balance", "a cart keeps its pole upright near the centre",
		bindCartpole(cartpole.nearUpright, cartpole.smooth))
	cartpoleSwingup = cartpoleAs("cartpole-swingup", "a cart swings its pole up and balances it near the centre",
		bindCartpole(cartpole.hanging, cartpole.smooth))
	_ = cartpoleAs("cartpole-swingup-sparse", "a cart swings its pole up; only balance near the centre is rewarded",
		bindCartpole(cartpole.hanging, cartpole.sparse))
)

func cartpoleAs(name, doc string, bind func(*physics) (behaviour, error)) Task {
	return register(Task{
		Name: name, Doc: doc,
		ObsSize:      5, // cart position, cosine and sine of the pole, velocities (2)
		ActSize:      1,
		EpisodeSteps: controlSteps, // 10 s of 0.01 s
		mjcf:         cartpoleModel,
		substeps:     1,
		bind:         bind,
		Directions:   [][2]int{{1, 2}},
		names:        []string{"cart x", "pole cos", "pole sin", "cart speed", "pole speed"},
	})
}

// cartpoleModel has the numbers of dm_control/suite/cartpole.xml: metres, kg.
// Nothing collides. The computation of the energy, which is not used, is left out.
const cartpoleModel = `<mujoco model="cartpole">` + suiteLook + `
  <size memory="1M"/>
  <option timestep="0.01" integrator="RK4"><flag contact="disable"/></option>
  <worldbody>
    <light name="light" pos="0 0 6"/>
    <camera name="fixed" pos="0 -4 1" zaxis="0 -1 0"/>
    <camera name="lookatcart" mode="targetbody" target="cart" pos="0 -2 2"/>
    <geom name="floor" type="plane" pos="0 0 -.05" size="4 4 .2" material="grid"/>
    <geom name="rail1" type="capsule" pos="0 .07 1" zaxis="1 0 0" size=".02 2" material="decoration"/>
    <geom name="rail2" type="capsule" pos="0 -.07 1" zaxis="1 0 0" size=".02 2" material="decoration"/>
    <body name="cart" pos="0 0 1">
      <joint name="slider" type="slide" axis="1 0 0" limited="true" range="-1.8 1.8" solreflimit=".08 1" damping="5e-4"/>
      <geom name="cart" type="box" size=".2 .15 .1" mass="1" material="self"/>
      <body name="pole_1">
        <joint name="hinge_1" type="hinge" axis="0 1 0" damping="2e-6"/>
        <geom name="pole_1" type="capsule" fromto="0 0 0 0 0 1" size=".045" mass=".1" material="self"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="slide" joint="slider" gear="10" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>`

// cartpole provides the measurements of the body.
type cartpole struct {
	*physics
	pole int // body of the pole
}

// position is the position of the cart on its rail, metres.
func (c cartpole) position() float64 { return c.QPos[0] }

// angle returns cosine and sine of the pole's angle from upright.
func (c cartpole) angle() (cos, sin float64) { return c.XMat[9*c.pole+8], c.XMat[9*c.pole+2] }

// angleSpeed is how fast the pole turns, radians/s.
func (c cartpole) angleSpeed() float64 { return c.QVel[1] }

// nearUpright draws the start of balancing.
func (c cartpole) nearUpright(r *rand.Rand) {
	c.QPos[0] = span{-cartpoleNear, cartpoleNear}.draw(r)
	c.QPos[1] = span{-cartpoleUpright, cartpoleUpright}.draw(r)
}

// hanging draws the start of swinging up, with a little noise to break the symmetry.
func (c cartpole) hanging(r *rand.Rand) {
	c.QPos[0] = cartpoleNoise * r.NormFloat64()
	c.QPos[1] = math.Pi + cartpoleNoise*r.NormFloat64()
}

var (
	cartpoleCentred = tolerance{Margin: cartpoleCentre, AtMargin: 0.1, Sigmoid: gaussian}
	cartpoleSteady  = tolerance{Margin: cartpoleAngleSpeed, AtMargin: 0.1, Sigmoid: gaussian}
	cartpoleInside  = tolerance{Lower: -cartpoleSparseCart, Upper: cartpoleSparseCart}
	cartpoleOnTop   = tolerance{Lower: cartpoleSparseCosine, Upper: 1}
)

// smooth is the reward for an upright pole, a cart near the centre, small controls
// and a pole at rest.
func (c cartpole) smooth() float64 {
	cos, _ := c.angle()
	upright := (cos + 1) / 2
	centred := (1 + cartpoleCentred.Of(c.position())) / 2
	gentle := (4 + gentle.Of(c.Ctrl[0])) / 5
	steady := (1 + cartpoleSteady.Of(c.angleSpeed())) / 2
	return upright * gentle * steady * centred
}

// sparse is the reward for balance alone.
func (c cartpole) sparse() float64 {
	cos, _ := c.angle()
	return cartpoleInside.Of(c.position()) * cartpoleOnTop.Of(cos)
}

// cartpoleTask is the task of balancing the pole.
type cartpoleTask struct {
	cartpole
	begin func(cartpole, *rand.Rand)
	judge func(cartpole) float64
}

func bindCartpole(begin func(cartpole, *rand.Rand), judge func(cartpole) float64) func(*physics) (behaviour, error) {
	return func(p *physics) (behaviour, error) {
		pole, err := p.model.Index(mujoco.Body, "pole_1")
		return cartpoleTask{cartpole{p, pole}, begin, judge}, err
	}
}

func (t cartpoleTask) start(r *rand.Rand) error {
	t.begin(t.cartpole, r)
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

func (t cartpoleTask) place(obs []float64) error {
	t.QPos[0] = obs[0]
	t.QPos[1] = math.Atan2(obs[2], obs[1])
	copy(t.QVel, obs[3:])
	return nil
}

func (t cartpoleTask) reward() float64 { return t.judge(t.cartpole) }
