package envs

import (
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// pendulumAngle is the bound of dm_control/suite/pendulum.py: degrees from
// upright within which the reward is 1.
const pendulumAngle = 8

var pendulumSwingup = register(Task{
	Name:         "pendulum-swingup",
	Doc:          "a weak motor swings a pole up and holds it within 8 degrees of upright",
	ObsSize:      3, // cosine and sine of the pole, velocity
	ActSize:      1,
	EpisodeSteps: controlSteps, // 20 s of 0.02 s
	mjcf:         pendulumModel,
	substeps:     1,
	bind:         bindPendulum,
	names:        []string{"cos", "sin", "speed"},
	Directions:   [][2]int{{0, 1}},
})

// pendulumModel has the numbers of dm_control/suite/pendulum.xml: metres, kg.
// Nothing collides. The computation of the energy, which is not used, is left out.
const pendulumModel = `<mujoco model="pendulum">` + suiteLook + `
  <size memory="1M"/>
  <option timestep="0.02"><flag contact="disable"/></option>
  <worldbody>
    <light name="light" pos="0 0 2"/>
    <geom name="floor" type="plane" size="2 2 .2" material="grid"/>
    <camera name="fixed" pos="0 -1.5 2" xyaxes="1 0 0 0 1 1"/>
    <camera name="lookat" mode="targetbodycom" target="pole" pos="0 -2 1"/>
    <body name="pole" pos="0 0 .6">
      <joint name="hinge" axis="0 1 0" damping=".1"/>
      <geom name="base" type="cylinder" fromto="0 -.03 0 0 .03 0" size=".021" mass="0" material="decoration"/>
      <geom name="pole" type="capsule" fromto="0 0 0 0 0 .5" size=".02" mass="0" material="self"/>
      <geom name="mass" type="sphere" pos="0 0 .5" size=".05" mass="1" material="effector"/>
    </body>
  </worldbody>
  <actuator><motor name="torque" joint="hinge" gear="1" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>`

// pendulum provides the measurements of the body.
type pendulum struct {
	*physics
	pole int // body of the pole
}

// angle returns cosine and sine of the pole's angle from upright.
func (p pendulum) angle() (cos, sin float64) { return p.XMat[9*p.pole+8], p.XMat[9*p.pole+2] }

// pendulumTask is the task of swinging the pole up and holding it.
type pendulumTask struct{ pendulum }

var pendulumUpright = tolerance{Lower: math.Cos(pendulumAngle * math.Pi / 180), Upper: 1}

func bindPendulum(p *physics) (behaviour, error) {
	pole, err := p.model.Index(mujoco.Body, "pole")
	return pendulumTask{pendulum{p, pole}}, err
}

func (t pendulumTask) start(r *rand.Rand) error {
	t.drawJoints(r)
	return nil
}

func (t pendulumTask) observe(obs []float64) {
	obs[0], obs[1] = t.angle()
	obs[2] = t.QVel[0]
}

func (t pendulumTask) place(obs []float64) error {
	t.QPos[0] = math.Atan2(obs[1], obs[0])
	t.QVel[0] = obs[2]
	return nil
}

func (t pendulumTask) reward() float64 {
	cos, _ := t.angle()
	return pendulumUpright.Of(cos)
}
